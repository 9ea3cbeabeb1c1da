"""Removal of redundant nodes from a vertex cover."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph


def without_redundant_nodes(graph: Graph, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a minimal vertex cover inside a given one.

    A node is redundant when all its neighbours are in the cover and it has no self loop. One
    pass suffices, since a removal never makes another node redundant. Nodes of small degree
    go first, in a graph with weights of nodes the heaviest before that; equal ones by id.

    Parameters
    ----------
    graph
        An undirected graph.
    nodes
        (k,) ids of a cover.

    Returns
    -------
    (j,) int64
        The nodes that stay, in the order given.
    """
    nodes = np.asarray(nodes, dtype=np.int64)
    in_cover = np.zeros(graph.n, dtype=np.bool_)
    in_cover[nodes] = True
    removable = in_cover.copy()
    removable[graph.looped] = False
    order = np.flatnonzero(removable)
    order = order[np.argsort(graph.degrees[order], kind="stable")]
    if graph.node_weights is not None:
        order = order[np.argsort(-graph.node_weights[order], kind="stable")]
    _remove(graph.row_offsets, graph.columns, order, in_cover)
    return nodes[in_cover[nodes]]


@njit(cache=True)
def _remove(
    row_offsets: NDArray[np.int64],
    columns: NDArray[Any],
    order: NDArray[np.int64],
    in_cover: NDArray[np.bool_],
) -> None:
    for v in order:
        redundant = True
        for entry in range(row_offsets[v], row_offsets[v + 1]):
            if not in_cover[columns[entry]]:
                redundant = False
                break
        if redundant:
            in_cover[v] = False
