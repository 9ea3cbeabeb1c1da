"""The frontier engine scores and chooses as the reference engine does, on every number of ranks."""

import networkx as nx
import numpy as np
import pytest

from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.graphs.generators import barabasi_albert, erdos_renyi, watts_strogatz
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.policies.scorer import PolicyScorer
from ogg_hpc.policies.structure2vec import Structure2Vec
from ogg_hpc.policies.structure2vec_settings import Structure2VecSettings
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.problems.problem import PartialSolution
from ogg_hpc.problems.registry import problem_by_name
from ogg_hpc.runtime.launch import promised_size
from ogg_hpc.search import frontier_engine
from ogg_hpc.search.frontier_engine import FrontierScorer
from ogg_hpc.search.policy_search import search, start_solution
from ogg_hpc.search.schedule import ONE, PAPER, Schedule

WIDTH = 6
COARSE = Schedule("coarse", ((0.5, 16), (0.1, 5)))
PROBLEMS = {name: problem_by_name(name) for name in ("mvc", "clique", "mds")}
# Ranks that share cores take milliseconds a step: fewer graphs there.
_, RANKS = promised_size() or ("", 1)
SEEDS = (0, 2) if RANKS == 1 else (0,)
LAYERS = (2, 4) if RANKS == 1 else (1, 3)
SCHEDULES = (ONE, COARSE) if RANKS == 1 else (PAPER, COARSE)
PUSH_COSTS = ("push", "measured", "multiply") if RANKS == 1 else ("push", "measured")


def weighted(graph, seed):
    """Give edges weights of both signs."""
    rows, columns = np.repeat(np.arange(graph.n), graph.degrees), graph.columns
    upper = rows < columns
    weights = np.random.default_rng(seed).normal(0.2, 1.0, np.count_nonzero(upper))
    return Graph.from_edges(graph.n, rows[upper], columns[upper], weights)


def families():
    for seed in SEEDS:
        yield f"er-{seed}", erdos_renyi(20 + 30 * seed, 0.15, seed)
        yield f"ba-{seed}", barabasi_albert(24 + 30 * seed, 3 - seed, seed)
        yield f"ws-{seed}", watts_strogatz(30 + 40 * seed, 4, 0.1, seed)
        yield f"weighted-{seed}", weighted(erdos_renyi(20 + 15 * seed, 0.2, seed), seed)
    for name, graph in (
        ("star", nx.star_graph(12)),
        ("path", nx.path_graph(15)),
        ("disconnected", nx.disjoint_union(nx.cycle_graph(7), nx.empty_graph(5))),
        ("two nodes", nx.path_graph(2)),
        ("no edges", nx.empty_graph(4)),
    ):
        yield name, Graph.from_networkx(graph)


GRAPHS = dict(families())


def network(seed, **settings):
    return Structure2Vec(Structure2VecSettings(width=WIDTH, **settings), seed)


def batch_of(comm, graphs, copies=1, **options):
    return GraphBatch(
        comm, [row_block(graph, comm.rank, comm.size) for graph in graphs], copies, **options
    )


@pytest.fixture(autouse=True)
def small_graphs_count(monkeypatch):
    monkeypatch.setattr(frontier_engine, "SMALLEST_PRODUCT", 0)


@pytest.fixture(params=PUSH_COSTS)
def push_cost(request, monkeypatch):
    """Always push, decide, or always fall back to a product."""
    if request.param != "measured":
        cost = {"push": 0.0, "multiply": 1e300}[request.param]
        monkeypatch.setattr(frontier_engine, "PUSH_COST", cost)
    return request.param


def assert_close(found, expected):
    scale = np.abs(expected).max(initial=0.0)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11 * scale)


