"""Dominating sets: greedy, without redundant nodes, a bound, and small graphs exactly."""

from __future__ import annotations

import heapq
import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.node_sets import mask_of
from ogg_hpc.runtime.stop import Stop, never

# Stored entries up to which the linear relaxation is solved: a second or two.
MOST_ENTRIES = 50_000


def greedy_dominating_set(graph: Graph, chosen: ArrayLike = ()) -> NDArray[np.int64]:
    """Choose the node that dominates most nodes not yet dominated, until all are.

    A node dominates itself and its neighbours; ties go to the lowest id.

    Parameters
    ----------
    graph
        An undirected graph.
    chosen
        (c,) distinct ids that come first, in this order.

    Returns
    -------
    (k,) int64
        A dominating set, in the order chosen; at most 1 + ln(1 + largest degree) times as large
        as the smallest.

    Notes
    -----
    O(m log n), compiled: a heap that is brought up to date only at its top, which suffices
    because what a node adds never grows.
    """
    return _greedy(graph.row_offsets, graph.columns, np.asarray(chosen, dtype=np.int64))


def without_redundant_dominators(graph: Graph, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a minimal dominating set inside a given one, in the order given.

    One pass suffices, since a removal never makes another node redundant. Nodes of small degree
    go first, equal degrees by id. O(n log n + m), compiled.
    """
    nodes = np.asarray(nodes, dtype=np.int64)
    inside = mask_of(graph, nodes)
    order = np.flatnonzero(inside)
    order = order[np.argsort(graph.degrees[order], kind="stable")]
    _remove(graph.row_offsets, graph.columns, order, inside)
    return nodes[inside[nodes]]


def packing_bound(graph: Graph, stop: Stop = never) -> int:
    """Return a lower bound on the size of a dominating set, by a fractional packing.

    Numbers y >= 0 whose sum over each closed neighbourhood is at most 1 add up to no more than
    the size of any dominating set, since each node is in the closed neighbourhood of one of its
    nodes. The better of two packings counts: one that raises y as far as it goes, node by node
    from small degrees, and the optimal one, the dual of the linear relaxation, where the graph
    has at most `MOST_ENTRIES` stored entries and `stop` does not hold. O(m) for the first,
    compiled.
    """
    starts = [np.zeros(graph.n)]
    if 0 < len(graph.columns) <= MOST_ENTRIES and not stop():
        starts.append(_relaxed_packing(graph))
    order = np.argsort(graph.degrees, kind="stable")
    best = 0.0
    for packing in starts:
        _raise(graph.row_offsets, graph.columns, order, packing)
        best = max(best, float(packing.sum()))
    return math.ceil(best - 1e-6)


def _relaxed_packing(graph: Graph) -> NDArray[np.float64]:
    """Return an optimal packing by HiGHS (interior points), made feasible to the last bit."""
    import scipy.optimize
    import scipy.sparse

    closed = (graph.unweighted().to_scipy() + scipy.sparse.eye_array(graph.n)).tocsr()
    found = scipy.optimize.linprog(
        -np.ones(graph.n), A_ub=closed, b_ub=np.ones(graph.n), method="highs-ipm"
    )
    if found.x is None:
        return np.zeros(graph.n)
    packing: NDArray[np.float64] = np.maximum(found.x, 0.0)
    return packing / max(1.0, float((closed @ packing).max()))


def domination_number(graph: Graph) -> int:
    """Return the size of a smallest dominating set of a graph of at most 40 nodes.

    Branches on the dominators of the node that has fewest, over bit sets. Milliseconds.
    """
    if graph.n > 40:
        raise ValueError(f"{graph.n} nodes are more than 40")
    closed = np.int64(1) << np.arange(graph.n, dtype=np.int64)
    np.bitwise_or.at(closed, graph.rows, np.int64(1) << graph.columns.astype(np.int64))
    most = len(greedy_dominating_set(graph))
    everything = np.int64((1 << graph.n) - 1)
    return int(_fewest(everything, everything, closed, np.int64(most)))


@njit(cache=True)
def _greedy(
    row_offsets: NDArray[np.int64], columns: NDArray[Any], first: NDArray[np.int64]
) -> NDArray[np.int64]:
    n = len(row_offsets) - 1
    chosen = np.empty(n, np.int64)
    size = 0
    dominated = np.zeros(n, np.bool_)
    adds = row_offsets[1:] - row_offsets[:-1] + 1  # nodes that each would newly dominate
    for v in first:
        chosen[size] = v
        size += 1
        _dominate(row_offsets, columns, v, dominated, adds)
    # One integer orders by descending number, then by ascending id.
    heap = [(n - adds[v]) * n + v for v in range(n)]
    heapq.heapify(heap)
    while len(heap) > 0:
        v = heap[0] % n
        if adds[v] == 0:
            heapq.heappop(heap)
            continue
        if n - heap[0] // n != adds[v]:
            heapq.heapreplace(heap, (n - adds[v]) * n + v)
            continue
        heapq.heappop(heap)
        chosen[size] = v
        size += 1
        _dominate(row_offsets, columns, v, dominated, adds)
    return chosen[:size]


@njit(cache=True)
def _dominate(
    row_offsets: NDArray[np.int64],
    columns: NDArray[Any],
    v: int,
    dominated: NDArray[np.bool_],
    adds: NDArray[np.int64],
) -> None:
    for entry in range(row_offsets[v] - 1, row_offsets[v + 1]):
        u = v if entry < row_offsets[v] else columns[entry]
        if not dominated[u]:
            dominated[u] = True
            adds[u] -= 1
            for other in range(row_offsets[u], row_offsets[u + 1]):
                adds[columns[other]] -= 1


@njit(cache=True)
def _remove(
    row_offsets: NDArray[np.int64],
    columns: NDArray[Any],
    order: NDArray[np.int64],
    inside: NDArray[np.bool_],
) -> None:
    n = len(row_offsets) - 1
    times = np.zeros(n, np.int64)  # chosen nodes that dominate each node
    for v in order:
        times[v] += 1
        for entry in range(row_offsets[v], row_offsets[v + 1]):
            times[columns[entry]] += 1
    for v in order:
        redundant = times[v] > 1
        for entry in range(row_offsets[v], row_offsets[v + 1]):
            redundant &= times[columns[entry]] > 1
        if redundant:
            inside[v] = False
            times[v] -= 1
            for entry in range(row_offsets[v], row_offsets[v + 1]):
                times[columns[entry]] -= 1


@njit(cache=True)
def _raise(
    row_offsets: NDArray[np.int64],
    columns: NDArray[Any],
    order: NDArray[np.int64],
    packing: NDArray[np.float64],
) -> None:
    """Raise the packing, node by node, as far as the closed neighbourhoods allow."""
    slack = 1.0 - packing
    for v in range(len(packing)):
        for entry in range(row_offsets[v], row_offsets[v + 1]):
            slack[v] -= packing[columns[entry]]
    for v in order:
        room = slack[v]
        for entry in range(row_offsets[v], row_offsets[v + 1]):
            room = min(room, slack[columns[entry]])
        if room > 0:
            packing[v] += room
            slack[v] -= room
            for entry in range(row_offsets[v], row_offsets[v + 1]):
                slack[columns[entry]] -= room


@njit(cache=True)
def _bits(x: Any) -> Any:
    count = 0
    while x:
        x &= x - 1
        count += 1
    return count


@njit("int64(int64, int64, int64[:], int64)", cache=True)
def _fewest(left: Any, allowed: Any, closed: Any, most: Any) -> Any:
    """Return the fewest allowed nodes that dominate `left`, or `most` where that is no more."""
    if left == 0:
        return 0
    largest = 1
    hardest, fewest = -1, len(closed) + 1
    for v in range(len(closed)):
        if (allowed >> v) & 1:
            largest = max(largest, _bits(closed[v] & left))
        if (left >> v) & 1:
            dominators = _bits(closed[v] & allowed)
            if dominators < fewest:
                hardest, fewest = v, dominators
    if (_bits(left) + largest - 1) // largest >= most or fewest == 0:
        return most
    best = most
    for u in range(len(closed)):
        if (closed[hardest] & allowed) >> u & 1:
            best = min(best, 1 + _fewest(left & ~closed[u], allowed, closed, best - 1))
            allowed &= ~(np.int64(1) << u)  # sets with it have been seen
    return best
