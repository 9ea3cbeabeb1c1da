import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.exact import brute_force
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover

MVC = MinimumVertexCover()

BY_HAND = {
    "empty": (nx.empty_graph(5), 0),
    "no nodes": (nx.empty_graph(0), 0),
    "one edge": (nx.path_graph(2), 1),
    "path of 7": (nx.path_graph(7), 3),
    "star": (nx.star_graph(9), 1),
    "even cycle": (nx.cycle_graph(8), 4),
    "odd cycle": (nx.cycle_graph(9), 5),
    "complete": (nx.complete_graph(7), 6),
    "bipartite": (nx.complete_bipartite_graph(3, 5), 3),
    "Petersen": (nx.petersen_graph(), 6),
}


@pytest.mark.parametrize(("graph", "optimum"), BY_HAND.values(), ids=BY_HAND)
def test_optimum_worked_by_hand(graph, optimum):
    graph = Graph.from_networkx(graph)
    cover = brute_force(MVC, graph)
    assert MVC.violation(graph, cover) is None
    assert MVC.objective(graph, cover) == optimum
    assert MVC.bound(graph) <= optimum


def labelled(loops=()):
    """The path 10 - 20 - 30 - 40."""
    edges = [(0, 1), (1, 2), (2, 3), *loops]
    return Graph.from_edges(4, *zip(*edges, strict=True), labels=np.array([10, 20, 30, 40]))


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([0, 1], "edge (30, 40) is not covered"),
        ([], "edge (10, 20) is not covered"),
        ([0, 2, 2], "node 30 is in the cover more than once"),
        ([1, 4], "node id 4 is outside 0 … 3"),
        ([-1, 2], "node id -1 is outside 0 … 3"),
    ],
)
def test_violation_names_one_place(nodes, message):
    assert MVC.violation(labelled(), np.array(nodes, dtype=np.int64)) == message


def test_a_looped_node_is_forced():
    graph = labelled(loops=[(3, 3)])
    assert MVC.forced(graph).tolist() == [3]
    assert (
        MVC.violation(graph, np.array([1, 2])) == "node 40 has a self loop and is not in the cover"
    )
    assert MVC.violation(graph, np.array([1, 3])) is None
    assert MVC.improve(graph, np.arange(4)).tolist() == [1, 3]
    assert brute_force(MVC, graph).tolist() == [1, 3]
    assert MVC.bound(graph) == 2


def test_improve_keeps_the_order_given():
    assert MVC.improve(labelled(), np.array([3, 2, 1, 0])).tolist() == [2, 1]


@given(st.integers(0, 2**32 - 1))
def test_improve_gives_a_minimal_cover(random_graph, seed):
    graph = random_graph(seed, largest=30)
    generator = np.random.default_rng(seed)
    extra = generator.permutation(graph.n)[: generator.integers(0, graph.n + 1)]
    cover = np.union1d(MVC.improve(graph, np.arange(graph.n)), extra).astype(np.int64)
    smaller = MVC.improve(graph, cover)
    assert set(smaller) <= set(cover)
    assert MVC.violation(graph, smaller) is None
    for i in range(len(smaller)):
        assert MVC.violation(graph, np.delete(smaller, i)) is not None
