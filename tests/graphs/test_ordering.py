import sys
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.errors import MissingExtraError, SettingsError
from ogg_hpc.graphs.generators import erdos_renyi, watts_strogatz
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.ordering import ORDERS, breadth_first, check_order, node_order
from ogg_hpc.graphs.partition import RowPartition
from ogg_hpc.graphs.partition_quality import partition_quality
from ogg_hpc.graphs.renumbering import inverse, renumbered


def scrambled(graph: Graph, seed: int = 1) -> Graph:
    """Return a graph whose ids say nothing, without labels."""
    order = np.random.default_rng(seed).permutation(graph.n)
    return replace(renumbered(graph, order), labels=None)


@st.composite
def graphs(draw):
    """Directed or not, with or without weights, labels, weights of nodes and loops."""
    n = draw(st.integers(1, 12))
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    directed = draw(st.booleans())
    edges = draw(st.lists(pair, max_size=40, unique_by=lambda e: e if directed else frozenset(e)))
    weights = draw(st.none() | st.just([1.5 * i - 4 for i in range(len(edges))]))
    labels = draw(
        st.sampled_from([None, 100 + np.arange(n), np.array([f"v{i}" for i in range(n)])])
    )
    graph = Graph.from_edges(
        n,
        [u for u, _ in edges],
        [v for _, v in edges],
        weights,
        labels=labels,
        directed=directed,
    )
    return graph.with_node_weights(draw(st.none() | st.just(np.arange(1.0, n + 1))))


def described(graph: Graph):
    """Return all that a graph says, in its labels."""
    sources, targets, weights = graph.edges()
    ends = zip(graph.labels_of(sources), graph.labels_of(targets), strict=True)
    pairs = [pair if graph.directed else frozenset(pair) for pair in ends]
    names = graph.labels_of(np.arange(graph.n))
    return {
        "edges": dict(zip(pairs, [None] * graph.m if weights is None else weights, strict=True)),
        "nodes": dict(
            zip(
                names,
                graph.degrees if graph.node_weights is None else graph.node_weights,
                strict=True,
            )
        ),
        "looped": set(graph.labels_of(graph.looped)),
        "counts": (graph.directed, graph.self_loops, graph.duplicates, graph.warnings),
    }


@given(graphs(), st.data())
def test_a_renumbered_graph_is_the_same_by_its_labels(graph, data):
    order = np.array(data.draw(st.permutations(range(graph.n))), np.int64)
    new = renumbered(graph, order)
    assert described(new) == described(graph)
    assert new.labels_of(np.arange(graph.n)) == graph.labels_of(order)
    assert (np.diff(new.looped) > 0).all()
    assert new.columns.dtype == graph.columns.dtype
    for node in range(graph.n):
        assert (np.diff(new.neighbours(node)) > 0).all()


@given(graphs(), st.data())
def test_the_inverse_order_leads_back(graph, data):
    order = np.array(data.draw(st.permutations(range(graph.n))), np.int64)
    back = renumbered(renumbered(graph, order), inverse(order))
    for old, new in (
        (graph.row_offsets, back.row_offsets),
        (graph.columns, back.columns),
        (graph.weights, back.weights),
        (graph.node_weights, back.node_weights),
        (graph.looped, back.looped),
    ):
        np.testing.assert_array_equal(old, new)


@pytest.mark.parametrize("by", ORDERS)
@given(graph=graphs(), parts=st.integers(1, 5), balance=st.sampled_from(["rows", "edges"]))
def test_every_order_is_a_permutation_and_found_again(by, graph, parts, balance):
    order = node_order(graph, by, parts, balance)
    assert order.dtype == np.int64
    assert sorted(order) == list(range(graph.n))
    np.testing.assert_array_equal(order, node_order(graph, by, parts, balance))


@given(graphs())
def test_degrees_descend_and_ties_go_to_the_lowest_id(graph):
    order = node_order(graph, "degree")
    assert order.tolist() == sorted(range(graph.n), key=lambda v: (-graph.degrees[v], v))


