"""Walks step by step, on graphs of which every probability can be written down."""

import tracemalloc

import numpy as np
import pytest

from ogg_hpc.embedding.shared_graph import SharedGraph
from ogg_hpc.embedding.walk_rows import WalkRows, walk, walk_to_ends
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.random import hash64

WALKS = 100_000


def walkable(graph):
    return SharedGraph(Communicator(), graph)


def keys(count=WALKS):
    return hash64(4, np.arange(count))


def second_steps(graph, first, then, **bias):
    """Count where walks from `first` that came to `then` go next."""
    walks = walkable(graph).walks(np.full(WALKS, first), keys(), 2, **bias)
    came = walks[:, 1] == then
    return np.bincount(walks[came, 2], minlength=graph.n)


def test_steps_go_by_weight(arcs, fits):
    matrix = arcs.to_scipy().toarray()
    for start in (0, 1, 2, 4):
        walks = walkable(arcs).walks(np.full(WALKS, start), keys(), 1)
        counts = np.bincount(walks[:, 1], minlength=arcs.n)
        assert fits(counts, matrix[start] / matrix[start].sum())


def test_later_steps_do_not_depend_on_earlier_ones(karate, fits):
    walks = walkable(karate).walks(np.zeros(WALKS, np.int64), keys(), 3)
    matrix = karate.to_scipy().toarray()
    steps = matrix / matrix.sum(axis=1, keepdims=True)
    for node in (0, 1, 2):
        followed = walks[walks[:, 2] == node, 3]
        assert fits(np.bincount(followed, minlength=34), steps[node])


# A triangle 0 1 2 with a tail 1 3: from 1, having come from 0, node 2 is near, node 3 is far.
@pytest.mark.parametrize(
    ("p", "q"), [(1, 1), (4, 1), (0.25, 1), (1, 4), (1, 0.25), (0.5, 2), (2, 0.5), (0.01, 0.1)]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_biased_steps_have_the_probabilities_of_node2vec(fits, p, q, weighted):
    weights = np.array([2.0, 3.0, 1.0, 5.0]) if weighted else np.ones(4)
    graph = Graph.from_edges(4, [0, 0, 1, 1], [1, 2, 2, 3], weights)
    back, near, far = weights[0] / p, weights[2], weights[3] / q
    expected = np.array([back, 0, near, far]) / (back + near + far)
    assert fits(second_steps(graph, 0, 1, p=p, q=q), expected)


@pytest.mark.parametrize("near", [True, False])
def test_in_a_directed_graph_the_out_neighbours_of_the_node_before_are_near(fits, near):
    arc = (0, 2) if near else (2, 0)
    graph = Graph.from_edges(4, [0, 1, 1, arc[0]], [1, 2, 3, arc[1]], directed=True)
    expected = np.array([0, 0, 1 if near else 0.25, 0.25])
    assert fits(second_steps(graph, 0, 1, p=2, q=4), expected / expected.sum())


def test_without_a_bias_node2vec_is_deepwalk(karate, pairs_of):
    one = pairs_of(karate, "node2vec", walk_length=10, walks=2)
    other = pairs_of(karate, "deepwalk", walk_length=10, walks=2)
    assert np.array_equal(one.contexts, other.contexts)


def test_a_leaf_is_left_at_once_however_unlikely_the_way_back():
    graph = Graph.from_edges(2, [0], [1])
    walks = walkable(graph).walks(np.zeros(1000, np.int64), keys(1000), 9, p=1000.0)
    assert np.array_equal(walks, np.tile([0, 1], (1000, 5)))


@pytest.mark.parametrize("bias", [{}, {"p": 0.5, "q": 2.0}])
def test_a_dead_end_ends_the_walk(bias):
    graph = Graph.from_edges(5, [1, 2, 3], [2, 3, 4], directed=True)
    walks = walkable(graph).walks(np.array([1, 4, 0]), keys(3), 5, **bias)
    assert walks.tolist() == [[1, 2, 3, 4, -1, -1], [4] + [-1] * 5, [0] + [-1] * 5]
    ends = walkable(graph).ends(np.array([1, 4, 0, 2]), keys(4), np.array([9, 9, 9, 1]))
    assert ends.tolist() == [4, 4, 0, 3]


@pytest.mark.parametrize("bias", [{}, {"p": 0.5, "q": 2.0}])
def test_hubs_take_no_memory_for_pairs_of_their_edges(bias):
    leaves = 30_000  # of a star: tables for pairs of edges would take gigabytes
    graph = Graph.from_edges(leaves + 1, np.zeros(leaves, np.int64), np.arange(1, leaves + 1))
    tracemalloc.start()
    shared = walkable(graph)
    walks = shared.walks(np.arange(1000), keys(1000), 20, **bias)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * (graph.columns.nbytes + graph.row_offsets.nbytes + walks.nbytes)
    assert ((walks[:, 1:] == 0) | (walks[:, :-1] == 0)).all()


def test_rows_may_begin_behind_the_first_2_billion_entries(tmp_path):
    far = 2**31 + 5  # in a file of holes, which takes no disk
    columns = np.memmap(tmp_path / "columns", np.int32, "w+", shape=(far + 2,))
    columns[far:] = [0, 1]
    columns[0] = 1
    rows = WalkRows(
        np.array([0, 1, far, far + 2]), columns, np.empty(0, np.float32), np.empty(0, np.int32)
    )
    walks = np.full((1000, 2), 2, np.int32)
    walk(rows, keys(1000), walks)
    assert set(walks[:, 1].tolist()) == {0, 1}
    nodes = np.full(1000, 2, np.int32)
    walk_to_ends(rows, keys(1000), np.ones(1000, np.int64), nodes)
    assert np.array_equal(nodes, walks[:, 1])
