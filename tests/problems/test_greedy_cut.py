import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.greedy_cut import sg3
from ogg_hpc.problems.maximum_cut import MaximumCut

CUT = MaximumCut()


def plain_sg3(graph):
    weights, sides = graph.to_scipy().toarray(), np.zeros(graph.n)
    for _ in range(graph.n):
        difference = weights @ sides
        v = max(np.flatnonzero(sides == 0), key=lambda v: (abs(difference[v]), -v))
        sides[v] = -1 if difference[v] > 0 else 1
    return np.flatnonzero(sides < 0)


@given(st.integers(0, 2**32 - 1))
def test_equals_the_plain_reference(random_graph, seed):
    graph = random_graph(seed, largest=25)
    sources, targets, _ = graph.edges()
    weights = np.random.default_rng(seed).integers(-3, 4, len(sources))
    weighted = Graph.from_edges(graph.n, sources, targets, weights)
    for each in (graph, weighted):
        assert np.sort(sg3(each)).tolist() == plain_sg3(each).tolist()


def test_orders_worked_by_hand():
    assert sg3(Graph.from_networkx(nx.path_graph(5))).tolist() == [1, 3]
    assert sg3(Graph.from_networkx(nx.complete_graph(4))).tolist() == [1, 3]
    assert sg3(Graph.from_networkx(nx.empty_graph(3))).tolist() == []
    negative = Graph.from_edges(3, [0, 0], [1, 2], [-1, 2])
    assert sg3(negative).tolist() == [2]


@pytest.mark.parametrize(
    ("name", "value"),
    [("G14", 2989), ("G22", 13070), ("G32", 1338), ("G39", 2215), ("G43", 6531), ("G55", 9912)],
)
def test_real_graph(shared_data, name, value):
    from ogg_hpc.graphs.readers import read_graph

    graph = read_graph(shared_data / "gset" / f"{name}.txt")
    assert CUT.objective(graph, CUT.greedy(graph)) == value
