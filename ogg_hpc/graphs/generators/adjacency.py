"""From the edges of a generator to its graph."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph


def undirected(n: int, u: NDArray[Any], v: NDArray[Any]) -> Graph:
    """Return the graph of n nodes and of edges that are distinct and no loops, in O(n + m)."""
    return Graph(*_sorted_adjacency(n, u, v))


@numba.njit(cache=True)
def _sorted_adjacency(n: Any, u: Any, v: Any) -> Any:
    """Return row offsets and sorted columns of distinct undirected edges."""
    offsets = np.zeros(n + 1, np.int64)
    for e in range(len(u)):
        offsets[u[e] + 1] += 1
        offsets[v[e] + 1] += 1
    for i in range(n):
        offsets[i + 1] += offsets[i]
    unsorted = np.empty(2 * len(u), np.int32)
    filled = offsets[:n].copy()
    for e in range(len(u)):
        unsorted[filled[u[e]]] = v[e]
        filled[u[e]] += 1
        unsorted[filled[v[e]]] = u[e]
        filled[v[e]] += 1
    # A symmetric matrix is its own transpose, and transposing row by row sorts the columns.
    columns = np.empty(2 * len(u), np.int32)
    filled[:] = offsets[:n]
    for i in range(n):
        for k in range(offsets[i], offsets[i + 1]):
            j = unsorted[k]
            columns[filled[j]] = i
            filled[j] += 1
    return offsets, columns
