"""What every registered problem promises, checked by random games on dense matrices."""

from itertools import islice

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stopping import AfterQuestions

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems import PartialSolution, problem_by_name, problem_names
from ogg_hpc.problems.exact import brute_force
from ogg_hpc.problems.node_weights import node_weights
from ogg_hpc.problems.registry import cover_problem
from ogg_hpc.runtime.stop import never


class DenseBatch:
    """Whole graphs of different sizes on one rank; the obvious `Residual`."""

    def __init__(self, graphs):
        self.offsets = np.cumsum([0] + [graph.n for graph in graphs])
        self.adjacency = np.zeros((self.offsets[-1], self.offsets[-1]), dtype=np.int64)
        self.weights = np.zeros(self.adjacency.shape)
        self.node_weights = np.zeros(self.offsets[-1])
        for graph, start in zip(graphs, self.offsets, strict=False):
            self.adjacency[start + graph.rows, start + graph.columns] = 1
            block = slice(start, start + graph.n)
            self.node_weights[block] = node_weights(graph)
            self.weights[block, block] = graph.to_scipy().toarray()

    def degrees(self, active):
        return self.adjacency @ active

    def adjacent(self, mask):
        return self.adjacency @ mask > 0

    def local(self, mask):
        return mask

    def gathered(self, rows):
        return rows

    def count(self, mask):
        return np.add.reduceat(mask.astype(np.int64), self.offsets[:-1], axis=0)

    def weight(self, mask):
        return np.add.reduceat(mask * self.node_weights[:, None], self.offsets[:-1], axis=0)

    def edge_sums(self, mask):
        return np.maximum(self.weights, 0) @ mask, np.maximum(-self.weights, 0) @ mask

    def total(self, values):
        return np.add.reduceat(values, self.offsets[:-1], axis=0)

    def spread(self, values):
        return np.repeat(values, np.diff(self.offsets), axis=0)


def with_weights(graph, problem, seed):
    """The graph with the small whole weights that a problem uses: of both signs at edges."""
    generator = np.random.default_rng(seed)
    if problem.uses_weights:
        sources, targets, _ = graph.edges()
        weights = generator.integers(-2, 5, len(sources))
        graph = Graph.from_edges(graph.n, sources, targets, weights)
    if problem.uses_node_weights:
        graph = graph.with_node_weights(generator.integers(1, 8, graph.n))
    return graph


@pytest.fixture(params=problem_names())
def problem(request):
    return problem_by_name(request.param)


@pytest.mark.parametrize("at_once", [1, 3])
@pytest.mark.parametrize("seed", range(5))
def test_random_game(problem, seed, at_once):
    if at_once > 1 and not problem.several_at_once:
        pytest.skip("solved one node a step")
    generator = np.random.default_rng(seed)
    graphs = [
        Graph.from_networkx(nx.gnp_random_graph(n, p, seed=seed))
        for n, p in [(12, 0.3), (1, 0.5), (20, 0.15), (7, 0.0)]
    ]
    graphs = [with_weights(graph, problem, seed) for graph in graphs]
    batch, copies = DenseBatch(graphs), 2
    shape = (batch.offsets[-1], copies)
    solution = PartialSolution(np.zeros(shape, dtype=bool), np.ones(shape, dtype=bool))
    masks = solution.selected, solution.active
    total = np.zeros((len(graphs), copies))

    def sets():
        for i, graph in enumerate(graphs):
            for copy in range(copies):
                nodes = np.flatnonzero(
                    solution.selected[batch.offsets[i] : batch.offsets[i + 1], copy]
                )
                yield i, copy, graph, nodes

    while True:
        candidates = problem.candidates(solution, batch.degrees(solution.active), batch)
        assert candidates.shape == shape
        assert not (candidates & solution.selected).any()
        if not problem.maximize:
            # A covering problem goes on exactly as long as something is left to cover.
            for i, copy, graph, nodes in sets():
                rows = slice(batch.offsets[i], batch.offsets[i + 1])
                feasible = problem.violation(graph, nodes) is None
                assert feasible != candidates[rows, copy].any()
        if not candidates.any():
            break
        chosen = np.zeros((*shape, problem.sides), dtype=bool)
        for copy in range(copies):
            choice = generator.permutation(np.flatnonzero(candidates[:, copy]))[:at_once]
            chosen[choice, copy, generator.integers(problem.sides, size=len(choice))] = True
        if problem.sides == 1:
            chosen = chosen[:, :, 0]
        total += problem.reward(solution, chosen, batch)
        problem.choose(solution, chosen, batch)

    assert (solution.selected is masks[0], solution.active is masks[1]) == (True, True)
    sign = 1 if problem.maximize else -1
    for i, copy, graph, nodes in sets():
        assert problem.violation(graph, nodes) is None
        assert total[i, copy] == sign * problem.objective(graph, nodes)


