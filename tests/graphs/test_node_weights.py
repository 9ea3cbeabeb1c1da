"""Weights of nodes, from where they come in to where they are kept."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.graph import Graph


def test_networkx_attribute_counts_1_where_it_is_missing():
    path = nx.path_graph(["a", "b", "c"])
    assert Graph.from_networkx(path).node_weights is None
    path.nodes["b"]["weight"] = 3
    assert Graph.from_networkx(path).node_weights.tolist() == [1, 3, 1]
    path.nodes["c"]["cost"] = 0.5
    assert Graph.from_networkx(path, weight="cost").node_weights.tolist() == [1, 1, 0.5]


@pytest.mark.parametrize(("value", "words"), [(0, "has weight 0"), ("heavy", "heavy")])
def test_networkx_attributes_that_are_no_weights_are_a_warning(value, words):
    path = nx.path_graph(3)
    path.nodes[1]["weight"] = value
    graph = Graph.from_networkx(path)
    assert graph.node_weights is None
    assert words in graph.unread_node_weights
    assert graph.warnings == (f"weights of nodes are not read: {graph.unread_node_weights}",)


def test_scipy_matrix_takes_them_apart():
    matrix = scipy.sparse.csr_array(np.array([[0, 1], [1, 0]]))
    assert Graph.from_scipy(matrix).node_weights is None
    assert Graph.from_scipy(matrix, [3, 4]).node_weights.tolist() == [3, 4]


def test_they_stay_where_directions_and_edge_weights_go():
    graph = Graph.from_edges(3, [0, 1], [1, 2], [2, 3], directed=True).with_node_weights([5, 6, 7])
    for kept in (graph.to_undirected(), graph.unweighted(), graph.to_undirected().unweighted()):
        assert kept.node_weights.tolist() == [5, 6, 7]
    assert graph.with_node_weights(None).node_weights is None


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1, 2], r"shape \(2,\)"),
        ([1, 0, 2], "node 20 has weight 0; expected a positive finite number"),
        ([1, 2, -3], "node 30 has weight -3"),
        ([np.nan, 2, 3], "node 10 has weight nan"),
        ([1, 2, np.inf], "node 30 has weight inf"),
    ],
)
def test_what_is_no_weight_is_refused(weights, words):
    graph = Graph.from_edges(3, [0], [1], labels=np.array([10, 20, 30]))
    with pytest.raises(SettingsError, match=words):
        graph.with_node_weights(weights)