class Compared:
    """Scores by the frontier engine, compared with the reference at each step."""

    residual = True

    def __init__(self, policy):
        self._frontier, self._reference = FrontierScorer(policy), PolicyScorer(policy)
        self.steps = 0

    def __call__(self, batch, solution):
        degrees, scores = self._frontier(batch, solution)
        true_degrees, true_scores = self._reference(batch, solution)
        np.testing.assert_array_equal(degrees, true_degrees)
        assert_close(scores, true_scores)
        self.steps += 1
        return degrees, scores


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("layers", LAYERS)
def test_solutions_are_those_of_the_reference_engine(comm, alone, push_cost, name, problem, layers):
    graph, problem = GRAPHS[name], PROBLEMS[problem]
    schedules = SCHEDULES if problem.several_at_once else [ONE]
    seed = layers + len(name)
    policy = network(seed, layers=layers, degree_unit=("one", "mean")[seed % 2])
    for schedule in schedules:
        reference = search(batch_of(alone, [graph]), problem, PolicyScorer(policy), schedule)
        scorer = Compared(policy)
        found = search(batch_of(comm, [graph]), problem, scorer, schedule)
        assert found.solutions[0].tolist() == reference.solutions[0].tolist()
        assert scorer.steps == len(reference.step_seconds) + 1


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("copies", [1, 3])
@pytest.mark.parametrize("collective", ["allgather", "allreduce"])
def test_batches_and_copies_are_solved_as_by_the_reference_engine(
    comm, alone, push_cost, problem, copies, collective
):
    # Three nodes on four ranks: some own none.
    graphs = [GRAPHS["ba-0"], Graph.from_edges(3, [0, 1], [1, 2]), GRAPHS["weighted-0"]]
    policy = network(7, layers=3, degree_unit="mean")
    reference = search(batch_of(alone, graphs, copies), PROBLEMS[problem], PolicyScorer(policy))
    batch = batch_of(comm, graphs, copies, collective=collective)
    found = search(batch, PROBLEMS[problem], Compared(policy))
    for one, other in zip(found.solutions, reference.solutions, strict=True):
        assert one.tolist() == other.tolist()


@pytest.mark.parametrize("layers", [1, 3])
def test_any_change_of_the_masks_is_followed(comm, push_cost, layers):
    graphs = [GRAPHS["ws-0"], GRAPHS["weighted-0"]]
    batch = batch_of(comm, graphs, copies=2)
    scorer = Compared(network(5, layers=layers))
    solution = start_solution(batch)
    generator = np.random.default_rng(4)
    shape = solution.active.shape
    for step in range(30):
        some = generator.random(shape) < 0.03
        if step % 3 == 0:  # leave
            solution.active &= ~some
        elif step % 3 == 1:  # change the property, inside and outside
            solution.selected ^= some
        elif step % 10 == 5:  # come back, both ways of writing it
            solution.active |= some
        else:
            solution = PartialSolution(solution.selected.copy(), solution.active & ~some)
        scorer(batch, solution)


def test_a_second_search_and_another_batch_start_anew(comm):
    policy = network(3, layers=3)
    scorer = Compared(policy)
    batch = batch_of(comm, [GRAPHS["ba-0"]])
    first = search(batch, PROBLEMS["mvc"], scorer)
    again = search(batch, PROBLEMS["mvc"], scorer)
    assert again.solutions[0].tolist() == first.solutions[0].tolist()
    search(batch_of(comm, [GRAPHS["ws-0"]]), PROBLEMS["mvc"], scorer)


@pytest.mark.parametrize("weights", ["ones", "both signs"])
def test_sums_that_rise_from_zero_leave_nothing_when_they_return(comm, monkeypatch, weights):
    monkeypatch.setattr(frontier_engine, "PUSH_COST", 0.0)
    graph = barabasi_albert(40, 6, 1)
    graph = weighted(graph, 1) if weights == "both signs" else graph
    policy = network(3, layers=3)
    for name in ("theta2", "theta6", "theta7"):  # no edge term: nodes that are not selected are 0
        parameter = getattr(policy, name).data
        parameter.copy_(parameter.abs() if name != "theta2" else 0 * parameter)
    scorer = Compared(policy)
    batch = batch_of(comm, [graph])
    solution = start_solution(batch)
    scorer(batch, solution)
    generator = np.random.default_rng(2)
    for nodes in (generator.permutation(graph.n)[:12] for _ in range(5)):
        for node in (*nodes, *generator.permutation(nodes)):
            solution.selected[node] ^= True
            _, scores = scorer(batch, solution)
        assert not solution.selected.any()
        assert not scores.any()


