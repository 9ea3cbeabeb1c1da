"""Small graphs with weights of nodes, drawn by Hypothesis."""

import numpy as np
from hypothesis import strategies as st

from ogg_hpc.graphs.graph import Graph

WHOLE = st.integers(1, 12)
ANY = st.floats(1e-3, 1e3)


@st.composite
def weighted_graphs(draw, weights=WHOLE, largest=11):
    """Graphs of few edges, where reductions meet one another, some with self loops."""
    n = draw(st.integers(1, largest))
    node = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=3 * n))
    graph = Graph.from_edges(n, [u for u, _ in edges], [v for _, v in edges])
    return graph.with_node_weights(draw(st.lists(weights, min_size=n, max_size=n)))


def random_weighted_graph(seed, n, mean_degree, least=1, most=100):
    generator = np.random.default_rng(seed)
    graph = Graph.from_edges(n, *generator.integers(0, n, (2, n * mean_degree // 2)))
    return graph.with_node_weights(generator.integers(least, most + 1, n))
