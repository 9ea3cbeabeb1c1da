"""The scalar engine finds the covers that the reference engine finds, on every number of ranks."""

import numpy as np
import pytest
from small_graphs import GRAPHS

from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.policies.file import StoredPolicy
from ogg_hpc.policies.scalar_form import inverse_degree_form, scalar_form
from ogg_hpc.policies.scorer import PolicyScorer
from ogg_hpc.policies.structure2vec import Structure2Vec, Structure2VecSettings
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.search import scalar_state
from ogg_hpc.search.policy_search import search
from ogg_hpc.search.scalar_search import scalar_search
from ogg_hpc.search.schedule import ADAPTIVE, ONE, Schedule

COARSE = Schedule("coarse", ((0.5, 16), (0.1, 5)))
NONE = np.empty(0, np.int64)


def network(seed, **settings):
    """A network with random parameters, and the same as read from a file."""
    policy = Structure2Vec(Structure2VecSettings(width=8, **settings), seed)
    arrays = {name: value.numpy() for name, value in policy.state_dict().items()}
    return policy, StoredPolicy(None, "s2v", policy.describe(), arrays, "mvc", {})


@pytest.fixture(params=["lists", "bits"])
def columns(request, monkeypatch):
    """Hold the block as lists or as bits, whatever its density."""
    threshold = 2.0 if request.param == "lists" else -1.0
    monkeypatch.setattr(scalar_state, "DENSE", threshold)


@pytest.mark.usefixtures("columns")
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("schedule", [ONE, ADAPTIVE, COARSE], ids=lambda schedule: schedule.name)
def test_covers_are_those_of_the_reference_engine(comm, alone, name, schedule):
    graph = GRAPHS[name]
    for seed, settings in enumerate(
        ({"layers": 1}, {"layers": 2}, {"layers": 2, "degree_unit": "mean"})
    ):
        policy, stored = network(seed + len(name), **settings)
        form = scalar_form(stored, 2 * graph.m / graph.n)
        reference = search(
            GraphBatch(alone, [row_block(graph, 0, 1)]),
            MinimumVertexCover(),
            PolicyScorer(policy),
            schedule,
        )
        found = scalar_search(comm, row_block(graph, comm.rank, comm.size), form, schedule, NONE)
        assert found.solutions[0].tolist() == reference.solutions[0].tolist()
        assert len(found.step_seconds) == len(reference.step_seconds)


@pytest.mark.usefixtures("columns")
@pytest.mark.parametrize("balance", ["rows", "edges"])
def test_forced_nodes_are_chosen_first(comm, alone, balance):
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
    found = scalar_search(comm, block, scalar_form(stored, 2 * graph.m / graph.n), ONE, forced)
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


@pytest.mark.parametrize("exponent", [0.0, 1.25, 3.0])
@pytest.mark.parametrize("name", [name for name in GRAPHS if not name.startswith("er-")])
def test_inverse_degree_greedy_is_that_of_plain_loops(comm, name, exponent):
    graph = GRAPHS[name]
    form = inverse_degree_form(graph.n, exponent)
    found = scalar_search(comm, row_block(graph, comm.rank, comm.size), form, ONE, NONE)
    assert found.solutions[0].tolist() == greedy_by_inverse_degree(graph, exponent)
