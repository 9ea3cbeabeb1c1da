import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ogg_hpc
from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.complement import complement
from ogg_hpc.graphs.generators import erdos_renyi
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.clique_reductions import reduce_cliques
from ogg_hpc.problems.maximum_clique import MaximumClique

CLIQUE = MaximumClique()
NONE = np.empty(0, np.int64)


def clique_number(graph):
    plain = nx.from_scipy_sparse_array(graph.to_scipy())
    return max((len(clique) for clique in nx.find_cliques(plain)), default=0)


@given(st.integers(0, 2**32), st.integers(0, 30), st.sampled_from([0.1, 0.3, 0.5, 0.8, 0.95]))
@settings(max_examples=150)
@pytest.mark.parametrize("most_work", [0, 10, 100, 10**6])
def test_kernel_has_a_largest_clique_however_little_is_searched(most_work, seed, n, p):
    graph = erdos_renyi(n, p, seed)
    reduction = reduce_cliques(graph, most_work)
    largest = clique_number(graph)
    assert clique_number(reduction.kernel) + reduction.offset == largest
    assert CLIQUE.bound(reduction.kernel) + reduction.offset >= largest
    for nodes in (NONE, CLIQUE.greedy(reduction.kernel)):
        lifted = reduction.lift(nodes)
        assert CLIQUE.violation(graph, lifted) is None
        assert len(lifted) >= len(nodes) + reduction.offset
    if most_work == 10**6:
        assert (reduction.kernel.n, reduction.offset) == (0, largest)


def paley(q):
    """Return the graph of residues whose differences are squares, q a prime 1 modulo 4."""
    squares = {x * x % q for x in range(1, q)}
    return nx.Graph((u, v) for u in range(q) for v in range(u) if (u - v) % q in squares)


def test_larger_clique_of_the_kernel_is_lifted():
    # Degrees lead the greedy heuristic into the bipartite part.
    graph = nx.disjoint_union(nx.complete_bipartite_graph(9, 9), nx.complete_graph(6))
    graph.add_edges_from((0, v) for v in (18, 19))
    reduction = reduce_cliques(Graph.from_networkx(graph), most_work=0)
    assert reduction.offset == 0
    plain = nx.from_scipy_sparse_array(reduction.kernel.to_scipy())
    best = max(nx.find_cliques(plain), key=len)
    assert sorted(reduction.lift(np.array(best))) == list(range(18, 24))
    assert sorted(reduction.lift(NONE)) == [0, 18, 19]


@pytest.mark.parametrize(
    ("graph", "largest"),
    [
        (nx.empty_graph(0), 0),
        (nx.empty_graph(4), 1),
        (nx.cycle_graph(9), 2),
        (nx.grid_2d_graph(6, 6), 2),
        (nx.complete_graph(70), 70),
        (nx.turan_graph(140, 7), 7),
        (paley(29), 4),
        (paley(101), 5),
        (paley(109), 6),
        (paley(137), 7),
        (paley(173), 8),
        (nx.karate_club_graph(), 5),
        (nx.windmill_graph(5, 4), 4),
    ],
)
def test_known_graphs_are_solved(graph, largest):
    reduction = reduce_cliques(Graph.from_networkx(graph))
    assert (reduction.kernel.n, reduction.offset) == (0, largest)
    assert len(reduction.lift(NONE)) == largest


def test_clique_hidden_in_a_large_sparse_graph_is_proven_largest():
    n = 100_000
    graph = erdos_renyi(n, 10 / n, 3)
    hidden = np.arange(0, n, n // 12)[:12]
    u, v, _ = graph.edges()
    a, b = np.triu_indices(12, 1)
    graph = Graph.from_edges(n, np.r_[u, hidden[a]], np.r_[v, hidden[b]])
    solved = ogg_hpc.solve(graph, "clique")
    assert solved.nodes == hidden.tolist()
    assert (solved.record["bound"], solved.record["optimal"]) == (12, True)
    assert solved.record["reduced"]["nodes"] == 0
    with pytest.raises(SettingsError, match=r"takes 37\.2 GiB.*--policy greedy.*--no-reduce"):
        ogg_hpc.solve(graph, "clique", reduce=False)


def test_a_subclass_that_counts_otherwise_is_not_reduced():
    class Heavy(MaximumClique):
        def objective(self, graph, nodes):
            return float(graph.degrees[nodes].sum())

    graph = erdos_renyi(20, 0.5, 1)
    assert Heavy().reduce(graph) is None
    assert MaximumClique().reduce(graph) is not None


@pytest.mark.parametrize(
    ("file", "largest"),
    [("mvc/C125.9.clq", 34), ("mvc/brock200_2.clq", 12), ("socfb/socfb-Reed98.mtx", 16),
     ("socfb/socfb-American75.mtx", 40)],
)  # fmt: skip
def test_real_graphs_are_solved_to_the_optimum(shared_data, file, largest):
    record = ogg_hpc.solve(shared_data / file, "clique").record
    assert (record["objective"], record["bound"]) == (largest, largest)


def test_bound_of_a_kernel_is_one_of_the_whole_graph():
    # Too dense for the searches of a second to prove a clique the largest.
    graph = complement(erdos_renyi(450, 0.15, 1))
    record = ogg_hpc.solve(graph, "clique").record
    assert record["reduced"]["nodes"] > 0
    assert record["objective"] <= record["bound"] <= CLIQUE.bound(graph)