class Frozen(MinimumVertexCover):
    """No node is dropped from the arrays: one engine follows a whole episode."""

    residual = False


@pytest.mark.parametrize("refresh", [10**9, 7])
def test_rounding_stays_far_below_what_a_choice_sees(comm, monkeypatch, refresh):
    monkeypatch.setattr(frontier_engine, "REFRESH_STEPS", refresh)
    monkeypatch.setattr(frontier_engine, "PUSH_COST", 0.0)
    n = 600 if RANKS == 1 else 60
    graph = barabasi_albert(n, 4, 1)
    worst = []

    class Drift(Compared):
        def __call__(self, batch, solution):
            degrees, scores = self._frontier(batch, solution)
            _, expected = self._reference(batch, solution)
            worst.append(np.abs(scores - expected).max(initial=0) / np.abs(expected).max(initial=1))
            return degrees, scores

    search(batch_of(comm, [graph]), Frozen(), Drift(network(2, layers=4, degree_unit="mean")))
    assert len(worst) > n / 3
    assert max(worst) < 1e-11


def test_after_so_many_steps_all_is_computed_anew(comm, monkeypatch):
    monkeypatch.setattr(frontier_engine, "REFRESH_STEPS", 5)
    monkeypatch.setattr(frontier_engine, "PUSH_COST", 0.0)
    products = []
    monkeypatch.setattr(
        frontier_engine,
        "neighbour_sum",
        lambda batch, rows, original=frontier_engine.neighbour_sum: (
            products.append(len(rows)) or original(batch, rows)
        ),
    )
    scorer = FrontierScorer(network(2, layers=3))
    batch = batch_of(comm, [GRAPHS["ws-0"]])
    solution = start_solution(batch)
    made = []
    for node in range(11):
        scorer(batch, solution)
        made.append(len(products))
        solution.active[node] = False
    assert made == [2] * 5 + [4] * 5 + [6]


def test_ranks_exchange_changed_rows_alone(comm, monkeypatch):
    monkeypatch.setattr(frontier_engine, "PUSH_COST", 0.0)
    graph = watts_strogatz(400, 4, 0.1, 1)
    layers = 3
    scorer = FrontierScorer(network(2, layers=layers))
    batch = batch_of(comm, [graph])
    solution = start_solution(batch)
    scorer(batch, solution)
    neighbours = {v: set(graph.neighbours(v).tolist()) for v in range(graph.n)}
    for node in (0, 57, 203):
        solution.active[batch.positions(np.array([0]), np.array([node]))] = False
        comm.counts.clear()
        scorer(batch, solution)
        within, rows = {node}, 0
        for _ in range(layers - 1):
            within |= {u for v in within for u in neighbours[v]}
            rows += len(within)
        assert set(comm.counts) == {"allgatherv"}
        assert comm.counts["allgatherv"].calls <= 2 * (layers - 1)
        # A changed row with its position, and a number of rows and of entries from each rank.
        most = rows * 8 * (1 + WIDTH) + (layers - 1) * comm.size * 2 * 8
        assert (comm.size > 1) <= comm.counts["allgatherv"].bytes <= most


def test_small_batches_are_scored_by_the_reference(comm, monkeypatch):
    monkeypatch.setattr(frontier_engine, "SMALLEST_PRODUCT", 10**9)
    monkeypatch.setattr(frontier_engine, "_Follower", None)
    policy = network(3, layers=3)
    batch = batch_of(comm, [GRAPHS["ba-0"]])
    found = search(batch, PROBLEMS["mvc"], FrontierScorer(policy))
    expected = search(batch, PROBLEMS["mvc"], PolicyScorer(policy))
    assert found.solutions[0].tolist() == expected.solutions[0].tolist()


@pytest.mark.parametrize(
    "method", ["embed", "units", "fixed_part", "layer", "preference", "preferences"]
)
def test_a_network_with_a_method_of_its_own_is_refused(method):
    own = type("Own", (Structure2Vec,), {method: lambda self, *arguments: None})
    settings = Structure2VecSettings(width=WIDTH)
    assert frontier_engine.can_follow(Structure2Vec(settings))
    assert not frontier_engine.can_follow(own(settings))
