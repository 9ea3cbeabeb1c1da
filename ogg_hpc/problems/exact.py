"""Exact reference solutions of small graphs, by looking at all sets of nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.greedy_cut import entry_weights, flip_gains, move
from ogg_hpc.problems.maximum_cut import MaximumCut
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.problems.problem import Problem


def brute_force(problem: Problem, graph: Graph) -> NDArray[np.int64]:
    """Return the sorted ids of a best feasible set, found by looking at all 2^n sets.

    Vertex cover and maximum cut have compiled paths for n <= 24 (below a second there); any other
    problem is asked for the violation and the objective of each set, n <= 16.

    Raises
    ------
    SettingsError
        A graph that is too large, or one without a feasible set.
    """
    covers = isinstance(problem, MinimumVertexCover) and not problem.uses_node_weights
    compiled = covers or isinstance(problem, MaximumCut)
    limit = 24 if compiled else 16
    if graph.n > limit:
        raise SettingsError(
            f"brute force takes at most {limit} nodes for {problem.name}, not {graph.n}"
        )
    if covers:
        return _smallest_cover(graph)
    if isinstance(problem, MaximumCut):
        return _ids(_search_cuts(graph.row_offsets, graph.columns, entry_weights(graph)))
    return _best_of_all_sets(problem, graph)


def _best_of_all_sets(problem: Problem, graph: Graph) -> NDArray[np.int64]:
    sign = -1 if problem.maximize else 1
    best: tuple[float, NDArray[np.int64]] | None = None
    for code in range(1 << graph.n):
        nodes = _ids(code)
        value = sign * problem.objective(graph, nodes)
        if (best is None or value < best[0]) and problem.violation(graph, nodes) is None:
            best = value, nodes
    if best is None:
        raise SettingsError(f"the graph has no feasible solution of {problem.name}")
    return best[1]


def _smallest_cover(graph: Graph) -> NDArray[np.int64]:
    neighbours = np.zeros(graph.n, dtype=np.int64)
    np.bitwise_or.at(neighbours, graph.rows, 1 << graph.columns.astype(np.int64))
    neighbours[graph.looped] |= 1 << graph.looped
    return _ids(_search_covers(neighbours))


def _ids(code: int) -> NDArray[np.int64]:
    return np.array([i for i in range(int(code).bit_length()) if code >> i & 1], dtype=np.int64)


@njit(cache=True)
def _search_covers(neighbours: NDArray[np.int64]) -> int:
    n = len(neighbours)
    best, best_size = (1 << n) - 1, n
    for code in range(1 << n):
        size, rest = 0, code
        while rest and size < best_size:
            rest &= rest - 1
            size += 1
        if size >= best_size:
            continue
        # A cover holds all neighbours of each node outside; a loop makes a node its own.
        covers = True
        for v in range(n):
            if not code >> v & 1 and neighbours[v] & ~code:
                covers = False
                break
        if covers:
            best, best_size = code, size
    return best


@njit(cache=True)
def _search_cuts(
    row_offsets: NDArray[np.int64], columns: NDArray[Any], weights: NDArray[np.float64]
) -> int:
    n = len(row_offsets) - 1
    side, gains = np.zeros(n, np.bool_), np.empty(n)
    flip_gains(row_offsets, columns, weights, side, gains)
    best, best_value, code, value = 0, 0.0, 0, 0.0
    # By a Gray code, each set but the first differs from the one before in one node; the last
    # node stays where it is.
    for step in range(1, 1 << max(n - 1, 0)):
        v = 0
        while not step >> v & 1:
            v += 1
        value += gains[v]
        move(row_offsets, columns, weights, side, gains, v)
        code ^= 1 << v
        if value > best_value:
            best, best_value = code, value
    return best
