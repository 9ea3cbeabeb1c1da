from itertools import islice

import networkx as nx
import numpy as np
import pytest

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.cover_local_search import CoverSearch, search_covers
from ogg_hpc.problems.graph_input import read_undirected
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover

MVC = MinimumVertexCover()


@pytest.mark.parametrize("seed", range(12))
def test_optimum_of_small_graphs_is_found_from_all_nodes(seed):
    graph = Graph.from_networkx(nx.gnp_random_graph(20 + seed, 0.1 + 0.03 * seed, seed=seed))
    sizes = []
    for cover in islice(search_covers(graph, np.arange(graph.n), seed), 4):
        assert MVC.violation(graph, cover) is None
        sizes.append(len(cover))
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == MVC.optimum(graph)


@pytest.mark.parametrize("exchanges", [1, 7, 60, 500, 3000])
def test_sums_kept_are_those_recomputed_from_the_sides_of_nodes(exchanges):
    # Thirteen nodes forget weights every few hundred exchanges.
    graph = Graph.from_networkx(nx.gnp_random_graph(13, 0.5, seed=exchanges))
    search = CoverSearch(graph, np.arange(graph.n), seed=5)
    assert search.advance(exchanges)
    sources, targets = search.ends.T
    assert (sources < targets).all()
    for entry, (u, v) in enumerate(zip(graph.rows, graph.columns, strict=True)):
        assert set(search.ends[search.edge_of[entry]]) == {u, v}
    inside = search.in_cover
    both, open_edge = inside[sources] & inside[targets], ~(inside[sources] | inside[targets])
    assert set(search.open_edges[: search.counts[0]]) == set(np.flatnonzero(open_edge))
    assert set(search.members[: search.counts[1]]) == set(np.flatnonzero(inside))
    gain = np.zeros(graph.n, np.int64)
    for ends, others in ((sources, targets), (targets, sources)):
        np.add.at(gain, ends[open_edge], search.weight[open_edge])
        alone = ~both & inside[ends] & ~inside[others]
        np.add.at(gain, ends[alone], -search.weight[alone])
    assert gain.tolist() == search.gain.tolist()
    assert search.counts[3] == search.weight.sum()
    assert search.weight.mean() <= 0.5 * graph.n


def test_answers_depend_on_the_seed_alone():
    graph = Graph.from_networkx(nx.random_regular_graph(6, 200, seed=1))
    start = MVC.greedy(graph)

    def answers(seed):
        return [cover.tolist() for cover in islice(search_covers(graph, start, seed), 2)]

    assert answers(1) == answers(1) != answers(2)


def test_nodes_with_a_self_loop_stay_in_the_cover():
    graph = Graph.from_edges(4, [0, 0, 1, 2], [0, 1, 2, 3])
    cover = next(search_covers(graph, np.arange(4), 0))
    assert len(cover) == 2
    assert 0 in cover


@pytest.mark.parametrize("n", [0, 1, 5])
def test_search_ends_where_no_node_can_be_spared(n):
    graph = Graph.from_edges(n, [], [])
    assert [cover.tolist() for cover in search_covers(graph, np.arange(n), 0)] == [[]]


def test_known_hard_graph_is_solved(shared_data):
    graph = read_undirected(str(shared_data / "mvc" / "frb30-15-1.mis"), None, False)
    covers = islice(search_covers(graph, MVC.greedy(graph), 0), 100)
    assert any(len(cover) == 420 for cover in covers)