def test_facts_agree_with_one_another(problem, random_graph):
    sign = 1 if problem.maximize else -1
    everything_seen = 0
    for seed in range(20):
        graph = with_weights(random_graph(seed), problem, seed)
        nodes = np.arange(graph.n)
        if problem.violation(graph, nodes) is not None:
            continue
        everything_seen += 1
        better = problem.improve(graph, nodes)
        assert problem.violation(graph, better) is None
        assert set(problem.forced(graph)) <= set(better.tolist())
        value = problem.objective(graph, better)
        assert sign * problem.objective(graph, nodes) <= sign * value
        assert sign * value <= sign * problem.bound(graph)
    assert everything_seen or problem.maximize


def test_optimum_is_what_brute_force_finds_between_greedy_and_bound(problem, random_graph):
    sign = 1 if problem.maximize else -1
    for seed in range(12):
        graph = with_weights(random_graph(seed, largest=10), problem, seed)
        optimum = problem.objective(graph, brute_force(problem, graph))
        assert problem.optimum(graph) in (None, optimum)
        assert sign * problem.bound(graph) >= sign * optimum
        start = problem.greedy(graph)
        if start is None:
            continue
        assert problem.violation(graph, start) is None
        assert sign * problem.objective(graph, start) <= sign * optimum
        assert sorted(problem.improve(graph, start)) == sorted(start)


def test_solutions_are_the_complements_of_vertex_covers(problem, random_graph):
    covers = cover_problem(problem)
    for seed in range(20):
        graph = with_weights(random_graph(seed), problem, seed)
        cover_graph = problem.as_vertex_cover(graph)
        if covers is None:
            assert cover_graph is None
            continue
        for density in (0.2, 0.5, 0.8):
            inside = np.random.default_rng(seed).random(graph.n) < density
            nodes, rest = np.flatnonzero(inside), np.flatnonzero(~inside)
            feasible = problem.violation(graph, nodes) is None
            assert feasible == (covers.violation(cover_graph, rest) is None)
        cover = covers.greedy(cover_graph)
        solution = np.setdiff1d(np.arange(graph.n), cover)
        assert problem.violation(graph, solution) is None
        both = problem.objective(graph, solution) + covers.objective(graph, cover)
        assert both == problem.objective(graph, np.arange(graph.n))


def test_search_around_the_policy_gives_solutions_no_worse(problem, random_graph):
    sign = 1 if problem.maximize else -1
    for seed in range(20):
        graph = with_weights(random_graph(seed), problem, seed)
        start = problem.greedy(graph)
        if start is None:
            continue
        value, polished = sign * problem.objective(graph, start), []
        for nodes in islice(problem.polish(graph, start, seed), 3):
            assert problem.violation(graph, nodes) is None
            assert sign * problem.objective(graph, nodes) >= value
            value = sign * problem.objective(graph, nodes)
            polished.append(nodes.tolist())
        again = islice(problem.polish(graph, start, seed), 3)
        assert [nodes.tolist() for nodes in again] == polished
        reduction = problem.reduce(graph)
        if reduction is not None:
            kernel_start = problem.greedy(reduction.kernel)
            lifted = reduction.lift(kernel_start)
            assert problem.violation(graph, lifted) is None
            promised = problem.objective(reduction.kernel, kernel_start) + reduction.offset
            assert sign * problem.objective(graph, lifted) >= sign * promised


