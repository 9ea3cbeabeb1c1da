import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.embedding.evaluation.split import split_edges
from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.graph import Graph


def random_graph(seed, directed, weighted=True):
    rng = np.random.default_rng(seed)
    n, m = 30, 80
    u, v = rng.integers(n, size=m), rng.integers(n, size=m)
    weights = (u * 7 + v * 7) % 11 + 1.0 if weighted else None
    labels = np.array([f"node {i}" for i in range(n)])
    return Graph.from_edges(n, u, v, weights, labels=labels, directed=directed)


def edges_of(graph):
    u, v, weights = graph.edges()
    weights = np.ones(len(u)) if weights is None else weights
    return set(zip(u.tolist(), v.tolist(), weights.tolist(), strict=True))


@given(
    seed=st.integers(0, 1000),
    fraction=st.floats(0.05, 0.9),
    directed=st.booleans(),
    weighted=st.booleans(),
)
def test_parts_share_out_the_edges_and_keep_all_nodes(seed, fraction, directed, weighted):
    graph = random_graph(seed, directed, weighted)
    train, held_out = split_edges(graph, fraction, seed)
    assert edges_of(train) | edges_of(held_out) == edges_of(graph)
    assert train.m + held_out.m == graph.m
    assert held_out.m == round(fraction * graph.m)
    for part in (train, held_out):
        assert part.directed == directed
        assert part.n == graph.n
        assert part.labels.tolist() == graph.labels.tolist()


def test_the_seed_decides_which_edges_are_held_out():
    graph = random_graph(0, directed=True)
    held = [edges_of(split_edges(graph, 0.3, seed).held_out) for seed in (1, 1, 2)]
    assert held[0] == held[1] != held[2]


@given(seed=st.integers(0, 1000), directed=st.booleans())
def test_a_connected_split_keeps_the_components(seed, directed):
    graph = random_graph(seed, directed)
    train, _ = split_edges(graph, 0.2, seed, connected=True)

    def components(graph):
        plain = nx.Graph()
        plain.add_nodes_from(range(graph.n))
        plain.add_edges_from((u, v) for u, v, _ in edges_of(graph))
        return {frozenset(part) for part in nx.connected_components(plain)}

    assert components(train) == components(graph)


def test_a_forest_cannot_be_held_out():
    path = Graph.from_edges(5, [0, 1, 2, 3, 0], [1, 2, 3, 4, 4])
    assert split_edges(path, 0.2, 0, connected=True).held_out.m == 1
    with pytest.raises(SettingsError, match=r"only 1 lie outside .* at most 0\.2"):
        split_edges(path, 0.4, 0, connected=True)


@pytest.mark.parametrize("fraction", [0, 1, -0.5, 0.01, 0.99])
def test_some_edges_are_held_out_and_some_stay(fraction):
    with pytest.raises(SettingsError, match="fraction"):
        split_edges(Graph.from_edges(3, [0, 1], [1, 2]), fraction, 0)
