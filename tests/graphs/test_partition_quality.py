import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.graphs.generators import erdos_renyi
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.partition_quality import partition_quality
from ogg_hpc.graphs.reordering import reorder
from ogg_hpc.graphs.row_block import partition_rows

BALANCE = st.sampled_from(["rows", "edges"])


def by_hand(graph, partition):
    """The same numbers by sets, edge by edge."""
    owner = [r for r in range(partition.size) for _ in range(*partition.range(r))]
    halos = [set() for _ in range(partition.size)]
    cut = 0
    for u in range(graph.n):
        for v in graph.neighbours(u).tolist():
            if owner[u] != owner[v]:
                halos[owner[u]].add(v)
                cut += 1
    return [len(halo) for halo in halos], cut if graph.directed else cut // 2


@given(
    st.integers(0, 2**32),
    st.integers(0, 30),
    st.sampled_from([0.05, 0.3]),
    st.integers(1, 7),
    BALANCE,
    st.booleans(),
)
def test_halos_and_cuts_are_those_counted_by_hand(seed, n, p, size, balance, directed):
    graph = erdos_renyi(n, p, seed)
    if directed:
        sources, targets, _ = graph.edges()
        graph = Graph.from_edges(n, targets, sources, directed=True)
    partition = partition_rows(graph.degrees, size, balance)
    quality = partition_quality(graph, partition)
    halos, cut = by_hand(graph, partition)
    assert quality.halo.tolist() == halos
    assert quality.cut_edges == cut
    owned = [graph.degrees[slice(*partition.range(rank))].sum() for rank in range(size)]
    assert quality.entries.tolist() == owned
    assert quality.rows.tolist() == partition.counts.tolist()


def test_a_known_graph():
    # Two triangles joined by an edge, and an isolated node with the second.
    graph = nx.disjoint_union(nx.complete_graph(3), nx.complete_graph(3))
    graph.add_edge(2, 3)
    graph.add_node(6)
    given = Graph.from_networkx(graph)
    quality = partition_quality(given, partition_rows(given.degrees, 2, "rows"))
    assert quality.record() == {
        "halo_max": 2,
        "halo_mean": 1.5,
        "cut_edges": 2,
        "row_imbalance": pytest.approx(8 / 7),
        "entry_imbalance": pytest.approx(10 / 7),
        "rows": [4, 3],
        "entries": [10, 4],
        "halo": [2, 1],
    }


def test_one_rank_needs_nobody():
    graph = erdos_renyi(20, 0.3, 1)
    quality = partition_quality(graph, partition_rows(graph.degrees, 1, "rows"))
    assert (quality.halo.tolist(), quality.cut_edges) == ([0], 0)
    assert (quality.summary()["row_imbalance"], quality.summary()["entry_imbalance"]) == (1, 1)


def test_an_empty_graph_is_balanced():
    empty = Graph(np.zeros(1, np.int64), np.empty(0, np.int32))
    summary = partition_quality(empty, partition_rows(empty.degrees, 3, "edges")).summary()
    assert (summary["row_imbalance"], summary["entry_imbalance"], summary["halo_max"]) == (1, 1, 0)


@given(st.integers(0, 2**32), st.integers(1, 5), BALANCE, st.sampled_from(["degree", "rcm"]))
def test_a_reordering_tells_of_the_old_graph_and_of_the_new(seed, ranks, balance, by):
    graph = erdos_renyi(25, 0.2, seed)
    new = reorder(graph, by, ranks, balance)
    assert new.graph.labels.tolist() == new.order.tolist()
    for each, quality in ((graph, new.before), (new.graph, new.after)):
        halos, cut = by_hand(each, partition_rows(each.degrees, ranks, balance))
        assert (quality.halo.tolist(), quality.cut_edges) == (halos, cut)