@pytest.mark.parametrize("name", problem_names())
@given(seed=st.integers(0, 10**6), n=st.integers(1, 14), made=st.integers(0, 8))
def test_any_search_that_was_stopped_is_completed(name, seed, n, made):
    problem, generator = problem_by_name(name), np.random.default_rng(seed)
    looped = nx.gnp_random_graph(n, generator.random(), seed=seed)
    looped.add_edges_from((v, v) for v in np.flatnonzero(generator.random(n) < 0.1).tolist())
    graph = with_weights(Graph.from_networkx(looped), problem, seed)
    batch = DenseBatch([graph])
    solution = PartialSolution(np.zeros((n, 1), bool), np.ones((n, 1), bool))
    actions = []
    for _ in range(made):
        candidates = problem.candidates(solution, batch.degrees(solution.active), batch)
        if not candidates.any():
            break
        node = generator.choice(np.flatnonzero(candidates))
        side = generator.integers(problem.sides)
        actions.append(problem.sides * node + side)
        chosen = np.zeros((n, 1, problem.sides), bool)
        chosen[node, 0, side] = True
        problem.choose(solution, chosen if problem.sides > 1 else chosen[:, :, 0], batch)
    heuristics = (cover_problem(problem) or problem).heuristics() | problem.heuristics()
    assert problem.completion() in heuristics
    found = problem.complete(graph, np.array(actions, np.int64))
    assert problem.violation(graph, problem.improve(graph, found)) is None
    inside = np.isin(np.arange(n), found)
    kept = np.setdiff1d(np.flatnonzero(solution.selected), graph.looped)
    assert inside[kept].all()
    if problem.sides > 1:  # nodes on the other side stay there
        assert not inside[~(solution.selected | solution.active)[:, 0]].any()


def test_subclass_with_another_feasibility_is_not_completed(problem):
    class Other(type(problem)):
        def violation(self, graph, nodes):
            return "never"

    assert Other().completion() is None


@pytest.mark.parametrize("name", problem_names())
@given(seed=st.integers(0, 10**6), n=st.integers(1, 10), k=st.integers(0, 30))
def test_reductions_and_bounds_that_were_stopped_hold(name, seed, n, k):
    problem, density = problem_by_name(name), np.random.default_rng(seed).random()
    graph = with_weights(
        Graph.from_networkx(nx.gnp_random_graph(n, density, seed=seed)), problem, seed
    )
    sign = 1 if problem.maximize else -1
    optimum = problem.objective(graph, brute_force(problem, graph))
    bound = sign * problem.bound(graph, AfterQuestions(k))
    assert sign * optimum <= bound
    assert sign * problem.bound(graph, never) <= bound
    reduction = problem.reduce(graph, AfterQuestions(k))
    if reduction is not None:
        nodes = reduction.lift(brute_force(problem, reduction.kernel))
        assert problem.violation(graph, nodes) is None
        assert problem.objective(graph, nodes) == optimum


@pytest.mark.parametrize("name", ["mvc", "mwvc"])
def test_reductions_that_were_stopped_leave_more(name):
    problem = problem_by_name(name)
    graph = with_weights(Graph.from_networkx(nx.barabasi_albert_graph(300, 3, seed=1)), problem, 1)
    sizes = [problem.reduce(graph, AfterQuestions(k)).kernel.n for k in range(40)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > problem.reduce(graph).kernel.n


@pytest.mark.parametrize("seed", range(3))
def test_actions_lead_to_the_same_state_one_by_one_and_all_at_once(problem, seed):
    generator = np.random.default_rng(seed)
    graph = Graph.from_networkx(nx.gnp_random_graph(12, 0.6, seed=seed))
    batch = DenseBatch([with_weights(graph, problem, seed), graph])
    shape = (2 * graph.n, 1)
    whole, stepwise = (
        PartialSolution(np.zeros(shape, bool), np.ones(shape, bool)) for _ in range(2)
    )
    sides = () if problem.sides == 1 else (problem.sides,)
    everything = np.zeros((*shape, *sides), bool)
    for _ in range(3):  # on the first graph alone; the other one stays as it is
        candidates = problem.candidates(stepwise, batch.degrees(stepwise.active), batch)
        if not candidates[: graph.n].any():
            break
        node = generator.choice(np.flatnonzero(candidates[: graph.n]))
        chosen = np.zeros_like(everything)
        chosen[(node, 0, *(generator.integers(side) for side in sides))] = True
        problem.choose(stepwise, chosen, batch)
        everything |= chosen
    problem.choose(whole, everything, batch)
    np.testing.assert_array_equal(whole.selected, stepwise.selected)
    np.testing.assert_array_equal(whole.active, stepwise.active)
