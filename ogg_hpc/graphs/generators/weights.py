"""Random weights of nodes and signs of edges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
    return graph.with_node_weights(random_node_weights(0, graph.n, lightest, heaviest, seed))


def random_node_weights(
    lo: int, hi: int, lightest: int, heaviest: int, seed: int
) -> NDArray[np.float64] | None:
    """Return the weights of nodes lo … hi - 1; parameters as for `with_random_node_weights`."""
    if (lightest, heaviest) == (1, 0):
        return None
    if not 0 < lightest <= heaviest:
        raise SettingsError(
            f"node weights are drawn from lightest >= 1 to heaviest, not {lightest} to {heaviest}"
        )
    drawn = integers(heaviest - lightest + 1, seed, stream("node weights"), np.arange(lo, hi))
    return (lightest + drawn).astype(np.float64)


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
