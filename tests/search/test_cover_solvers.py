import subprocess
import time

import numpy as np
import pytest

from ogg_hpc.errors import MissingExtraError, SettingsError
from ogg_hpc.graphs.generators import erdos_renyi
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.exact import brute_force
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.search.cover_solvers import SOLVERS, solve_by

MODULES = {"exact": "ortools", "highs": "highspy", "kamis": "chszlablib"}


@pytest.fixture(params=SOLVERS)
def solver(request):
    pytest.importorskip(MODULES[request.param])
    return request.param


@pytest.mark.parametrize("seed", range(2))
def test_cover_is_a_smallest_one(solver, seed):
    graph = erdos_renyi(18, 0.4, seed)
    result = solve_by(solver, graph, 5)
    smallest = len(brute_force(MinimumVertexCover(), graph))
    assert MinimumVertexCover().violation(graph, result.nodes) is None
    assert len(result.nodes) == smallest
    assert result.bound <= smallest
    assert result.proven == (result.bound == smallest)
    assert result.proven or solver == "kamis"


def test_nodes_with_loops_are_in_the_cover(solver):
    # Two triangles, a loop in one and at a node of its own.
    u, v = [0, 1, 0, 3, 4, 3, 0, 6], [1, 2, 2, 4, 5, 5, 0, 6]
    graph = Graph.from_edges(7, np.array(u), np.array(v))
    result = solve_by(solver, graph, 5)
    assert MinimumVertexCover().violation(graph, result.nodes) is None
    assert len(result.nodes) == 5
    assert {0, 6} <= set(result.nodes.tolist())
    assert result.bound == 5 or solver == "kamis"


def test_process_that_does_not_end_leaves_a_minimal_cover(monkeypatch):
    pytest.importorskip("highspy")
    graph = erdos_renyi(60, 0.3, seed=1)

    def never(*arguments, timeout, **options):
        raise subprocess.TimeoutExpired("highs", timeout)

    monkeypatch.setattr(subprocess, "run", never)
    result = solve_by("highs", graph, 5)
    assert MinimumVertexCover().violation(graph, result.nodes) is None
    assert result.bound == 30
    assert not result.proven


def test_limit_is_kept():
    pytest.importorskip("highspy")
    start = time.perf_counter()
    result = solve_by("highs", erdos_renyi(300, 0.3, seed=1), 1)
    assert time.perf_counter() - start < 20  # on a busy machine
    assert len(result.nodes) < 300


def test_failure_of_the_process_is_said(monkeypatch):
    pytest.importorskip("highspy")
    failed = subprocess.CompletedProcess([], 1, stderr=b"Traceback\nMemoryError: no\n")
    monkeypatch.setattr(subprocess, "run", lambda *arguments, **options: failed)
    with pytest.raises(SettingsError, match="process of highs failed: MemoryError: no"):
        solve_by("highs", erdos_renyi(60, 0.3, seed=1), 5)


@pytest.mark.parametrize(("name", "extra"), [("highs", "solvers"), ("kamis", "kamis")])
def test_missing_solver_says_what_to_install(monkeypatch, name, extra):
    monkeypatch.setattr("importlib.util.find_spec", lambda module: None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'ogg-hpc\[{extra}\]'"):
        solve_by(name, erdos_renyi(9, 0.3, seed=1), 5)


@pytest.mark.parametrize("limit", [0, -1, float("nan")])
def test_limit_has_to_be_positive(limit):
    with pytest.raises(SettingsError, match="time limit has to be positive"):
        solve_by("highs", erdos_renyi(9, 0.3, seed=1), limit)
