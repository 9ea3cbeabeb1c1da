"""The smallest-last order of nodes, and core numbers: where a graph is dense."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph


def smallest_last(graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the nodes in smallest-last order, and their core numbers.

    A node of least degree is last, one of least degree in what remains is last but one, and so on
    [1]_; ties go to the lowest id. So no node has more neighbours before it than its core number:
    the largest k for which it is in a subgraph whose degrees are all at least k.

    Parameters
    ----------
    graph
        An undirected graph.

    Returns
    -------
    order : (n,) int64
        Ids, the last first in the core.
    core_numbers : (n,) int64
        In that order: they do not grow.

    Notes
    -----
    O(m log n), compiled.

    References
    ----------
    .. [1] D. W. Matula and L. L. Beck, "Smallest-last ordering and clustering and graph coloring
       algorithms", Journal of the ACM 30, 417-427, 1983.
    """
    order, core_numbers = _smallest_last(graph.row_offsets, graph.columns)
    return order, core_numbers


@njit(cache=True)
def _smallest_last(row_offsets: NDArray[np.int64], columns: NDArray[Any]) -> Any:
    n = len(row_offsets) - 1
    degrees = row_offsets[1:] - row_offsets[:-1]
    order, core_numbers = np.empty(n, np.int64), np.empty(n, np.int64)
    left = np.ones(n, np.bool_)
    heap = [degrees[v] * n + v for v in range(n)]
    heapq.heapify(heap)
    place, core_number = n, 0
    while place > 0:
        key = heapq.heappop(heap)
        v = key % n
        if not left[v] or key // n != degrees[v]:
            continue  # an entry from before the degree fell
        left[v] = False
        place -= 1
        core_number = max(core_number, degrees[v])
        order[place], core_numbers[place] = v, core_number
        for entry in range(row_offsets[v], row_offsets[v + 1]):
            u = columns[entry]
            if left[u]:
                degrees[u] -= 1
                heapq.heappush(heap, degrees[u] * n + u)
    return order, core_numbers
