"""Cliques by the largest number of common neighbours, and a bound by colouring."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.smallest_last import smallest_last


def greedy_clique(graph: Graph, nodes: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """Extend a clique by the node that leaves most candidates, until none is left.

    Candidates are the nodes adjacent to all chosen ones; ties go to the lowest id. On the
    complement this is the minimum-degree greedy independent set.

    Parameters
    ----------
    graph
        An undirected graph.
    nodes
        (k,) int64 ids of a clique to start from; none by default.

    Returns
    -------
    (j,) int64
        A maximal clique: `nodes` and the nodes added, in the order chosen.

    Notes
    -----
    O(m log n), compiled. The complement is not built.
    """
    start = np.empty(0, np.int64) if nodes is None else np.asarray(nodes, dtype=np.int64)
    return _extend(graph.row_offsets, graph.columns, start)


def colouring_number(graph: Graph) -> int:
    """Return the number of colours of a greedy colouring: no clique is larger.

    Nodes are coloured in `smallest_last` order, so that no more than one colour above the
    degeneracy is used. O(m log n), compiled.
    """
    order, _ = smallest_last(graph)
    return int(_colours(graph.row_offsets, graph.columns, order))


@njit(cache=True)
def _extend(
    row_offsets: NDArray[np.int64], columns: NDArray[Any], start: NDArray[np.int64]
) -> NDArray[np.int64]:
    n = len(row_offsets) - 1
    clique = np.empty(n, np.int64)
    common = np.zeros(n, np.int64)  # chosen neighbours of each node
    size = 0
    for v in start:
        clique[size] = v
        size += 1
        common[v] = -1
        for entry in range(row_offsets[v], row_offsets[v + 1]):
            if common[columns[entry]] >= 0:
                common[columns[entry]] += 1
    candidate = common == size
    degrees = np.zeros(n, np.int64)  # candidates among the neighbours
    for v in range(n):
        for entry in range(row_offsets[v], row_offsets[v + 1]):
            degrees[v] += candidate[columns[entry]]
    stays = np.zeros(n, np.bool_)
    # Degrees only fall: a heap that is brought up to date at its top suffices.
    heap = [(n - degrees[v]) * n + v for v in range(n) if candidate[v]]
    heapq.heapify(heap)
    while len(heap) > 0:
        v = heap[0] % n
        if not candidate[v]:
            heapq.heappop(heap)
            continue
        if n - heap[0] // n != degrees[v]:
            heapq.heapreplace(heap, (n - degrees[v]) * n + v)
            continue
        heapq.heappop(heap)
        clique[size] = v
        size += 1
        for entry in range(row_offsets[v], row_offsets[v + 1]):
            stays[columns[entry]] = True
        for key in heap:
            u = key % n
            if candidate[u] and not stays[u]:
                candidate[u] = False
                for entry in range(row_offsets[u], row_offsets[u + 1]):
                    degrees[columns[entry]] -= 1
        candidate[v] = False
        for entry in range(row_offsets[v], row_offsets[v + 1]):
            degrees[columns[entry]] -= 1
            stays[columns[entry]] = False
        heap = [key for key in heap if candidate[key % n]]
        heapq.heapify(heap)
    return clique[:size]


@njit(cache=True)
def _colours(
    row_offsets: NDArray[np.int64], columns: NDArray[Any], order: NDArray[np.int64]
) -> int:
    n = len(order)
    colour = np.full(n, -1)
    used_by = np.full(n + 1, -1)  # the last node with a neighbour of each colour
    most = 0
    for v in order:
        for entry in range(row_offsets[v], row_offsets[v + 1]):
            if colour[columns[entry]] >= 0:
                used_by[colour[columns[entry]]] = v
        own = 0
        while used_by[own] == v:
            own += 1
        colour[v] = own
        most = max(most, own + 1)
    return most
