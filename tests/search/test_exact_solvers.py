import subprocess
import time

import networkx as nx
import numpy as np
import pytest

from ogg_hpc.errors import MissingExtraError, SettingsError
from ogg_hpc.graphs.generators import erdos_renyi
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.readers import read_graph
from ogg_hpc.problems.exact import brute_force
from ogg_hpc.problems.maximum_cut import MaximumCut
from ogg_hpc.problems.minimum_dominating_set import MinimumDominatingSet
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.problems.registry import problem_by_name
from ogg_hpc.search import exact_solvers
from ogg_hpc.search.exact_solvers import SOLVERS, solve_by

MVC, MDS = MinimumVertexCover(), MinimumDominatingSet()
MODULES = {
    "exact": "ortools", "highs": "highspy", "gurobi": "gurobipy", "cplex": "cplex",
    "kamis": "chszlablib",
}  # fmt: skip


@pytest.fixture(params=SOLVERS)
def solver(request):
    pytest.importorskip(MODULES[request.param])
    return request.param


@pytest.fixture(params=["exact", "highs", "gurobi", "cplex"])
def proving(request):
    pytest.importorskip(MODULES[request.param])
    return request.param


@pytest.mark.parametrize("seed", range(2))
def test_cover_is_a_smallest_one(solver, seed):
    graph = erdos_renyi(18, 0.4, seed)
    result = solve_by(solver, MVC, graph, 20)
    smallest = len(brute_force(MVC, graph))
    assert MVC.violation(graph, result.nodes) is None
    assert len(result.nodes) == smallest
    assert result.bound <= smallest
    assert result.proven == (result.bound == smallest)
    assert result.proven or solver == "kamis"


def test_nodes_with_loops_are_in_the_cover(solver):
    # Two triangles, a loop in one and at a node of its own.
    u, v = [0, 1, 0, 3, 4, 3, 0, 6], [1, 2, 2, 4, 5, 5, 0, 6]
    graph = Graph.from_edges(7, np.array(u), np.array(v))
    result = solve_by(solver, MVC, graph, 20)
    assert MVC.violation(graph, result.nodes) is None
    assert len(result.nodes) == 5
    assert {0, 6} <= set(result.nodes.tolist())
    assert result.bound == 5 or solver == "kamis"


def hard_graphs(problem, random_graph, largest):
    """Graphs with bound and greedy apart: where they agree no process is needed."""
    graphs = [random_graph(seed, largest=largest) for seed in range(300)]
    return [g for g in graphs if problem.bound(g) < len(problem.greedy(g))]


@pytest.mark.parametrize(("problem", "largest"), [(MVC, 20), (MDS, 12)], ids=["mvc", "mds"])
def test_proven_optimum_is_what_brute_force_finds(proving, problem, largest, random_graph):
    hard = hard_graphs(problem, random_graph, largest)
    assert len(hard) >= 4
    for graph in hard[:4]:
        result = solve_by(proving, problem, graph, 20)
        assert result.proven
        assert result.bound == len(result.nodes) == len(brute_force(problem, graph))
        assert problem.violation(graph, result.nodes) is None


@pytest.mark.parametrize("seed", [1, 3])
def test_optimum_is_proven_to_the_last_unit_of_large_weights(proving, seed):
    # Solvers of others stop within 0.01 % by default, here of 26 million.
    weights = 10**6 + np.random.default_rng(seed).integers(0, 1000, 40)
    graph = erdos_renyi(40, 0.2, seed).with_node_weights(weights.astype(float))
    result = solve_by(proving, problem_by_name("mwvc"), graph, 60)
    optimum = {1: 26_012_296, 3: 28_012_609}[seed]  # as CP-SAT proves
    assert (weights[result.nodes].sum(), result.bound, result.proven) == (optimum, optimum, True)


