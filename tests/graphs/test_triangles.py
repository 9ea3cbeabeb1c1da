import networkx as nx
import numpy as np
import pytest

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.triangles import triangles


@pytest.mark.parametrize("seed", range(20))
def test_triangles_are_those_of_networkx(seed):
    graph = Graph.from_networkx(nx.gnp_random_graph(seed + 2, 0.4, seed=seed))
    u, v, _ = graph.edges()
    found = triangles(graph, 1000)
    corners = [set(u[edges]) | set(v[edges]) for edges in found]
    cliques = nx.enumerate_all_cliques(nx.gnp_random_graph(seed + 2, 0.4, seed=seed))
    expected = [set(clique) for clique in cliques if len(clique) == 3]
    assert sorted(map(sorted, corners)) == sorted(map(sorted, expected))


def test_triangles_around_a_hub_are_listed_once():
    windmill = Graph.from_networkx(nx.windmill_graph(50, 3))
    assert len(np.unique(triangles(windmill, 1000))) == windmill.m == 150


def test_no_more_are_listed_than_asked_for():
    complete = Graph.from_networkx(nx.complete_graph(8))
    assert len(triangles(complete, 56)) == len(triangles(complete, 99)) == 56
    assert triangles(complete, 5).tolist() == triangles(complete, 99)[:5].tolist()
    assert triangles(Graph.from_networkx(nx.empty_graph(0)), 5).shape == (0, 3)
