"""Greedy cuts: the baselines that a learned policy has to beat."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.node_sets import mask_of


def sg3(graph: Graph, placed: ArrayLike = ()) -> NDArray[np.int64]:
    """Place the node of largest abs(w0 - w1) next, on the side where it cuts more [1]_.

    w0 and w1 are its weights to the nodes already placed on either side. Ties go to the lowest
    id, and a node without a preference to the first side.

    Parameters
    ----------
    graph
        An undirected graph with weights of any sign.
    placed
        (p,) actions ``2 * node + side`` of distinct nodes that are placed first.

    Returns
    -------
    (k,) int64
        The nodes of the second side, in the order placed.

    Notes
    -----
    O(m log n), compiled: a heap with an entry for each time that a node's difference grew.

    References
    ----------
    .. [1] S. Kahruman, E. Kolotoglu, S. Butenko and I. V. Hicks, "On greedy construction
       heuristics for the MAX-CUT problem", Int. J. Computational Science and Engineering 3,
       211-218, 2007.
    """
    nodes = np.empty(graph.n, np.int64)
    first = np.asarray(placed, dtype=np.int64).reshape(-1)
    size = _place(graph.row_offsets, graph.columns, entry_weights(graph), first, nodes)
    return nodes[:size]


def one_flip(graph: Graph, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Move single nodes to the other side until no move adds to the cut.

    Nodes are visited by id, again and again. Compiled, O(m) for a pass.

    Parameters
    ----------
    graph
        An undirected graph with weights of any sign.
    nodes
        (k,) the nodes of one side.

    Returns
    -------
    (j,) int64
        Sorted nodes of the same side after the moves.
    """
    side = mask_of(graph, nodes)
    weights = entry_weights(graph)
    gains = np.empty(graph.n)
    flip_gains(graph.row_offsets, graph.columns, weights, side, gains)
    climb(graph.row_offsets, graph.columns, weights, side, gains)
    return np.flatnonzero(side)


def entry_weights(graph: Graph) -> NDArray[np.float64]:
    """Return the weight of each entry of `Graph.columns`, ones without weights."""
    return np.ones(len(graph.columns)) if graph.weights is None else graph.weights


@njit(cache=True)
def flip_gains(
    row_offsets: NDArray[np.int64],
    columns: NDArray[Any],
    weights: NDArray[np.float64],
    side: NDArray[np.bool_],
    gains: NDArray[np.float64],
) -> None:
    """Set what the cut grows by when a node moves, for each node."""
    for v in range(len(side)):
        gain = 0.0
        for entry in range(row_offsets[v], row_offsets[v + 1]):
            weight = weights[entry]
            gain += weight if side[columns[entry]] == side[v] else -weight
        gains[v] = gain


@njit(cache=True)
def move(
    row_offsets: NDArray[np.int64],
    columns: NDArray[Any],
    weights: NDArray[np.float64],
    side: NDArray[np.bool_],
    gains: NDArray[np.float64],
    v: int,
) -> None:
    """Move a node to the other side and bring all gains up to date."""
    gains[v] = -gains[v]
    side[v] = not side[v]
    for entry in range(row_offsets[v], row_offsets[v + 1]):
        u = columns[entry]
        change = 2.0 * weights[entry]
        gains[u] += change if side[u] == side[v] else -change


@njit(cache=True)
def climb(
    row_offsets: NDArray[np.int64],
    columns: NDArray[Any],
    weights: NDArray[np.float64],
    side: NDArray[np.bool_],
    gains: NDArray[np.float64],
) -> None:
    """Move nodes, in passes by id, until none has anything to gain."""
    largest = 0.0
    for weight in weights:
        largest = max(largest, abs(weight))
    least = 1e-9 * largest  # gains below are rounding, and could go on for ever
    moved = True
    while moved:
        moved = False
        for v in range(len(side)):
            if gains[v] > least:
                move(row_offsets, columns, weights, side, gains, v)
                moved = True


@njit(cache=True)
def _place(
    row_offsets: NDArray[np.int64],
    columns: NDArray[Any],
    weights: NDArray[np.float64],
    actions: NDArray[np.int64],
    second: NDArray[np.int64],
) -> int:
    n = len(row_offsets) - 1
    difference = np.zeros(n)  # weight to the first side less that to the second
    placed = np.zeros(n, np.bool_)
    size = 0
    for action in actions:
        v, side = action // 2, action % 2
        placed[v] = True
        if side:
            second[size] = v
            size += 1
        for entry in range(row_offsets[v], row_offsets[v + 1]):
            difference[columns[entry]] += -weights[entry] if side else weights[entry]
    heap: Any = [(-abs(difference[v]), v) for v in range(n) if not placed[v]]
    heapq.heapify(heap)
    while len(heap) > 0:
        key, v = heapq.heappop(heap)
        if placed[v] or -key != abs(difference[v]):
            continue  # an entry from before the difference changed
        placed[v] = True
        into_second = difference[v] > 0
        if into_second:
            second[size] = v
            size += 1
        for entry in range(row_offsets[v], row_offsets[v + 1]):
            u = columns[entry]
            if not placed[u]:
                difference[u] += -weights[entry] if into_second else weights[entry]
                # Entries of a heap have one type, and ids of a graph may be 32 bits wide.
                heapq.heappush(heap, (-abs(difference[u]), np.int64(u)))
    return size
