import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.maximum_clique import MaximumClique
from ogg_hpc.problems.maximum_independent_set import MaximumIndependentSet

MIS, CLIQUE = MaximumIndependentSet(), MaximumClique()

BY_HAND = {
    "no nodes": (nx.empty_graph(0), 0, 0),
    "no edges": (nx.empty_graph(5), 5, 1),
    "path of 7": (nx.path_graph(7), 4, 2),
    "odd cycle": (nx.cycle_graph(9), 4, 2),
    "complete": (nx.complete_graph(7), 1, 7),
    "bipartite": (nx.complete_bipartite_graph(3, 5), 5, 2),
    "Petersen": (nx.petersen_graph(), 4, 2),
    "karate": (nx.karate_club_graph(), 20, 5),
}


@pytest.mark.parametrize(("graph", "independent", "clique"), BY_HAND.values(), ids=BY_HAND)
def test_numbers_that_are_known(graph, independent, clique):
    graph = Graph.from_networkx(graph)
    for problem, optimum in ((MIS, independent), (CLIQUE, clique)):
        assert problem.optimum(graph) == optimum
        assert len(problem.greedy(graph)) <= optimum <= problem.bound(graph)


def labelled(loops=()):
    """The path 10 - 20 - 30 - 40."""
    edges = [(0, 1), (1, 2), (2, 3), *loops]
    return Graph.from_edges(4, *zip(*edges, strict=True), labels=np.array([10, 20, 30, 40]))


@pytest.mark.parametrize(
    ("problem", "nodes", "message"),
    [
        (MIS, [1, 3, 2], "20 and 30 are adjacent"),
        (MIS, [0, 0], "node 10 is in the independent set more than once"),
        (MIS, [1, 4], "node id 4 is outside 0 … 3"),
        (CLIQUE, [3, 2, 0], "10 and 30 are not adjacent"),
        (CLIQUE, [1, 1], "node 20 is in the clique more than once"),
        (CLIQUE, [-1], "node id -1 is outside 0 … 3"),
    ],
)
def test_violation_names_one_place(problem, nodes, message):
    assert problem.violation(labelled(), np.array(nodes)) == message


def test_a_looped_node_is_in_no_independent_set_and_in_any_clique():
    graph = labelled(loops=[(3, 3)])
    assert MIS.violation(graph, np.array([0, 3])) == (
        "node 40 has a self loop and is in the independent set"
    )
    assert MIS.improve(graph, np.array([3, 1])).tolist() == [1]
    assert (MIS.optimum(graph), len(MIS.greedy(graph)), MIS.bound(graph)) == (2, 2, 2)
    assert CLIQUE.violation(graph, np.array([2, 3])) is None


@pytest.mark.parametrize("problem", [MIS, CLIQUE], ids=["mis", "clique"])
@given(seed=st.integers(0, 2**32 - 1))
def test_improve_gives_a_maximal_set_that_holds_the_given_one(problem, random_graph, seed):
    graph = random_graph(seed, largest=25)
    full = problem.greedy(graph)
    given_nodes = np.random.default_rng(seed).permutation(full)[: len(full) // 2]
    larger = problem.improve(graph, given_nodes)
    assert larger[: len(given_nodes)].tolist() == given_nodes.tolist()
    assert problem.violation(graph, larger) is None
    for v in np.setdiff1d(np.arange(graph.n), larger):
        assert problem.violation(graph, np.append(larger, v)) is not None
