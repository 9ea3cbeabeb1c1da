"""A solve that is asked to stop at any moment ends everywhere with a verified answer."""

import networkx as nx
import numpy as np
import pytest
from small_graphs import RANKS
from stopping import AfterQuestions

from ogg_hpc.graphs.generators import barabasi_albert
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems import problem_by_name
from ogg_hpc.runtime.stop import never
from ogg_hpc.search.settings import SolveSettings
from ogg_hpc.search.solve import solve_graph

# No reduction applies: there is something left to choose.
HARD = Graph.from_networkx(nx.random_regular_graph(5, 26, seed=2))
# Ranks that share cores take milliseconds a step.
MOMENTS = (*range(10), 14, 22) if RANKS == 1 else (0, 2, 7)
WEIGHTED = HARD.with_node_weights(np.random.default_rng(0).integers(1, 9, HARD.n))
WAYS = [
    ("mvc", "mvc", "scalar"),
    ("mvc", "mvc", "reference"),
    ("mvc", "mvc-s2v", "scalar"),
    ("mvc", "mvc-s2v", "frontier"),
    ("mvc", "mvc-s2v", "reference"),
    ("mvc", "max-degree", "auto"),
    ("mis", "mis", "auto"),
    ("clique", "clique", "auto"),
    ("clique", "greedy", "auto"),
    ("mwvc", "mwvc", "scalar"),
    ("mwis", None, "auto"),
    ("mds", "mds", "scalar"),
    ("mds", "mds", "reference"),
    ("maxcut", "maxcut", "scalar"),
    ("maxcut", "maxcut", "reference"),
]


def stop_on(comm, rank, k):
    """What asks one rank alone to stop."""
    return AfterQuestions(k) if comm.rank == rank % comm.size else never


def solve(comm, graph, stop, problem, policy, engine, **settings):
    """Solve; all that is verified is so inside."""
    settings = SolveSettings(problem, policy, engine=engine, select="one", **settings)
    solved = solve_graph(comm, graph, settings, stop=stop)
    assert comm.gather_objects(solved.nodes) == [solved.nodes] * comm.size
    whole = problem_by_name(problem)
    nodes = np.array(solved.nodes, np.int64)
    assert whole.violation(graph, nodes) is None
    assert whole.objective(graph, nodes) == solved.record["objective"]
    sign = 1 if whole.maximize else -1
    assert sign * solved.record["objective"] <= sign * solved.record["bound"]
    return solved


@pytest.mark.parametrize("reduce", [True, False] if RANKS == 1 else [True])
@pytest.mark.parametrize(("problem", "policy", "engine"), WAYS)
def test_a_stop_at_any_moment_gives_a_verified_answer(comm, problem, policy, engine, reduce):
    graph = WEIGHTED if problem_by_name(problem).uses_node_weights else HARD
    way = problem, policy, engine
    whole = solve(comm, graph, never, *way, reduce=reduce)
    assert whole.record["stopped"] is None
    steps = []
    for k in MOMENTS:
        record = solve(comm, graph, stop_on(comm, -1, k), *way, reduce=reduce).record
        if record["stopped"] is None:
            break
        steps.append(record["steps"] if record["engine"] != "host" else 0)
        [warning] = record["warnings"][-1:]
        assert warning.startswith("a signal came: ")
    assert steps[0] == 0
    assert steps == sorted(steps)
    late = solve(comm, graph, stop_on(comm, 0, 10**6), *way, reduce=reduce)
    assert (late.nodes, late.record["stopped"]) == (whole.nodes, None)


def test_the_policy_has_chosen_what_it_would_have(comm):
    graph = barabasi_albert(40, 5, 3)
    way = "mvc", "mvc", "reference"
    whole = solve(comm, graph, never, *way, reduce=False)
    found = solve(comm, graph, stop_on(comm, 1, 9), *way, reduce=False)
    record = found.record
    assert record["stopped"] == "signal"
    assert 0 < record["steps"] < whole.record["steps"]
    assert record["warnings"] == [
        f"a signal came: mvc had chosen {record['steps']} nodes, min-degree chose the rest"
    ]


@pytest.mark.parametrize("problem", ["mvc", "mds", "maxcut"])
def test_samples_that_are_stopped_give_a_verified_answer(comm, problem):
    for k in MOMENTS:
        found = solve(comm, HARD, AfterQuestions(k), problem, problem, "auto", samples=4)
        assert found.record["stopped"] == "signal" or k > 0


def test_no_polish_is_begun_after_a_stop(comm):
    record = solve(comm, HARD, AfterQuestions(0), "mvc", "mvc", "auto", polish=600.0).record
    assert record["seconds"]["polish"] < 60
