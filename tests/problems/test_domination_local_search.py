from itertools import islice

import networkx as nx
import numpy as np
import pytest

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.readers import read_graph
from ogg_hpc.problems.domination_local_search import _Search, search_dominating_sets
from ogg_hpc.problems.minimum_dominating_set import MinimumDominatingSet

MDS = MinimumDominatingSet()


@pytest.mark.parametrize("seed", range(12))
def test_optimum_of_small_graphs_is_found_from_all_nodes(seed):
    graph = Graph.from_networkx(nx.gnp_random_graph(20 + seed, 0.05 + 0.02 * seed, seed=seed))
    sizes = []
    for nodes in islice(search_dominating_sets(graph, np.arange(graph.n), seed), 2):
        assert MDS.violation(graph, nodes) is None
        sizes.append(len(nodes))
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == MDS.optimum(graph)


@pytest.mark.parametrize("exchanges", [1, 7, 60, 500, 3000])
def test_sums_kept_are_those_recomputed_from_the_sides_of_nodes(exchanges):
    graph = Graph.from_networkx(nx.gnp_random_graph(23, 0.15, seed=exchanges))
    search = _Search(graph, np.arange(graph.n), seed=5)
    assert search.advance(exchanges)
    closed = graph.to_scipy().toarray().astype(np.int64) + np.eye(graph.n, dtype=np.int64)
    inside = search.member_place >= 0
    times = closed @ inside
    assert set(search.members[: search.counts[1]]) == set(np.flatnonzero(inside))
    assert set(search.open_nodes[: search.counts[0]]) == set(np.flatnonzero(times == 0))
    assert (search.open_place >= 0).tolist() == (times == 0).tolist()
    assert search.dominators[:, 0].tolist() == times.tolist()
    assert search.dominators[:, 1].tolist() == (closed @ (inside * np.arange(graph.n))).tolist()
    opened, alone = search.weight * (times == 0), search.weight * (times == 1)
    assert search.gain.tolist() == np.where(inside, -(closed @ alone), closed @ opened).tolist()


def test_answers_depend_on_the_seed_alone():
    graph = Graph.from_networkx(nx.random_regular_graph(4, 300, seed=1))
    start = MDS.greedy(graph)

    def answers(seed):
        return [nodes.tolist() for nodes in islice(search_dominating_sets(graph, start, seed), 2)]

    assert answers(1) == answers(1) != answers(2)


def test_nodes_without_an_edge_stay():
    graph = Graph.from_edges(5, [0, 1], [1, 2])
    answers = islice(search_dominating_sets(graph, np.arange(5), 0), 2)
    assert [nodes.tolist() for nodes in answers] == [[1, 3, 4]] * 2


@pytest.mark.parametrize(("n", "smallest"), [(0, 0), (1, 1), (6, 1)])
def test_search_ends_where_no_node_can_be_spared(n, smallest):
    graph = Graph.from_networkx(nx.complete_graph(n))
    answers = list(search_dominating_sets(graph, np.arange(n), 0))
    assert [len(nodes) for nodes in answers] == [smallest]


@pytest.mark.parametrize(("name", "optimum"), [("karate", 4), ("jazz", 13), ("email", 210)])
def test_optimum_of_a_real_graph_is_found(shared_data, name, optimum):
    graph = read_graph(shared_data / "mvc" / f"{name}.graph")
    answers = islice(search_dominating_sets(graph, MDS.greedy(graph), 0), 60)
    assert any(len(nodes) == optimum for nodes in answers)


def test_other_questions_are_not_polished():
    class HalfPrice(MinimumDominatingSet):
        def objective(self, graph, nodes):
            return len(nodes) / 2

    graph = Graph.from_networkx(nx.path_graph(7))
    assert list(HalfPrice().polish(graph, np.arange(7), 0)) == []
    assert HalfPrice().binary_program(graph) is None
