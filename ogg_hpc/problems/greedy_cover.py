"""Greedy vertex covers by degree: the baselines that a learned policy has to beat.

Both work on the residual graph, that is without the nodes chosen so far, and break ties by
the lowest id. Neither removes redundant nodes; `Problem.improve` does.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from ogg_hpc.graphs.graph import Graph


def maximum_degree_greedy(graph: Graph, forced: ArrayLike = ()) -> NDArray[np.int64]:
    """Choose a node of largest residual degree until no edge is left.

    Parameters
    ----------
    graph
        An undirected graph.
    forced
        (f,) distinct ids that are chosen first, in this order.

    Returns
    -------
    (k,) int64
        A vertex cover, in the order chosen.

    Notes
    -----
    O(m log n), compiled: a heap that is brought up to date only at its top, which suffices
    because degrees never grow.
    """
    return _greedy(_maximum_degree, graph, forced)


def minimum_degree_greedy(graph: Graph, forced: ArrayLike = ()) -> NDArray[np.int64]:
    """Exclude a node of smallest residual degree, choose its neighbours, until no edge is left.

    The neighbours are chosen by ascending id; the excluded nodes are an independent set.
    Parameters and result as in `maximum_degree_greedy`. O(m log n), compiled.
    """
    return _greedy(_minimum_degree, graph, forced)


GREEDY: dict[str, Callable[[Graph, ArrayLike], NDArray[np.int64]]] = {
    "max-degree": maximum_degree_greedy,
    "min-degree": minimum_degree_greedy,
}


def _greedy(kernel: Any, graph: Graph, forced: ArrayLike) -> NDArray[np.int64]:
    first = np.asarray(forced, dtype=np.int64).reshape(-1)
    cover = np.empty(graph.n, dtype=np.int64)
    cover[: len(first)] = first
    degrees = graph.degrees.copy()
    active = np.ones(graph.n, dtype=np.bool_)
    _take(graph.row_offsets, graph.columns, first, degrees, active)
    size = kernel(graph.row_offsets, graph.columns, degrees, active, cover, len(first))
    return cover[:size]


@njit(cache=True)
def _take(
    row_offsets: NDArray[np.int64],
    columns: NDArray[Any],
    nodes: NDArray[np.int64],
    degrees: NDArray[np.int64],
    active: NDArray[np.bool_],
) -> None:
    for v in nodes:
        active[v] = False
        for entry in range(row_offsets[v], row_offsets[v + 1]):
            degrees[columns[entry]] -= 1


@njit(cache=True)
def _maximum_degree(
    row_offsets: NDArray[np.int64],
    columns: NDArray[Any],
    degrees: NDArray[np.int64],
    active: NDArray[np.bool_],
    cover: NDArray[np.int64],
    size: int,
) -> int:
    n = len(degrees)
    # One integer orders by descending degree, then by ascending id.
    heap = [(n - degrees[v]) * n + v for v in range(n) if active[v] and degrees[v] > 0]
    heapq.heapify(heap)
    while len(heap) > 0:
        v = heap[0] % n
        degree = degrees[v]
        if degree == 0:
            heapq.heappop(heap)
        elif n - heap[0] // n != degree:
            heapq.heapreplace(heap, (n - degree) * n + v)
        else:
            heapq.heappop(heap)
            cover[size] = v
            size += 1
            _take(row_offsets, columns, cover[size - 1 : size], degrees, active)
    return size


@njit(cache=True)
def _minimum_degree(
    row_offsets: NDArray[np.int64],
    columns: NDArray[Any],
    degrees: NDArray[np.int64],
    active: NDArray[np.bool_],
    cover: NDArray[np.int64],
    size: int,
) -> int:
    n = len(degrees)
    heap = [degrees[v] * n + v for v in range(n) if active[v] and degrees[v] > 0]
    heapq.heapify(heap)
    waits = degrees.copy()  # the degree of each node's last entry
    while len(heap) > 0:
        key = heapq.heappop(heap)
        v = key % n
        if not active[v] or key // n != degrees[v]:
            continue  # an entry from before the degree fell
        active[v] = False
        start = size
        for entry in range(row_offsets[v], row_offsets[v + 1]):
            u = columns[entry]
            if active[u]:
                active[u] = False
                cover[size] = u
                size += 1
        for u in cover[start:size]:
            for entry in range(row_offsets[u], row_offsets[u + 1]):
                degrees[columns[entry]] -= 1
        # One entry a node, however many of its neighbours have left.
        for u in cover[start:size]:
            for entry in range(row_offsets[u], row_offsets[u + 1]):
                w = columns[entry]
                if active[w] and degrees[w] > 0 and waits[w] != degrees[w]:
                    waits[w] = degrees[w]
                    heapq.heappush(heap, degrees[w] * n + w)
    return size
