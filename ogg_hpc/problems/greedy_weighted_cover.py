"""Plain methods for weighted vertex covers and independent sets: the baselines to beat.

All of them break ties by the lowest id and leave redundant nodes in a cover; `Problem.improve`
removes them. A graph without weights has nodes of weight 1.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.node_weights import node_weights
from ogg_hpc.problems.weighted_bounds import pack_edges


def degree_weight_greedy(graph: Graph, chosen: ArrayLike = ()) -> NDArray[np.int64]:
    """Choose the node of largest ratio of residual degree to weight until no edge is left.

    Nodes with a self loop come first.

    Parameters
    ----------
    graph
        An undirected graph.
    chosen
        (k,) ids that come first as well.

    Returns
    -------
    (k,) int64
        A vertex cover, in the order chosen.

    Notes
    -----
    O(m log n), compiled: a heap that is brought up to date only at its top, which suffices
    because degrees never grow. V. Chvatal, "A greedy heuristic for the set-covering problem",
    Mathematics of Operations Research 4, 233-235, 1979.
    """
    first = np.union1d(graph.looped, np.asarray(chosen, dtype=np.int64))
    cover = np.empty(graph.n, np.int64)
    cover[: len(first)] = first
    arrays = (graph.row_offsets, graph.columns, node_weights(graph), graph.degrees.copy())
    return cover[: _degree_weight(*arrays, cover, len(first))]


def local_ratio(graph: Graph) -> NDArray[np.int64]:
    """Return the nodes whose weight an edge packing uses up: at most twice the least weight.

    By Bar-Yehuda and Even; see `weighted_bounds.edge_packing`. O(n + m), compiled.
    """
    left = node_weights(graph).copy()
    left[graph.looped] = 0.0
    pack_edges(graph.row_offsets, graph.columns, left)
    nodes: NDArray[np.int64] = np.flatnonzero((left == 0) & (graph.degrees > 0))
    return np.union1d(nodes, graph.looped)


def gwmin(graph: Graph, chosen: ArrayLike = ()) -> NDArray[np.int64]:
    """Choose the node of largest weight by residual degree plus one, until no node is left.

    A chosen node leaves with its neighbours; nodes with a self loop have left before.

    Parameters
    ----------
    graph
        An undirected graph.
    chosen
        (k,) ids that come first, no two of them adjacent.

    Returns
    -------
    (j,) int64
        An independent set, in the order chosen.

    Notes
    -----
    O(m log n), compiled. S. Sakai, M. Togasaki and K. Yamazaki, "A note on greedy algorithms for
    the maximum weighted independent set problem", Discrete Applied Mathematics 126, 313-322, 2003.
    """
    active = np.ones(graph.n, np.bool_)
    active[graph.looped] = False
    first = np.asarray(chosen, dtype=np.int64)
    first = first[active[first]]
    degrees, nodes = graph.degrees.copy(), np.empty(graph.n, np.int64)
    _lower(graph.row_offsets, graph.columns, graph.looped, degrees)
    arrays = (graph.row_offsets, graph.columns, node_weights(graph), degrees, active)
    return nodes[: _gwmin(*arrays, first, nodes)]


@njit(cache=True)
def _lower(row_offsets: Any, columns: Any, nodes: Any, degrees: Any) -> None:
    for v in nodes:
        for u in columns[row_offsets[v] : row_offsets[v + 1]]:
            degrees[u] -= 1


@njit(cache=True)
def _degree_weight(
    row_offsets: Any, columns: Any, weights: Any, degrees: Any, cover: Any, size: Any
) -> Any:
    active = np.ones(len(degrees), np.bool_)
    active[cover[:size]] = False
    _lower(row_offsets, columns, cover[:size], degrees)
    heap = [(weights[v] / degrees[v], v) for v in range(len(degrees)) if active[v] and degrees[v]]
    heapq.heapify(heap)
    while len(heap) > 0:
        price, v = heap[0]
        if degrees[v] == 0:
            heapq.heappop(heap)
        elif price != weights[v] / degrees[v]:
            heapq.heapreplace(heap, (weights[v] / degrees[v], v))
        else:
            heapq.heappop(heap)
            cover[size] = v
            size += 1
            _lower(row_offsets, columns, cover[size - 1 : size], degrees)
            degrees[v] = 0
    return size


@njit(cache=True)
def _gwmin(
    row_offsets: Any,
    columns: Any,
    weights: Any,
    degrees: Any,
    active: Any,
    first: Any,
    chosen: Any,
) -> Any:
    size = 0
    for v in first:
        chosen[size] = v
        size += 1
        active[v] = False
        for u in columns[row_offsets[v] : row_offsets[v + 1]]:
            if active[u]:
                active[u] = False
                _lower(row_offsets, columns, np.array([u]), degrees)
    heap: Any = [(-weights[v] / (degrees[v] + 1), v) for v in range(len(degrees)) if active[v]]
    heapq.heapify(heap)
    waits = degrees.copy()  # the degree of each node's last entry
    leave = np.empty(len(degrees), np.int64)
    while len(heap) > 0:
        key, v = heapq.heappop(heap)
        if not active[v] or key != -weights[v] / (degrees[v] + 1):
            continue  # an entry from before the degree fell
        chosen[size] = v
        size += 1
        active[v] = False
        left = 0
        for u in columns[row_offsets[v] : row_offsets[v + 1]]:
            if active[u]:
                active[u] = False
                leave[left] = u
                left += 1
        _lower(row_offsets, columns, leave[:left], degrees)
        # One entry a node, however many of its neighbours have left.
        for u in leave[:left]:
            for w in columns[row_offsets[u] : row_offsets[u + 1]]:
                if active[w] and waits[w] != degrees[w]:
                    waits[w] = degrees[w]
                    entry = (-weights[w] / (degrees[w] + 1), np.int64(w))
                    heapq.heappush(heap, entry)
    return size
