import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ogg_hpc
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems import exact
from ogg_hpc.problems.cut_bounds import cut_bound, cycle_bound, spectral_bound
from ogg_hpc.problems.exact import brute_force
from ogg_hpc.problems.maximum_cut import MaximumCut

CUT = MaximumCut()

BY_HAND = {
    "no nodes": (nx.empty_graph(0), 0),
    "no edges": (nx.empty_graph(5), 0),
    "one edge": (nx.path_graph(2), 1),
    "path of 7": (nx.path_graph(7), 6),
    "even cycle": (nx.cycle_graph(8), 8),
    "odd cycle": (nx.cycle_graph(9), 8),
    "complete": (nx.complete_graph(7), 12),
    "bipartite": (nx.complete_bipartite_graph(3, 5), 15),
    "Petersen": (nx.petersen_graph(), 12),
}


@pytest.fixture(scope="session")
def weighted_graph(random_graph):
    """A function of a seed: a small graph, without weights or with some of both signs."""

    def build(seed, largest=14):
        graph = random_graph(seed, largest)
        generator = np.random.default_rng(seed)
        sources, targets, _ = graph.edges()
        kinds = (
            None,
            generator.integers(-3, 4, len(sources)),
            generator.choice([-1, 1], len(sources)),
            generator.normal(size=len(sources)),
        )
        return Graph.from_edges(graph.n, sources, targets, kinds[generator.integers(4)])

    return build


@pytest.mark.parametrize(("graph", "optimum"), BY_HAND.values(), ids=BY_HAND)
def test_optimum_worked_by_hand(graph, optimum):
    graph = Graph.from_networkx(graph)
    assert CUT.objective(graph, brute_force(CUT, graph)) == optimum
    assert CUT.optimum(graph) == optimum
    assert CUT.bound(graph) >= optimum


def test_objective_is_what_networkx_counts(weighted_graph):
    for seed in range(20):
        graph = weighted_graph(seed)
        nodes = np.flatnonzero(np.random.default_rng(seed).random(graph.n) < 0.5)
        expected = nx.cut_size(nx.from_scipy_sparse_array(graph.to_scipy()), nodes, weight="weight")
        assert CUT.objective(graph, nodes) == pytest.approx(expected)


@given(st.integers(0, 2**32 - 1))
def test_compiled_brute_force_agrees_with_the_plain_one(weighted_graph, seed):
    graph = weighted_graph(seed, largest=9)
    compiled, plain = brute_force(CUT, graph), exact._best_of_all_sets(CUT, graph)
    assert CUT.objective(graph, compiled) == pytest.approx(CUT.objective(graph, plain))


@given(st.integers(0, 2**32 - 1))
def test_no_cut_exceeds_the_bounds(weighted_graph, seed):
    graph = weighted_graph(seed)
    optimum = CUT.objective(graph, brute_force(CUT, graph))
    for bound in [cut_bound, cycle_bound, *([spectral_bound] if graph.n else [])]:
        assert optimum <= bound(graph) + 1e-9


@pytest.mark.parametrize(
    ("graph", "bound"),
    [
        (nx.cycle_graph(9), 8),
        (nx.complete_bipartite_graph(3, 5), 15),
        (nx.disjoint_union_all([nx.complete_graph(3)] * 4), 8),
        (nx.complete_graph(6), 9),
        (nx.complete_graph(8), 16),
        (nx.empty_graph(3), 0),
    ],
)
def test_bound_is_the_optimum_where_cycles_or_eigenvalues_tell(graph, bound):
    assert cut_bound(Graph.from_networkx(graph)) == bound


def test_a_negative_edge_makes_a_triangle_of_two_positive_ones_free():
    for signs, bound in (((1, 1, -1), 2), ((1, -1, -1), 0), ((-1, -1, -1), 0), ((2, 3, 4), 7)):
        graph = Graph.from_edges(3, [0, 1, 2], [1, 2, 0], signs)
        assert cycle_bound(graph) == CUT.objective(graph, brute_force(CUT, graph)) == bound


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([0, 2, 2], "node 30 is in the side more than once"),
        ([1, 4], "node id 4 is outside 0 … 3"),
        ([-1, 2], "node id -1 is outside 0 … 3"),
    ],
)
def test_violation_names_one_place(nodes, message):
    graph = Graph.from_edges(4, [0, 1, 2], [1, 2, 3], labels=np.array([10, 20, 30, 40]))
    assert CUT.violation(graph, np.array(nodes)) == message
    assert CUT.violation(graph, np.empty(0, np.int64)) is None


@given(st.integers(0, 2**32 - 1))
def test_improve_ends_where_no_single_move_helps(weighted_graph, seed):
    graph = weighted_graph(seed)
    nodes = np.flatnonzero(np.random.default_rng(seed).random(graph.n) < 0.5)
    better = CUT.improve(graph, nodes)
    value = CUT.objective(graph, better)
    assert value >= CUT.objective(graph, nodes) - 1e-9
    for v in range(graph.n):
        assert CUT.objective(graph, np.setxor1d(better, [v])) <= value + 1e-6


@pytest.mark.parametrize("graph", [nx.random_labeled_tree(60, seed=3), nx.grid_2d_graph(7, 9)])
def test_bipartite_graph_is_cut_completely(graph):
    graph = Graph.from_networkx(graph)
    for policy in (None, "sg3"):
        solved = ogg_hpc.solve(graph, "maxcut", policy=policy)
        assert solved.record["objective"] == graph.m


@pytest.mark.parametrize(("name", "value"), [("G14", 3064), ("G22", 13359), ("G55", 10296)])
def test_known_cut_of_a_real_graph(shared_data, name, value):
    from ogg_hpc.graphs.readers import read_graph
    from ogg_hpc.problems.solution import read_solution

    graph = read_graph(shared_data / "gset" / f"{name}.txt")
    solution = read_solution(shared_data / "gset_solutions" / f"{name}_{value}.txt", graph)
    assert CUT.violation(graph, solution.nodes) is None
    assert CUT.objective(graph, solution.nodes) == value <= cut_bound(graph)
