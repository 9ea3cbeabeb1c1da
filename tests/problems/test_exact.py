import sys
import time

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ogg_hpc.errors import MissingExtraError, SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems import exact
from ogg_hpc.problems.exact import brute_force, solve_exactly
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover

MVC = MinimumVertexCover()


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_compiled_brute_force_agrees_with_the_plain_one(random_graph, seed):
    graph = random_graph(seed, largest=9)
    compiled, plain = brute_force(MVC, graph), exact._best_of_all_sets(MVC, graph)
    assert MVC.violation(graph, compiled) is None
    assert len(compiled) == len(plain)


def test_brute_force_refuses_large_graphs():
    with pytest.raises(SettingsError, match="at most 24 nodes for mvc, not 25"):
        brute_force(MVC, Graph.from_networkx(nx.path_graph(25)))


def test_cp_sat_agrees_with_brute_force(random_graph):
    pytest.importorskip("ortools")
    graphs = [random_graph(seed, largest=20) for seed in range(300)]
    # Where bound and start agree no process is needed: take graphs where they do not.
    hard = [g for g in graphs if MVC.bound(g) < len(MVC.improve(g, np.arange(g.n)))]
    assert len(hard) >= 5
    assert any(g.looped.size for g in hard[:5])
    for graph in hard[:5]:
        result = solve_exactly(graph, time_limit=20)
        assert result.proven
        assert result.bound == len(result.nodes) == len(brute_force(MVC, graph))
        assert MVC.violation(graph, result.nodes) is None


@pytest.mark.parametrize(
    ("name", "optimum"), [("karate", 14), ("jazz", 158), ("email", 594), ("power", 2203)]
)
def test_proven_optimum_of_a_real_graph(shared_data, name, optimum):
    pytest.importorskip("ortools")
    from ogg_hpc.graphs.readers import read_graph

    graph = read_graph(shared_data / "mvc" / f"{name}.graph")
    result = solve_exactly(graph, time_limit=60)
    assert (len(result.nodes), result.bound, result.proven) == (optimum, optimum, True)
    assert MVC.violation(graph, result.nodes) is None


@pytest.mark.parametrize("kill_after", [2.0, -1.5])
def test_time_limit_leaves_a_cover_and_a_bound(monkeypatch, kill_after):
    pytest.importorskip("ortools")
    monkeypatch.setattr(exact, "_KILL_AFTER", kill_after)
    graph = Graph.from_networkx(nx.gnp_random_graph(400, 0.15, seed=1))
    started = time.monotonic()
    result = solve_exactly(graph, time_limit=2)
    assert time.monotonic() - started < 2 + 2 + 3
    assert not result.proven
    assert MVC.violation(graph, result.nodes) is None
    assert MVC.bound(graph) <= result.bound < len(result.nodes)


def test_limits_have_to_make_sense():
    graph = Graph.from_networkx(nx.complete_graph(5))
    with pytest.raises(SettingsError, match="time limit has to be positive, not 0 seconds"):
        solve_exactly(graph, time_limit=0)
    with pytest.raises(SettingsError, match="workers has to be positive, not 0"):
        solve_exactly(graph, time_limit=1, workers=0)


def test_missing_solver_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ortools", None)
    with pytest.raises(MissingExtraError, match=r"ogg-hpc\[solvers\]"):
        solve_exactly(Graph.from_networkx(nx.complete_graph(5)), time_limit=1)
