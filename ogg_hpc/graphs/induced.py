"""Subgraphs of some of the nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph


def induced_subgraph(graph: Graph, nodes: NDArray[np.int64]) -> Graph:
    """Return the subgraph of sorted nodes, numbered in their order.

    Weights of nodes stay; weights of edges, labels and loops do not.

    Notes
    -----
    O(n + degrees of the nodes), compiled.
    """
    row_offsets, columns = _rows(graph.row_offsets, graph.columns, nodes)
    weights = None if graph.node_weights is None else graph.node_weights[nodes]
    return Graph(row_offsets, columns, node_weights=weights)


@njit(cache=True)
def _rows(row_offsets: Any, columns: Any, nodes: Any) -> Any:
    new_id = np.full(len(row_offsets) - 1, -1)
    most = 0
    for i in range(len(nodes)):
        new_id[nodes[i]] = i
        most += row_offsets[nodes[i] + 1] - row_offsets[nodes[i]]
    offsets = np.zeros(len(nodes) + 1, np.int64)
    kept = np.empty(most, columns.dtype)
    size = 0
    for i in range(len(nodes)):
        for u in columns[row_offsets[nodes[i]] : row_offsets[nodes[i] + 1]]:
            if new_id[u] >= 0:
                kept[size] = new_id[u]
                size += 1
        offsets[i + 1] = size
    return offsets, kept[:size].copy()
