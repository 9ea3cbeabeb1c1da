"""Random weights of nodes and signs of edges."""

from __future__ import annotations

import numpy as np

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.runtime.random import hash64, integers, stream


def with_random_node_weights(graph: Graph, lightest: int, heaviest: int, seed: int) -> Graph:
    """Return a graph with whole weights of its nodes, drawn evenly.

    Parameters
    ----------
    graph
        The graph; it is returned as it is where `heaviest` is 0 and `lightest` 1, the defaults.
    lightest, heaviest
        Least and largest weight.
    seed
        Any integer; that of the graph will do, for the stream is another.

    Raises
    ------
    SettingsError
        No positive weights.
    """
    if (lightest, heaviest) == (1, 0):
        return graph
    if not 0 < lightest <= heaviest:
        raise SettingsError(
            f"node weights are drawn from lightest >= 1 to heaviest, not {lightest} to {heaviest}"
        )
    drawn = integers(heaviest - lightest + 1, seed, stream("node weights"), np.arange(graph.n))
    return graph.with_node_weights(lightest + drawn)


def with_random_signs(graph: Graph, seed: int) -> Graph:
    """Return an undirected graph with weights: 1 or -1 for each edge, as in a spin glass.

    Parameters
    ----------
    graph
        Its own weights do not matter.
    seed
        Any integer; an edge's sign is a function of it and of the ends alone.
    """
    u, v, _ = graph.edges()
    negative = hash64(seed, stream("random-signs"), u, v) & np.uint64(1)
    return Graph.from_edges(graph.n, u, v, 1.0 - 2.0 * negative)
