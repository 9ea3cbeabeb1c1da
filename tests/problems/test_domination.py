import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.graphs.generators import barabasi_albert, erdos_renyi
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems import domination
from ogg_hpc.problems.domination import greedy_dominating_set, packing_bound
from ogg_hpc.problems.exact import brute_force
from ogg_hpc.problems.minimum_dominating_set import MinimumDominatingSet

MDS = MinimumDominatingSet()


def closed_neighbourhoods(graph):
    return [{v, *graph.neighbours(v).tolist()} for v in range(graph.n)]


def plain_greedy(graph):
    closed, left, chosen = closed_neighbourhoods(graph), set(range(graph.n)), []
    while left:
        best = max(range(graph.n), key=lambda v: (len(closed[v] & left), -v))
        chosen.append(best)
        left -= closed[best]
    return chosen


@given(st.integers(0, 2**32 - 1))
def test_greedy_equals_the_plain_reference(random_graph, seed):
    graph = random_graph(seed, largest=30)
    assert greedy_dominating_set(graph).tolist() == plain_greedy(graph)


@given(st.integers(0, 2**32 - 1))
def test_improve_gives_a_minimal_set(random_graph, seed):
    graph = random_graph(seed, largest=25)
    extra = np.random.default_rng(seed).permutation(graph.n)[: graph.n // 2]
    nodes = np.union1d(greedy_dominating_set(graph), extra).astype(np.int64)
    smaller = MDS.improve(graph, nodes)
    assert set(smaller) <= set(nodes)
    assert MDS.violation(graph, smaller) is None
    for i in range(len(smaller)):
        assert "is not dominated" in MDS.violation(graph, np.delete(smaller, i))


@pytest.mark.parametrize(
    ("graph", "optimum"),
    [
        (nx.empty_graph(0), 0),
        (nx.empty_graph(5), 5),
        (nx.path_graph(7), 3),
        (nx.star_graph(9), 1),
        (nx.cycle_graph(10), 4),
        (nx.complete_graph(7), 1),
        (nx.complete_bipartite_graph(3, 5), 2),
        (nx.petersen_graph(), 3),
        (nx.grid_2d_graph(6, 6), 10),
        (nx.karate_club_graph(), 4),
    ],
)
def test_domination_numbers_that_are_known(graph, optimum):
    graph = Graph.from_networkx(nx.convert_node_labels_to_integers(graph))
    assert MDS.optimum(graph) == optimum
    assert MDS.bound(graph) <= optimum <= len(MDS.greedy(graph))


@given(st.integers(0, 2**32 - 1))
def test_branching_finds_what_brute_force_does(random_graph, seed):
    graph = random_graph(seed, largest=10)
    assert MDS.optimum(graph) == len(brute_force(MDS, graph))


@pytest.mark.parametrize("entries", [0, 10**6])
def test_bounds_hold_with_and_without_the_relaxation(monkeypatch, random_graph, entries):
    monkeypatch.setattr(domination, "MOST_ENTRIES", entries)
    for seed in range(20):
        graph = random_graph(seed, largest=20)
        assert packing_bound(graph) <= MDS.optimum(graph)


def test_relaxation_sharpens_the_bound(monkeypatch):
    bounds = {}
    for entries in (0, 10**6):
        monkeypatch.setattr(domination, "MOST_ENTRIES", entries)
        bounds[entries] = [
            packing_bound(graph)
            for graph in (erdos_renyi(200, 0.05, 1), barabasi_albert(300, 3, 1))
        ]
    assert all(better > plain for plain, better in zip(*bounds.values(), strict=True))


def test_violation_names_one_place():
    path = Graph.from_edges(4, [0, 1, 2], [1, 2, 3], labels=np.array([10, 20, 30, 40]))
    for nodes, message in (
        ([0, 1], "node 40 is not dominated: neither it nor a neighbour is in the set"),
        ([0, 3], None),
        ([2, 2], "node 30 is in the dominating set more than once"),
        ([4], "node id 4 is outside 0 … 3"),
    ):
        assert MDS.violation(path, np.array(nodes)) == message
