import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.policies.scorer import PolicyScorer
from ogg_hpc.policies.structure2vec import Structure2Vec
from ogg_hpc.policies.structure2vec_settings import Structure2VecSettings
from ogg_hpc.problems.greedy_cover import maximum_degree_greedy
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.problems.registry import problem_by_name
from ogg_hpc.search.policy_search import search, select, start_solution
from ogg_hpc.search.schedule import ONE, PAPER, Schedule

MVC = MinimumVertexCover()
SEEDS = st.integers(0, 2**32)
SCHEDULES = st.sampled_from([ONE, PAPER, Schedule("three", ((0.0, 3),))])


class ByDegree:
    def __init__(self, residual=False):
        self.residual = residual

    def __call__(self, batch, solution):
        degrees = batch.degrees(solution.active)
        return degrees, degrees


class ByTable:
    """Scores given by node id."""

    residual = False

    def __init__(self, scores):
        self._scores = np.array(scores, float)

    def __call__(self, batch, solution):
        scores = self._scores[batch.node_of[batch.lo : batch.hi], None]
        return batch.degrees(solution.active), scores


def structure2vec(seed, residual=True):
    settings = Structure2VecSettings(width=6, degree_unit=("one", "mean")[seed % 2])
    scorer = PolicyScorer(Structure2Vec(settings, seed=seed))
    scorer.residual = residual
    return scorer


def solutions(batch, problem=MVC, scorer=None, schedule=ONE, forced=None):
    result = search(batch, problem, scorer or ByDegree(), schedule, forced)
    return [nodes.tolist() for nodes in result.solutions]


@settings(max_examples=60)
@given(seed=SEEDS, residual=st.booleans())
def test_degree_scores_choose_as_maximum_degree_greedy(random_graph, batch_of, seed, residual):
    graph = random_graph(seed)
    found = solutions(batch_of(graph), scorer=ByDegree(residual))
    assert found == [maximum_degree_greedy(graph).tolist()]


def test_scores_decide_and_ties_go_to_the_lowest_id(batch_of):
    square = Graph.from_edges(4, [0, 1, 2, 3], [1, 2, 3, 0])
    assert solutions(batch_of(square), scorer=ByTable([1, 1, 1, 1])) == [[0, 1, 2]]
    assert solutions(batch_of(square), scorer=ByTable([1, 2, 3, 4])) == [[3, 2, 1]]
    assert solutions(batch_of(square), scorer=ByTable([-1, -2, -2, -1])) == [[0, 3, 1]]


def test_steps_choose_as_many_nodes_as_the_schedule_says(batch_of):
    complete = np.argwhere(np.triu(np.ones((12, 12)), 1))
    graph = Graph.from_edges(12, complete[:, 0], complete[:, 1])
    table = Schedule("table", ((0.75, 4), (0.5, 3)))
    sizes, lefts = [], []
    search(
        batch_of(graph),
        MVC,
        ByTable(range(12)),
        table,
        on_step=lambda step, left: (sizes.append(step), lefts.append(left.item())),
    )
    # 12 candidates: 4 go; 8: 3 go; 5 and fewer: one goes.
    assert lefts == [12, 8, 5, 4, 3, 2]
    assert sizes == [1, 2, 3, 4, 5, 6]


@settings(max_examples=200)
@given(data=st.data(), n=st.integers(1, 300), d=st.sampled_from([1, 2, 3, 8, 40]))
def test_best_finite_candidates_are_chosen_lowest_ids_first(batch_of, data, n, d):
    numbers = st.sampled_from([0.0, -0.0, 1.0, 1 + 1e-12, -2.0, 1e300, np.inf, -np.inf, np.nan])
    scores = np.array(data.draw(st.lists(numbers, min_size=n, max_size=n)))
    scores += data.draw(st.sampled_from([0.0, 1e-3])) * np.arange(n)
    candidates = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    with np.errstate(over="ignore"):
        rounded = scores.astype(np.float32)
        graph = Graph.from_edges(n, [], [])
        schedule = Schedule("some", ((0.0, d),))
        for copies in (1, 2):  # one mask on one graph, and several, take different paths
            wide = np.repeat(scores[:, None], copies, axis=1)
            allowed = np.repeat(candidates[:, None], copies, axis=1)
            groups, nodes, left, _ = select(batch_of(graph, copies=copies), wide, allowed, schedule)
            usable = [v for v in range(n) if candidates[v] and np.isfinite(rounded[v])]
            expected = sorted(usable, key=lambda v: (-rounded[v], v))[:d]
            assert nodes.tolist() == expected * copies
            assert groups.tolist() == sorted(list(range(copies)) * len(expected))
            assert left.tolist() == [candidates.sum()] * copies


