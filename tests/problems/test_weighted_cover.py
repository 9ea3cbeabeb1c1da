"""Minimum weight vertex cover and maximum weight independent set."""

from itertools import islice

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from weighted_graphs import ANY, random_weighted_graph, weighted_graphs

from ogg_hpc.graphs.generators import barabasi_albert, erdos_renyi
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems import problem_by_name
from ogg_hpc.problems.bounds import double_cover_bound
from ogg_hpc.problems.exact import brute_force
from ogg_hpc.problems.greedy_weighted_cover import degree_weight_greedy, gwmin, local_ratio
from ogg_hpc.problems.node_weights import whole_weights
from ogg_hpc.problems.registry import cover_problem
from ogg_hpc.problems.weighted_bounds import edge_packing, relaxed_cover
from ogg_hpc.search.kernel import find_kernel

MWVC, MWIS, MVC = map(problem_by_name, ("mwvc", "mwis", "mvc"))


def star(weights):
    return Graph.from_edges(4, [0, 0, 0], [1, 2, 3]).with_node_weights(weights)


@pytest.mark.parametrize(
    ("graph", "cover"),
    [
        (star([5, 1, 1, 1]), [1, 2, 3]),
        (star([2, 1, 1, 1]), [0]),
        (Graph.from_edges(3, [0, 1, 2], [1, 2, 2]).with_node_weights([1, 3, 4]), [0, 2]),
        (Graph.from_networkx(nx.path_graph(4)).with_node_weights([1, 9, 9, 1]), [0, 2]),
    ],
)
def test_lightest_covers(graph, cover):
    least = MWVC.objective(graph, np.array(cover))
    assert MWVC.violation(graph, np.array(cover)) is None
    assert MWVC.objective(graph, brute_force(MWVC, graph)) == least
    assert (MWVC.optimum(graph), MWVC.bound(graph)) == (least, least)
    heaviest = graph.node_weights.sum() - least
    assert (MWIS.optimum(graph), MWIS.bound(graph)) == (heaviest, heaviest)


@given(weighted_graphs(st.sampled_from([2.0**50, 1e15, 7.0, 0.3, 1e-9]), largest=6))
@settings(max_examples=60)
def test_bounds_hold_among_weights_that_sums_round_away(graph):
    for problem, sign in ((MWVC, 1), (MWIS, -1)):
        best = problem.objective(graph, brute_force(problem, graph))
        assert sign * problem.bound(graph) <= sign * best
        rules = cover_problem(problem) or problem
        kernel = find_kernel(graph, problem, rules, reduce=True)
        assert sign * kernel.bound(rules.bound(kernel.graph)) <= sign * best


def test_a_bound_on_sets_is_no_less_than_what_its_sum_rounds_away():
    graph = Graph.from_edges(2, [0], [0]).with_node_weights([2.0**50, 1e-9])
    assert MWIS.bound(graph) == MWIS.objective(graph, np.array([1])) == 1e-9


@given(weighted_graphs(largest=9))
@settings(max_examples=40)
def test_optimum_lies_between_bound_and_what_is_found(graph):
    optimum = MWVC.objective(graph, brute_force(MWVC, graph))
    assert MWVC.optimum(graph) == optimum
    assert MWIS.optimum(graph) == MWIS.objective(graph, brute_force(MWIS, graph))
    assert MWIS.optimum(graph) + optimum == graph.node_weights.sum()
    packing = edge_packing(graph, graph.node_weights.astype(np.int64))
    assert packing <= MWVC.bound(graph) <= optimum
    assert MWIS.bound(graph) >= MWIS.optimum(graph)
    for cover in (degree_weight_greedy(graph), local_ratio(graph)):
        assert MWVC.violation(graph, cover) is None
        better = MWVC.improve(graph, cover)
        assert MWVC.violation(graph, better) is None
        assert optimum <= MWVC.objective(graph, better) <= MWVC.objective(graph, cover)
    assert MWVC.objective(graph, local_ratio(graph)) <= 2 * packing
    independent = gwmin(graph)
    assert MWIS.violation(graph, independent) is None
    assert MWIS.objective(graph, independent) <= MWIS.optimum(graph)


@given(weighted_graphs(ANY, largest=9))
@settings(max_examples=40)
def test_bounds_hold_for_weights_that_are_not_whole(graph):
    least = MWVC.objective(graph, brute_force(MWVC, graph))
    assert MWVC.bound(graph) <= least
    assert MWVC.bound(graph) >= least / 2 * (1 - 1e-6)
    assert MWIS.bound(graph) >= MWIS.objective(graph, brute_force(MWIS, graph))
    cover = local_ratio(graph)
    assert MWVC.violation(graph, cover) is None
    assert MWVC.objective(graph, cover) <= 2 * least * (1 + 1e-9)


@given(weighted_graphs(st.just(1), largest=14))
@settings(max_examples=60)
def test_weights_of_1_give_the_answers_without_weights(graph):
    plain = graph.with_node_weights(None)
    for weighted, unweighted in ((MWVC, MVC), (MWIS, problem_by_name("mis"))):
        assert weighted.optimum(graph) == unweighted.optimum(plain)
        assert weighted.bound(graph) == unweighted.bound(plain)
        assert weighted.optimum(plain) == weighted.optimum(graph)
        nodes = weighted.greedy(graph)
        assert weighted.objective(graph, nodes) == unweighted.objective(plain, nodes) == len(nodes)
    assert MWVC.improve(graph, np.arange(graph.n)).tolist() == (
        MVC.improve(plain, np.arange(graph.n)).tolist()
    )