@given(st.integers(0, 2**32), st.integers(1, 30), st.sampled_from([0.03, 0.1, 0.4]))
def test_breadth_first_order_is_that_of_networkx(seed, n, p):
    graph = erdos_renyi(n, p, seed)
    known = nx.from_scipy_sparse_array(graph.to_scipy())
    expected = []
    for component in sorted(nx.connected_components(known), key=min):
        start = min(component)
        found = nx.bfs_edges(known, start, sort_neighbors=sorted)
        expected += [start, *(v for _, v in found)]
    assert breadth_first(graph).tolist() == expected


@given(st.integers(0, 2**32), st.integers(1, 30), st.sampled_from([0.03, 0.1, 0.4]))
def test_reverse_cuthill_mckee_is_that_of_networkx_from_nodes_of_least_degree(seed, n, p):
    graph = erdos_renyi(n, p, seed)
    known = nx.from_scipy_sparse_array(graph.to_scipy())

    def key(v):
        return graph.degrees[v], v

    expected = []
    for component in sorted(nx.connected_components(known), key=lambda c: min(map(key, c))):
        start = min(component, key=key)
        found = nx.bfs_edges(known, start, sort_neighbors=lambda nodes: sorted(nodes, key=key))
        expected += [start, *(v for _, v in found)]
    assert node_order(graph, "rcm").tolist() == expected[::-1]


def test_reverse_cuthill_mckee_finds_the_band_of_a_scrambled_grid():
    grid = Graph.from_networkx(nx.convert_node_labels_to_integers(nx.grid_2d_graph(7, 40)))
    shuffled = scrambled(grid)
    new = renumbered(shuffled, node_order(shuffled, "rcm"))

    def bandwidth(graph):
        return int(np.abs(graph.rows - graph.columns).max())

    assert bandwidth(shuffled) > 100
    assert bandwidth(new) <= 8  # the narrow side, and one


def test_metis_puts_one_cluster_in_each_part():
    cliques = scrambled(Graph.from_networkx(nx.connected_caveman_graph(4, 20)))
    order = node_order(cliques, "metis", 4)
    new = renumbered(cliques, order)
    quality = partition_quality(new, RowPartition.by_rows(new.n, 4))
    assert quality.cut_edges == 4
    assert quality.halo.tolist() == [2, 2, 2, 2]


@pytest.mark.parametrize("by", ["bfs", "rcm", "metis"])
def test_a_scrambled_ring_gets_small_halos(by):
    ring = scrambled(watts_strogatz(2000, 6, 0.0, 1))
    parts = RowPartition.by_rows(ring.n, 4)
    new = renumbered(ring, node_order(ring, by, 4))
    assert partition_quality(ring, parts).halo.max() > 1000
    assert partition_quality(new, parts).halo.max() <= 24


def test_parts_of_equal_entries_are_asked_of_metis_as_they_are_cut():
    star = nx.disjoint_union_all([nx.star_graph(60), nx.cycle_graph(60), nx.path_graph(70)])
    graph = scrambled(Graph.from_networkx(star))
    new = renumbered(graph, node_order(graph, "metis", 3, "edges"))
    quality = partition_quality(new, RowPartition.by_edges(new.degrees, 3))
    assert quality.entries.max() < 1.15 * quality.entries.mean()


def test_arcs_count_as_edges():
    arcs = Graph.from_edges(4, [3, 2, 1], [2, 1, 0], [5.0, 6.0, 7.0], directed=True)
    assert node_order(arcs, "bfs").tolist() == [0, 1, 2, 3]
    assert node_order(arcs, "rcm").tolist() == [3, 2, 1, 0]


@pytest.mark.parametrize("by", ORDERS)
def test_graphs_without_nodes_or_edges_have_orders(by):
    for n in (0, 3):
        graph = Graph(np.zeros(n + 1, np.int64), np.empty(0, np.int32))
        assert node_order(graph, by, 2).tolist() in (list(range(n)), list(range(n))[::-1])


def test_an_unknown_order_is_refused():
    with pytest.raises(SettingsError, match="order 'size' is unknown; use one of degree, bfs, rcm"):
        check_order("size")


def test_a_missing_metis_is_told_before_anything_is_read(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymetis", None)
    check_order("rcm")
    with pytest.raises(MissingExtraError, match=r"pip install 'ogg-hpc\[metis\]'"):
        check_order("metis")
