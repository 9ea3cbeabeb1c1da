"""The triangles of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph


def triangles(graph: Graph, most: int) -> NDArray[np.int64]:
    """Return (t, 3) the edges of triangles, by their numbers in the order of `Graph.edges`.

    Parameters
    ----------
    graph
        An undirected graph.
    most
        No more triangles than these are listed: those of the first edges.

    Notes
    -----
    Of the two ends of an edge, the neighbours of the one with fewer are looked up in the row of the
    other: O(m^1.5 log n), compiled.
    """
    first_edge = np.concatenate([[0], np.cumsum(graph.rows < graph.columns)])
    found = np.empty((most, 3), np.int64)
    return found[: _triangles(graph.row_offsets, graph.columns, first_edge, found)].copy()


@njit(cache=True)
def _triangles(row_offsets: Any, columns: Any, first_edge: Any, found: Any) -> Any:
    """List triangles a < b < c; `first_edge` counts the edges (u, v), u < v, before each entry."""
    size = 0
    for a in range(len(row_offsets) - 1):
        for entry in range(row_offsets[a], row_offsets[a + 1]):
            b = columns[entry]
            if b < a:
                continue
            u: Any = a
            v: Any = np.int64(b)
            if row_offsets[u + 1] - row_offsets[u] > row_offsets[v + 1] - row_offsets[v]:
                u, v = v, u
            row = columns[row_offsets[v] : row_offsets[v + 1]]
            for own in range(row_offsets[u + 1] - 1, row_offsets[u] - 1, -1):
                c = columns[own]
                if c <= b:
                    break
                place = np.searchsorted(row, c)
                if place < len(row) and row[place] == c:
                    if size == len(found):
                        return size
                    found[size, 0] = first_edge[entry]
                    found[size, 1] = first_edge[own]
                    found[size, 2] = first_edge[row_offsets[v] + place]
                    size += 1
    return size