@given(weighted_graphs(), st.integers(-40, 40))
@settings(max_examples=10)
def test_powers_of_two_scale_objectives_and_nothing_else(graph, power):
    scaled = graph.with_node_weights(graph.node_weights * 2.0**power)
    for problem in (MWVC, MWIS):
        nodes = problem.greedy(graph)
        assert problem.greedy(scaled).tolist() == nodes.tolist()
        assert problem.objective(scaled, nodes) == problem.objective(graph, nodes) * 2.0**power
        assert problem.bound(scaled) == problem.bound(graph) * 2.0**power
        assert problem.optimum(scaled) == problem.optimum(graph) * 2.0**power
    covers = [next(MWVC.polish(g, MWVC.greedy(g), 3)).tolist() for g in (graph, scaled)]
    assert covers[0] == covers[1]


@pytest.mark.parametrize("seed", range(5))
def test_relaxation_is_that_of_a_linear_program(seed):
    from scipy.optimize import linprog

    graph = random_weighted_graph(seed, 60, 5).unweighted()
    weights = graph.node_weights.astype(np.int64)
    halves = relaxed_cover(graph, weights)
    u, v, _ = graph.edges()
    assert (halves[u] + halves[v] >= 2).all()
    assert (halves[graph.looped] == 2).all()
    rows = np.zeros((graph.m, graph.n))
    rows[np.arange(graph.m), u] = rows[np.arange(graph.m), v] = -1
    least = np.zeros(graph.n)
    least[graph.looped] = 1
    bounds = np.stack([least, np.ones(graph.n)], axis=1)
    program = linprog(weights, rows, -np.ones(graph.m), bounds=bounds)
    assert weights @ halves / 2 == pytest.approx(program.fun)


def test_relaxation_of_equal_weights_is_that_of_vertex_cover():
    graph = barabasi_albert(300, 3, 1)
    assert MWVC.bound(graph) == double_cover_bound(graph)
    assert MWVC.bound(graph.with_node_weights(np.full(300, 3.0))) <= 3 * MVC.bound(graph)


@pytest.mark.parametrize(
    ("weights", "values", "unit", "exact"),
    [
        ([3, 5], [3, 5], 1, True),
        ([4, 12], [1, 3], 4, True),
        ([0.5, 0.75], [2, 3], 0.25, True),
        ([2.0**60, 2.0**61], [1, 2], 2.0**60, True),
        ([2.0**60, 1.0], [2**51, 0], 2.0**9, False),
    ],
)
def test_weights_as_whole_numbers(weights, values, unit, exact):
    whole = whole_weights(Graph.from_edges(2, [], []).with_node_weights(weights))
    assert (whole.values.tolist(), whole.unit, whole.exact) == (values, unit, exact)


@given(st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=9))
def test_whole_numbers_are_rounded_down_at_most(weights):
    graph = Graph.from_edges(len(weights), [], []).with_node_weights(weights)
    whole = whole_weights(graph)
    assert whole.values.sum() < 2**52
    assert (whole.values * whole.unit <= graph.node_weights).all()
    assert ((whole.values + 1) * whole.unit > graph.node_weights).all()


@pytest.mark.parametrize("seed", range(4))
def test_local_search_finds_the_optimum_of_small_graphs(seed):
    graph = random_weighted_graph(seed, 36, 6)
    lightest = list(islice(MWVC.polish(graph, np.arange(36), seed), 2))[-1]
    assert MWVC.objective(graph, lightest) == MWVC.optimum(graph)


@pytest.mark.parametrize(
    ("graph", "least"), [(erdos_renyi(100, 0.15, 2), 4711), (barabasi_albert(200, 4, 1), 7337)]
)
def test_local_search_finds_what_constraint_programming_has_proven(graph, least):
    graph = graph.with_node_weights(np.random.default_rng(5).integers(20, 121, graph.n))
    covers = list(islice(MWVC.polish(graph, MWVC.greedy(graph), 1), 4))
    assert MWVC.objective(graph, covers[-1]) == least


def test_local_search_goes_on_where_a_heavy_hub_leaves_to_thousands_of_nodes():
    leaves = np.arange(1, 40_001)
    weights = np.append(0.9 * len(leaves), np.ones(len(leaves)))
    hub = Graph.from_edges(len(weights), np.zeros_like(leaves), leaves).with_node_weights(weights)
    # Each exchange takes out the hub, for which thousands enter.
    for cover in islice(MWVC.polish(hub, leaves, 0), 3):
        assert cover.tolist() == [0]


@given(weighted_graphs(ANY), st.integers(0, 9))
@settings(max_examples=10)
def test_local_search_keeps_what_is_lightest_among_weights_that_are_not_whole(graph, seed):
    start = MWVC.greedy(graph)
    found = next(MWVC.polish(graph, start, seed))
    assert MWVC.violation(graph, found) is None
    assert MWVC.objective(graph, found) <= MWVC.objective(graph, start)
