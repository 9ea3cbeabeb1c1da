"""The scalar engine finds the covers that the reference engine finds, on every number of ranks."""

import tracemalloc

import numpy as np
import pytest
from small_graphs import GRAPHS

from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.graphs.generators import erdos_renyi
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.policies.file import StoredPolicy
from ogg_hpc.policies.scalar_form import ScalarForm, inverse_degree_form, scalar_form
from ogg_hpc.policies.scorer import PolicyScorer
from ogg_hpc.policies.structure2vec import Structure2Vec
from ogg_hpc.policies.structure2vec_settings import Structure2VecSettings
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.search import scalar_state
from ogg_hpc.search.policy_search import search
from ogg_hpc.search.scalar_search import scalar_search
from ogg_hpc.search.schedule import ONE, PAPER, Schedule

COARSE = Schedule("coarse", ((0.5, 16), (0.1, 5)))
NONE = np.empty(0, np.int64)


def network(seed, **settings):
    """A network with random parameters, and the same as read from a file."""
    policy = Structure2Vec(Structure2VecSettings(width=8, **settings), seed)
    arrays = {name: value.numpy() for name, value in policy.state_dict().items()}
    return policy, StoredPolicy(None, "s2v", policy.describe(), arrays, "mvc", {})


@pytest.fixture
def search_by_both(comm, monkeypatch):
    """Search with the block held as lists and as bits, whatever its density; give both results."""

    def both(block, *arguments):
        for threshold in (2.0, -1.0):
            monkeypatch.setattr(scalar_state, "DENSE", threshold)
            yield scalar_search(comm, block, *arguments)

    return both


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize(
    ("schedule", "settings"),
    [
        (ONE, {"layers": 1}),
        (PAPER, {"layers": 2}),
        (COARSE, {"layers": 2, "degree_unit": "mean"}),
    ],
    ids=["one", "paper", "coarse"],
)
def test_covers_are_those_of_the_reference_engine(
    comm, alone, search_by_both, name, schedule, settings
):
    graph = GRAPHS[name]
    policy, stored = network(len(name), **settings)
    form = scalar_form(stored, 2 * graph.m / graph.n)
    reference = search(
        GraphBatch(alone, [row_block(graph, 0, 1)]),
        MinimumVertexCover(),
        PolicyScorer(policy),
        schedule,
    )
    for found in search_by_both(row_block(graph, comm.rank, comm.size), form, schedule, NONE):
        assert found.solutions[0].tolist() == reference.solutions[0].tolist()
        assert len(found.step_seconds) == len(reference.step_seconds)


@pytest.mark.parametrize("balance", ["rows", "edges"])
def test_forced_nodes_are_chosen_first(comm, alone, search_by_both, balance):
    graph = GRAPHS["ba-2"]
    policy, stored = network(3, layers=2)
    forced = np.array([40, 4, 17])
    reference = search(
        GraphBatch(alone, [row_block(graph, 0, 1)]),
        MinimumVertexCover(),
        PolicyScorer(policy),
        ONE,
        forced,
    )
    block = row_block(graph, comm.rank, comm.size, balance)
    form = scalar_form(stored, 2 * graph.m / graph.n)
    for found in search_by_both(block, form, ONE, forced):
        assert found.solutions[0].tolist() == reference.solutions[0].tolist()


def test_a_step_sends_pairs_and_neighbours_alone(comm):
    if comm.size == 1:
        pytest.skip("nothing is sent on one rank")
    graph = GRAPHS["er-2"]
    _, stored = network(1, layers=2)
    comm.counts.clear()
    block = row_block(graph, comm.rank, comm.size)
    result = scalar_search(comm, block, scalar_form(stored, 1.0), ONE, NONE)
    steps = len(result.step_seconds)
    # A message of fixed length from each rank each step, every node's degree once, and each edge
    # once at the most, when one of its ends is chosen.
    most = steps * 512 * comm.size + 8 * graph.n + 4 * graph.m
    assert comm.counts["allgatherv"].bytes <= most
    assert set(comm.counts) == {"allgatherv"}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("scale", [1e300, np.nan, np.inf])
