import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.graphs.generators import erdos_renyi
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.smallest_last import smallest_last


@given(st.integers(0, 2**32), st.integers(0, 40), st.sampled_from([0.05, 0.2, 0.6]))
def test_core_numbers_are_those_of_networkx(seed, n, p):
    graph = erdos_renyi(n, p, seed)
    order, core_numbers = smallest_last(graph)
    assert sorted(order) == list(range(n))
    known = nx.core_number(nx.from_scipy_sparse_array(graph.to_scipy()))
    assert core_numbers.tolist() == [known[v] for v in order]
    assert (np.diff(core_numbers) <= 0).all()


@given(st.integers(0, 2**32))
def test_each_node_has_the_least_degree_among_those_before_it(seed):
    graph = erdos_renyi(25, 0.3, seed)
    order, _ = smallest_last(graph)
    dense = graph.to_scipy().toarray() > 0
    for i in range(1, 26):
        degrees = dense[np.ix_(order[:i], order[:i])].sum(axis=0)
        ids = order[:i][degrees == degrees.min()]
        assert order[i - 1] == ids.min()


def test_degeneracy_of_known_graphs():
    for graph, degeneracy in (
        (nx.star_graph(6), 1),
        (nx.grid_2d_graph(5, 5), 2),
        (nx.complete_graph(6), 5),
        (nx.petersen_graph(), 3),
    ):
        _, core_numbers = smallest_last(Graph.from_networkx(graph))
        assert core_numbers.max() == degeneracy