@settings(max_examples=100)
@given(data=st.data(), n=st.integers(1, 60), copies=st.integers(1, 2))
def test_best_action_is_chosen_lowest_id_first(batch_of, data, n, copies):
    numbers = st.sampled_from([0.0, -0.0, 1.0, 1 + 1e-12, -2.0, -np.inf, np.nan])
    flat = data.draw(st.lists(numbers, min_size=2 * n, max_size=2 * n))
    candidates = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    scores = np.repeat(np.array(flat).reshape(n, 1, 2), copies, axis=1)
    allowed = np.repeat(candidates[:, None], copies, axis=1)
    batch = batch_of(Graph.from_edges(n, [], []), copies=copies)
    groups, actions, left, _ = select(batch, scores, allowed)
    usable = [a for a in range(2 * n) if candidates[a // 2] and np.isfinite(flat[a])]
    expected = sorted(usable, key=lambda a: (-np.float32(flat[a]), a))[:1]
    assert actions.tolist() == expected * copies
    assert groups.tolist() == list(range(copies)) * len(expected)
    assert left.tolist() == [candidates.sum()] * copies


def test_node_and_side_are_chosen_together(batch_of):
    class Sides:
        """Node 2 to side 1, then 0 to side 1, then 1 to side 0."""

        residual = False

        def __call__(self, batch, solution):
            scores = np.array([[0, 2], [1, -1], [-3, 3], [9, 9]], float)
            return batch.degrees(solution.active), scores[:, None, :]

    path = Graph.from_edges(4, [0, 1], [1, 2])
    result = search(batch_of(path), problem_by_name("maxcut"), Sides())
    assert [nodes.tolist() for nodes in result.solutions] == [[2, 0]]
    assert len(result.step_seconds) == 3  # and none for the node without an edge


@settings(max_examples=40)
@given(seed=SEEDS, weighted=st.booleans())
def test_nodes_rated_alone_go_where_they_cut_more(random_graph, batch_of, seed, weighted):
    graph, other = random_graph(seed, weighted=weighted), random_graph(seed + 1)
    cut = problem_by_name("maxcut")
    order = np.random.default_rng(seed).permutation(graph.n)
    weights = graph.to_scipy().toarray()
    sides = np.zeros(graph.n)  # -1 or 1, 0 for not yet placed
    for v in sorted(np.flatnonzero(graph.degrees), key=lambda v: -order[v]):
        sides[v] = 1 if weights[v] @ sides < -1e-12 else -1
    [found] = search(batch_of(graph), cut, ByTable(order)).solutions
    assert sorted(found) == np.flatnonzero(sides > 0).tolist()
    together = search(batch_of(graph, other), cut, structure2vec(1)).solutions
    assert (
        together[0].tolist() == search(batch_of(graph), cut, structure2vec(1)).solutions[0].tolist()
    )


def test_last_step_takes_no_more_than_there_are_candidates(batch_of):
    pair = Graph.from_edges(3, [0], [1])
    assert solutions(batch_of(pair), schedule=PAPER) == [[0, 1]]
    assert solutions(batch_of(pair), schedule=ONE) == [[0]]


@settings(max_examples=15)
@given(seeds=st.lists(SEEDS, min_size=1, max_size=4), schedule=SCHEDULES, trained=st.booleans())
def test_graph_in_a_batch_is_solved_as_if_alone(random_graph, batch_of, seeds, schedule, trained):
    graphs = [random_graph(seed, weighted=trained) for seed in seeds]
    scorer = structure2vec(3) if trained else ByDegree()
    together = solutions(batch_of(*graphs), scorer=scorer, schedule=schedule)
    for graph, found in zip(graphs, together, strict=True):
        assert solutions(batch_of(graph), scorer=scorer, schedule=schedule) == [found]


@settings(max_examples=30)
@given(seed=SEEDS, schedule=SCHEDULES, trained=st.booleans(), weighted=st.booleans())
def test_dropping_settled_nodes_changes_nothing(
    random_graph, batch_of, seed, schedule, trained, weighted
):
    graphs = [random_graph(seed, 40, weighted), random_graph(seed + 1, 10, weighted)]
    for problem in (MVC, problem_by_name("mis"), problem_by_name("clique")):
        if problem is not MVC and schedule is not ONE:
            continue  # neighbours may be chosen together only where that is feasible
        whole, dropping = (
            solutions(
                batch_of(*graphs),
                problem,
                structure2vec(seed % 7, residual) if trained else ByDegree(residual),
                schedule,
            )
            for residual in (False, True)
        )
        assert dropping == whole
        for graph, nodes in zip(graphs, dropping, strict=True):
            assert problem.violation(graph, np.array(nodes, int)) is None


def test_masks_on_one_graph_advance_together(random_graph, batch_of):
    graph = random_graph(9)
    assert graph.m > 5
    alone = solutions(batch_of(graph), scorer=structure2vec(1))
    assert solutions(batch_of(graph, copies=3), scorer=structure2vec(1)) == alone * 3


def test_masks_on_one_graph_may_differ(batch_of):
    class CopyDecides:
        residual = True

        def __call__(self, batch, solution):
            ids = batch.node_of[batch.lo : batch.hi, None]
            return batch.degrees(solution.active), np.concatenate([ids, -ids], axis=1)

    star = Graph.from_edges(5, [0, 0, 0, 0], [1, 2, 3, 4])
    assert solutions(batch_of(star, copies=2), scorer=CopyDecides()) == [[4, 3, 2, 1], [0]]


@settings(max_examples=30)
@given(seed=SEEDS)
def test_forced_nodes_come_first_and_leave_the_graph(random_graph, batch_of, seed):
    graph = random_graph(seed)
    forced = np.random.default_rng(seed).permutation(graph.n)[:3]
    found = solutions(batch_of(graph), scorer=ByDegree(residual=True), forced=forced)
    assert found == [maximum_degree_greedy(graph, forced).tolist()]


@settings(max_examples=40)
@given(seed=SEEDS, weighted=st.booleans())
def test_restricted_batch_equals_a_masked_one(random_graph, batch_of, seed, weighted):
    graphs = [random_graph(seed, weighted=weighted), random_graph(seed + 1, weighted=weighted)]
    batch = batch_of(*graphs, copies=2)
    generator = np.random.default_rng(seed)
    keep = generator.random(batch.nodes) < 0.6
    small = batch.restricted(keep)
    inside = (generator.random((batch.nodes, 2)) < 0.7) & keep[:, None]

    assert small.nodes == keep.sum()
    np.testing.assert_array_equal(small.node_of, batch.node_of[keep])
    np.testing.assert_array_equal(small.graph_of, batch.graph_of[keep])
    np.testing.assert_array_equal(small.degrees(inside[keep]), batch.degrees(inside)[keep])
    np.testing.assert_array_equal(small.adjacent(inside[keep]), batch.adjacent(inside)[keep])
    np.testing.assert_array_equal(small.count(inside[keep]), batch.count(inside))
    for some, every in zip(small.edge_sums(inside[keep]), batch.edge_sums(inside), strict=True):
        np.testing.assert_allclose(some, every[keep], rtol=1e-13, atol=1e-13)
    kept = np.flatnonzero(keep)
    positions = small.positions(batch.graph_of[kept], batch.node_of[kept])
    np.testing.assert_array_equal(positions, np.arange(len(kept)))
    rows = generator.standard_normal((batch.nodes, 3)) * keep[:, None]
    expected = batch.gather_multiply(rows)[keep]
    np.testing.assert_allclose(small.gather_multiply(rows[keep]), expected, rtol=1e-13, atol=1e-13)


def test_restricting_twice_equals_once(random_graph, batch_of):
    batch = batch_of(random_graph(5), random_graph(11))
    generator = np.random.default_rng(1)
    first = generator.random(batch.nodes) < 0.8
    second = generator.random(first.sum()) < 0.8
    both = first.copy()
    both[first] = second
    twice, once = batch.restricted(first).restricted(second), batch.restricted(both)
    assert (twice.matrix != once.matrix).nnz == 0
    np.testing.assert_array_equal(twice.node_of, once.node_of)


def test_start_has_everything_active_and_nothing_selected(random_graph, batch_of):
    solution = start_solution(batch_of(random_graph(1), random_graph(2), copies=3))
    assert solution.active.all()
    assert not solution.selected.any()
    assert solution.active.shape == solution.selected.shape


@pytest.mark.parametrize("n", [1, 4])
def test_graph_without_edges_needs_no_step(batch_of, n):
    result = search(batch_of(Graph.from_edges(n, [], [])), MVC, ByDegree())
    assert [nodes.tolist() for nodes in result.solutions] == [[]]
    assert result.step_seconds == []