def test_scores_that_are_not_finite_are_no_choice(comm, scale):
    graph = GRAPHS["ba-2"]
    _, stored = network(1, layers=2)
    stored.arrays["theta7"] = stored.arrays["theta7"] * scale
    form = scalar_form(stored, 1.0)
    found = scalar_search(comm, row_block(graph, comm.rank, comm.size), form, ONE, NONE)
    assert len(found.solutions[0]) < graph.n


def greedy_by_inverse_degree(graph, exponent):
    """Choose the node whose neighbours' deg^-exponent add up to most, by plain loops."""
    neighbours = {v: set(graph.neighbours(v).tolist()) for v in range(graph.n)}
    cover = []
    while any(neighbours.values()):
        message = {v: round(2**32 * len(of) ** -exponent) for v, of in neighbours.items() if of}
        score = {v: np.float32(sum(message[u] for u in neighbours[v]) * 2.0**-32) for v in message}
        best = max(score, key=lambda v: (score[v], -v))
        cover.append(best)
        for u in neighbours.pop(best):
            neighbours[u].discard(best)
    return cover


def test_a_wide_network_has_more_pieces_than_a_short_integer_counts(comm):
    graph, random = GRAPHS["er-2"], np.random.default_rng(1)
    starts = np.linspace(0, 10, 70_000)
    form = ScalarForm(None, starts, *random.uniform(0.5, 1.5, (2, len(starts))))
    neighbours = {v: set(graph.neighbours(v).tolist()) for v in range(graph.n)}
    cover = []
    while any(neighbours.values()):
        score = {}
        for v, of in neighbours.items():
            degree, total = len(of), sum(len(neighbours[u]) for u in of)
            if degree:
                piece = np.count_nonzero(starts * degree <= total) - 1
                value = form.intercepts[piece] * degree + form.slopes[piece] * total
                score[v] = np.float32(value)
        best = max(score, key=lambda v: (score[v], -v))
        cover.append(best)
        for u in neighbours.pop(best):
            neighbours[u].discard(best)
    found = scalar_search(comm, row_block(graph, comm.rank, comm.size), form, ONE, NONE)
    assert found.solutions[0].tolist() == cover


def test_lists_are_made_without_a_wider_copy_of_the_entries(comm):
    block = row_block(erdos_renyi(400, 0.5, 1), comm.rank, comm.size)
    scalar_state.touching_rows(block, may_be_bits=False)  # what is compiled counts not
    tracemalloc.start()
    starts, rows, _ = scalar_state.touching_rows(block, may_be_bits=False)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (np.diff(starts) == np.bincount(block.columns, minlength=block.n)).all()
    assert peak < rows.nbytes + 4 * starts.nbytes + 2**14


def test_a_schedule_of_huge_steps_takes_no_more_memory_than_the_graph(comm):
    graph, schedule = GRAPHS["er-2"], Schedule("huge", ((0.1, 2**20),))
    form = inverse_degree_form(graph.n, 1.25)
    block = row_block(graph, comm.rank, comm.size)
    scalar_search(comm, block, form, schedule, NONE)  # what is compiled counts not
    tracemalloc.start()
    found = scalar_search(comm, block, form, schedule, NONE)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**20
    assert len(found.step_seconds) == 1


@pytest.mark.parametrize("exponent", [0.0, 1.25, 3.0])
@pytest.mark.parametrize("name", [name for name in GRAPHS if not name.startswith("er-")])
def test_inverse_degree_greedy_is_that_of_plain_loops(comm, name, exponent):
    graph = GRAPHS[name]
    form = inverse_degree_form(graph.n, exponent)
    found = scalar_search(comm, row_block(graph, comm.rank, comm.size), form, ONE, NONE)
    assert found.solutions[0].tolist() == greedy_by_inverse_degree(graph, exponent)
