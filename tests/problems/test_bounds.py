import math

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import maximum_bipartite_matching

from ogg_hpc.graphs.generators import barabasi_albert, erdos_renyi, watts_strogatz
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.bounds import double_cover_bound, matching_bound
from ogg_hpc.problems.exact import brute_force
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover


def relaxed_optimum(graph):
    """Minimum of sum x subject to x_u + x_v >= 1, x_v = 1 for a loop, 0 <= x <= 1."""
    highspy = pytest.importorskip("highspy")
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    for v in range(graph.n):
        solver.addVar(1.0 if v in graph.looped else 0.0, 1.0)
        solver.changeColCost(v, 1.0)
    for u, v in zip(*graph.edges()[:2], strict=True):
        solver.addRow(1.0, highspy.kHighsInf, 2, np.array([u, v], np.int32), np.ones(2))
    solver.run()
    return solver.getObjectiveValue()


@given(st.integers(0, 2**32 - 1))
def test_bounds_are_below_the_optimum(random_graph, seed):
    graph = random_graph(seed)
    optimum = len(brute_force(MinimumVertexCover(), graph))
    assert matching_bound(graph) <= double_cover_bound(graph) <= optimum
    assert 2 * matching_bound(graph) >= optimum


@given(st.integers(0, 2**32 - 1))
def test_double_cover_is_the_linear_relaxation(random_graph, seed):
    graph = random_graph(seed, largest=30)
    assert double_cover_bound(graph) == math.ceil(relaxed_optimum(graph) - 1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_the_matching_is_as_large_as_scipys(seed):
    for graph in (
        erdos_renyi(400, 0.003 * (seed + 1), seed),
        barabasi_albert(300, 1 + seed, seed),
        watts_strogatz(301, 2, 0.1 * seed, seed),
    ):
        matrix = scipy.sparse.csr_array(graph.to_scipy())
        matched = np.count_nonzero(maximum_bipartite_matching(matrix) >= 0)
        assert double_cover_bound(graph) == (matched + 1) // 2


def test_values_worked_by_hand():
    triangles = Graph.from_networkx(nx.disjoint_union_all([nx.complete_graph(3)] * 3))
    assert matching_bound(triangles) == 3
    assert double_cover_bound(triangles) == 5  # 9 nodes of one half each, rounded up
    bipartite = Graph.from_networkx(nx.complete_bipartite_graph(4, 6))
    assert matching_bound(bipartite) == double_cover_bound(bipartite) == 4


def test_real_graph(shared_data):
    from ogg_hpc.graphs.readers import read_graph

    graph = read_graph(shared_data / "socfb" / "socfb-Vanderbilt48.mtx")
    assert (matching_bound(graph), double_cover_bound(graph)) == (4032, 4033)
