"""What problems whose solutions are sets of nodes have in common."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph


def not_a_set(graph: Graph, nodes: NDArray[np.int64], what: str) -> str | None:
    """Name an id that is no node of the graph, or a node given twice; None without any.

    Parameters
    ----------
    graph
        The graph.
    nodes
        (k,) int64 ids.
    what
        What the nodes are to be, such as ``the cover``.
    """
    outside = nodes[(nodes < 0) | (nodes >= graph.n)]
    if outside.size:
        return f"node id {outside[0]} is outside 0 … {graph.n - 1}"
    repeated = np.flatnonzero(np.bincount(nodes, minlength=graph.n) > 1)
    if repeated.size:
        return f"node {graph.labels_of(repeated[:1])[0]} is in {what} more than once"
    return None


def mask_of(graph: Graph, nodes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return the (n,) mask of a set of nodes."""
    mask = np.zeros(graph.n, dtype=np.bool_)
    mask[nodes] = True
    return mask


def others(graph: Graph, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sorted ids of all nodes that are not in a set."""
    return np.flatnonzero(~mask_of(graph, nodes))
