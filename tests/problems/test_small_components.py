import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.induced import induced_subgraph
from ogg_hpc.problems.exact import brute_force
from ogg_hpc.problems.independence import heaviest_independent_set
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.problems.minimum_weight_vertex_cover import MinimumWeightVertexCover
from ogg_hpc.problems.problem import Reduction
from ogg_hpc.problems.small_components import MOST_NODES, cover_small_components

MVC, MWVC = MinimumVertexCover(), MinimumWeightVertexCover()


def unreduced(graph):
    return Reduction(graph, 0, lambda nodes: nodes)


@st.composite
def forests_of_parts(draw):
    """Graphs of several parts, with weights of nodes or without."""
    n = draw(st.integers(0, 13))
    pairs = draw(st.lists(st.tuples(st.integers(0, n), st.integers(1, 3)), max_size=2 * n))
    edges = [(u, u + step) for u, step in pairs if u + step < n]
    graph = Graph.from_edges(n, [u for u, _ in edges], [v for _, v in edges])
    weights = draw(st.none() | st.lists(st.integers(1, 9), min_size=n, max_size=n))
    return graph.with_node_weights(weights)


@given(forests_of_parts())
@settings(max_examples=200)
def test_small_components_are_covered_at_least_weight(graph):
    problem = MVC if graph.node_weights is None else MWVC
    reduction = cover_small_components(unreduced(graph))
    assert reduction.kernel.n == 0
    cover = reduction.lift(np.empty(0, np.int64))
    assert problem.violation(graph, cover) is None
    least = problem.objective(graph, brute_force(problem, graph))
    assert problem.objective(graph, cover) == reduction.offset == least


def test_large_component_stays_and_its_cover_is_lifted_with_the_others():
    large = nx.random_regular_graph(5, MOST_NODES + 2, seed=1)
    graph = nx.disjoint_union_all([nx.petersen_graph(), large, nx.complete_graph(4)])
    graph = Graph.from_networkx(graph)
    reduction = cover_small_components(unreduced(graph))
    assert nx.utils.graphs_equal(
        nx.from_edgelist(np.transpose(reduction.kernel.edges()[:2]).tolist()), large
    )
    assert reduction.offset == 6 + 3
    cover = MVC.greedy(reduction.kernel)
    lifted = reduction.lift(cover)
    assert MVC.violation(graph, lifted) is None
    assert len(lifted) == len(cover) + 9
    again = cover_small_components(reduction)
    assert again is reduction


@given(forests_of_parts())
@settings(max_examples=100)
def test_heaviest_independent_set_is_one(graph):
    problem = MVC if graph.node_weights is None else MWVC
    inside = heaviest_independent_set(graph)
    outside = np.setdiff1d(np.arange(graph.n), inside)
    assert problem.violation(graph, outside) is None
    least = problem.objective(graph, brute_force(problem, graph))
    assert problem.objective(graph, outside) == least


@pytest.mark.parametrize("seed", range(5))
def test_induced_subgraph_is_the_one_of_networkx(seed):
    whole = nx.gnp_random_graph(30, 0.2, seed=seed)
    nodes = np.flatnonzero(np.random.default_rng(seed).random(30) < 0.5)
    weights = np.arange(1.0, 31.0)
    part = induced_subgraph(Graph.from_networkx(whole).with_node_weights(weights), nodes)
    expected = nx.convert_node_labels_to_integers(whole.subgraph(nodes), ordering="sorted")
    assert part.n == len(nodes)
    assert {tuple(e) for e in np.transpose(part.edges()[:2]).tolist()} == set(expected.edges)
    assert part.node_weights.tolist() == (nodes + 1.0).tolist()
