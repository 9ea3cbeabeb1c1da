import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems import exact
from ogg_hpc.problems.exact import brute_force
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