@pytest.mark.parametrize("weights", ["none", "signs", "whole", "real"])
def test_proven_cut_is_what_brute_force_finds(proving, weights):
    cut, generator = MaximumCut(), np.random.default_rng(4)
    u, v, _ = erdos_renyi(13, 0.6, 4).edges()
    values = {
        "none": None,
        "signs": generator.choice([-1, 1], len(u)),
        "whole": generator.integers(-4, 9, len(u)),
        "real": generator.normal(size=len(u)),
    }
    graph = Graph.from_edges(13, u, v, values[weights])
    optimum = cut.objective(graph, brute_force(cut, graph))
    result = solve_by(proving, cut, graph, 60)
    assert cut.objective(graph, result.nodes) == pytest.approx(optimum, abs=1e-6)
    assert result.bound == pytest.approx(optimum, abs=1e-3)
    assert result.proven or weights == "real"


@pytest.mark.parametrize(
    ("problem", "name", "optimum"),
    [
        (MVC, "karate", 14),
        (MVC, "jazz", 158),
        (MVC, "email", 594),
        (MVC, "power", 2203),
        (MDS, "karate", 4),
        (MDS, "jazz", 13),
        (MDS, "email", 210),
        (MDS, "power", 1481),
    ],
)
def test_proven_optimum_of_a_real_graph(shared_data, problem, name, optimum):
    pytest.importorskip("ortools")
    graph = read_graph(shared_data / "mvc" / f"{name}.graph")
    result = solve_by("exact", problem, graph, 60)
    assert (len(result.nodes), result.bound, result.proven) == (optimum, optimum, True)
    assert problem.violation(graph, result.nodes) is None


@pytest.mark.parametrize("problem", [MVC, MDS], ids=["mvc", "mds"])
@pytest.mark.parametrize("kill_after", [2.0, -1.5])
def test_time_limit_leaves_a_solution_and_a_bound(monkeypatch, kill_after, problem):
    pytest.importorskip("ortools")
    monkeypatch.setattr(exact_solvers, "_KILL_AFTER", kill_after)
    graph = Graph.from_networkx(nx.gnp_random_graph(400, 0.15, seed=1))
    started = time.monotonic()
    result = solve_by("exact", problem, graph, 2)
    assert time.monotonic() - started < 20  # on a busy machine
    assert not result.proven
    assert problem.violation(graph, result.nodes) is None
    assert problem.bound(graph) <= result.bound < len(result.nodes)


def test_process_that_does_not_end_leaves_the_greedy_solution(monkeypatch):
    pytest.importorskip("highspy")
    graph = erdos_renyi(60, 0.3, seed=1)

    def never(*arguments, timeout, **options):
        raise subprocess.TimeoutExpired("highs", timeout)

    monkeypatch.setattr(subprocess, "run", never)
    result = solve_by("highs", MVC, graph, 5)
    assert result.nodes.tolist() == sorted(MVC.greedy(graph).tolist())
    assert result.bound == 30
    assert not result.proven


def test_failure_of_the_process_is_said(monkeypatch):
    pytest.importorskip("highspy")
    failed = subprocess.CompletedProcess([], 1, stderr=b"Traceback\nMemoryError: no\n")
    monkeypatch.setattr(subprocess, "run", lambda *arguments, **options: failed)
    with pytest.raises(SettingsError, match="process of highs failed: MemoryError: no"):
        solve_by("highs", MVC, erdos_renyi(60, 0.3, seed=1), 5)


@pytest.mark.parametrize(
    ("name", "extra"),
    [("exact", "solvers"), ("highs", "solvers"), *((s, s) for s in ("gurobi", "cplex", "kamis"))],
)
def test_missing_solver_says_what_to_install(monkeypatch, name, extra):
    monkeypatch.setattr("importlib.util.find_spec", lambda module: None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'ogg-hpc\[{extra}\]'"):
        solve_by(name, MVC, erdos_renyi(9, 0.3, seed=1), 5)


@pytest.mark.parametrize("limit", [0, -1, float("nan")])
def test_limit_has_to_be_positive(limit):
    with pytest.raises(SettingsError, match="time limit has to be positive"):
        solve_by("highs", MVC, erdos_renyi(9, 0.3, seed=1), limit)


def test_problem_without_a_program_is_refused():
    pytest.importorskip("highspy")

    class HalfPrice(MinimumVertexCover):
        def objective(self, graph, nodes):
            return len(nodes) / 2

    with pytest.raises(SettingsError, match="mvc is no binary program for highs"):
        solve_by("highs", HalfPrice(), erdos_renyi(9, 0.3, seed=1), 5)
