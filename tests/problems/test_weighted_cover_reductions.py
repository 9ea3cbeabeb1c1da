import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from weighted_graphs import WHOLE, random_weighted_graph, weighted_graphs

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems import problem_by_name
from ogg_hpc.problems.weighted_cover_reductions import reduce_weighted_cover

MWVC = problem_by_name("mwvc")


@given(weighted_graphs(st.integers(1, 4) | WHOLE, largest=16))
@settings(max_examples=300)
def test_lightest_cover_of_the_kernel_gives_a_lightest_cover(graph):
    reduction = reduce_weighted_cover(graph)
    kernel = reduction.kernel
    assert MWVC.optimum(kernel) + reduction.offset == MWVC.optimum(graph)
    for cover in (MWVC.greedy(kernel), np.arange(kernel.n)):
        lifted = reduction.lift(cover)
        assert MWVC.violation(graph, lifted) is None
        assert MWVC.objective(graph, lifted) == MWVC.objective(kernel, cover) + reduction.offset


@given(st.integers(0, 2**32), st.integers(20, 300), st.sampled_from([2, 3, 4, 6]))
@settings(max_examples=40)
def test_any_cover_of_the_kernel_is_lifted_to_a_cover(seed, n, mean_degree):
    graph = random_weighted_graph(seed, n, mean_degree)
    reduction = reduce_weighted_cover(graph)
    kernel = reduction.kernel
    again = reduce_weighted_cover(kernel)
    assert (again.kernel.n, again.offset) == (kernel.n, 0)
    assert kernel.columns.dtype == graph.columns.dtype
    order = np.random.default_rng(seed).permutation(kernel.n)
    for cover in (MWVC.improve(kernel, order), order):
        lifted = reduction.lift(cover)
        assert MWVC.violation(graph, lifted) is None
        assert MWVC.objective(graph, lifted) == MWVC.objective(kernel, cover) + reduction.offset
    assert reduction.offset + MWVC.bound(kernel) >= MWVC.bound(graph)


def weighted(graph, weights):
    return Graph.from_networkx(graph).with_node_weights(weights)


@pytest.mark.parametrize(
    ("graph", "least"),
    [
        # A leaf gives its weight to a heavier neighbour; a heavier leaf is left out at once.
        (weighted(nx.path_graph(5), [2, 3, 4, 3, 2]), 6),
        (weighted(nx.star_graph(3), [7, 2, 2, 2]), 6),
        (weighted(nx.complete_graph(4), [1, 5, 6, 7]), 12),
        (weighted(nx.balanced_tree(2, 5), np.arange(1, 64) % 7 + 1), None),
        # The two nodes on one side have the same neighbours.
        (weighted(nx.complete_bipartite_graph(2, 3), [5, 6, 3, 4, 5]), 11),
        (weighted(nx.grid_2d_graph(6, 6), np.arange(36) % 5 + 1), None),
        # A hub gets lighter by one neighbour after another, and is the lightest cover in the end.
        (weighted(nx.star_graph(200), [599] + 200 * [3]), 599),
        (weighted(nx.windmill_graph(40, 3), [79] + 80 * [1]), 80),
        (weighted(nx.windmill_graph(40, 3), [39] + 40 * [1, 2]), 79),
        (weighted(nx.empty_graph(3), [1, 2, 3]), 0),
        (weighted(nx.empty_graph(0), []), 0),
    ],
)
def test_graphs_that_reductions_solve_alone(graph, least):
    reduction = reduce_weighted_cover(graph)
    assert reduction.kernel.n == 0
    cover = reduction.lift(np.empty(0, np.int64))
    assert MWVC.violation(graph, cover) is None
    assert MWVC.objective(graph, cover) == reduction.offset
    expected = MWVC.optimum(graph) if graph.n <= 40 else MWVC.bound(graph)  # trees: no gap
    assert reduction.offset == (expected if least is None else least)


def test_nodes_with_a_self_loop_are_in_every_lifted_cover():
    graph = Graph.from_edges(4, [0, 0, 1], [0, 1, 2]).with_node_weights([9, 1, 2, 3])
    reduction = reduce_weighted_cover(graph)
    assert reduction.offset == 10
    assert 0 in reduction.lift(np.empty(0, np.int64))


def test_weights_that_are_not_whole_are_not_reduced():
    graph = Graph.from_edges(2, [0], [1]).with_node_weights([1e-30, 1.0])
    assert reduce_weighted_cover(graph) is None
    assert reduce_weighted_cover(graph.with_node_weights([0.25, 1.5])).offset == 0.25
