"""Coverage policies: the engine finds the dominating sets of the plain reference on any ranks."""

import numpy as np
import pytest
from small_graphs import GRAPHS

from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.policies.coverage_messages import CoverageScorer, coverage_form
from ogg_hpc.problems.domination import greedy_dominating_set
from ogg_hpc.problems.minimum_dominating_set import MinimumDominatingSet
from ogg_hpc.search.coverage_engine import CoverageEngine
from ogg_hpc.search.policy_search import search, start_solution
from ogg_hpc.search.scalar_search import search_by
from ogg_hpc.search.schedule import ONE, PAPER, Schedule

COARSE = Schedule("coarse", ((0.5, 16), (0.1, 5)))
NONE = np.empty(0, np.int64)
MDS = MinimumDominatingSet()


def form_of(exponents, n, refresh_above=0.0):
    return coverage_form(n, refresh_above, *np.array(exponents, float)[:, None])


def reference(comm, graph, form, schedule, forced=None):
    batch = GraphBatch(comm, [row_block(graph, comm.rank, comm.size)])
    return search(batch, MDS, CoverageScorer(form), schedule, forced)


def by_the_engine(comm, graph, form, schedule, forced=NONE, balance="rows"):
    block = row_block(graph, comm.rank, comm.size, balance)
    engine = CoverageEngine(comm, block, form, schedule.resolved(graph.n), forced)
    return search_by(comm, engine, forced, "cpu", None)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize(
    ("schedule", "refresh_above"),
    [(ONE, 0.0), (PAPER, 0.05), (COARSE, 0.5)],
    ids=["one", "paper", "coarse"],
)
def test_sets_are_those_of_the_reference(comm, alone, name, schedule, refresh_above):
    graph = GRAPHS[name]
    form = form_of([1.3, -1.3, 0.1], graph.n, refresh_above)
    expected = reference(alone, graph, form, schedule)
    assert MDS.violation(graph, expected.solutions[0]) is None
    for found in (
        by_the_engine(comm, graph, form, schedule),
        reference(comm, graph, form, schedule),
    ):
        assert found.solutions[0].tolist() == expected.solutions[0].tolist()
        assert len(found.step_seconds) == len(expected.step_seconds)


@pytest.mark.parametrize("balance", ["rows", "edges"])
def test_forced_nodes_are_chosen_first(comm, alone, balance):
    graph, forced = GRAPHS["ba-2"], np.array([40, 4, 17])
    form = form_of([1.3, -1.3, 0.1], graph.n, 0.05)
    expected = reference(alone, graph, form, ONE, forced)
    found = by_the_engine(comm, graph, form, ONE, forced, balance)
    assert found.solutions[0].tolist() == expected.solutions[0].tolist()


@pytest.mark.parametrize("name", GRAPHS)
def test_exponents_of_the_start_are_greedy(comm, name):
    graph = GRAPHS[name]
    found = by_the_engine(comm, graph, form_of([1.0, 0.0, 0.0], graph.n), ONE)
    assert found.solutions[0].tolist() == greedy_dominating_set(graph).tolist()


@pytest.mark.parametrize("name", ["er-2", "ba-2", "ws-2", "star", "disconnected"])
@pytest.mark.parametrize("exponents", [(1.3, -1.3, 0.1), (2.0, -0.5, -1.0), (-1.0, 0.5, 1.0)])
def test_scores_follow_the_formula(alone, name, exponents):
    graph, (a, c, f) = GRAPHS[name], exponents
    closed = graph.to_scipy().toarray() + np.eye(graph.n)
    batch = GraphBatch(alone, [row_block(graph, 0, 1)])
    solution = start_solution(batch)
    scorer = CoverageScorer(form_of(exponents, graph.n))
    for chosen in (NONE, [0], [0, graph.n - 1]):
        left = closed[chosen].sum(axis=0) == 0
        solution.active[:] = left[:, None]
        span = closed @ left
        message = np.where(span > 0, np.maximum(span, 1.0) ** a, 0.0)
        answer = left * (closed @ message + ~left) ** c
        _, scores = scorer(batch, solution)
        expected = closed @ answer * np.maximum(span, 1.0) ** f
        np.testing.assert_allclose(scores[:, 0], expected, rtol=1e-4)
