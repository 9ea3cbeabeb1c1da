"""Rows of a graph as random walks read them, and the steps of walks on them, compiled."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.embedding.alias import alias_rows, draw_alias
from ogg_hpc.graphs.row_block import RowBlock
from ogg_hpc.runtime.random_compiled import absorb, to_integer, to_uniform

# Walks that step side by side: the processor fetches their rows from memory at the same time.
_ABREAST = 64


class WalkRows(NamedTuple):
    """Some rows of a graph.

    Attributes
    ----------
    row_offsets : (rows + 1,) int64
        Starting at 0.
    columns : (nnz,) int32 or int64
        Neighbours in the whole graph, sorted within a row.
    thresholds : (nnz,) float32
        With `aliases`, one table of `AliasTables` for each row; empty where weights do not count.
    aliases : (nnz,) int32 or int64
    """

    row_offsets: NDArray[np.int64]
    columns: NDArray[Any]
    thresholds: NDArray[np.float32]
    aliases: NDArray[Any]

    @staticmethod
    def of(block: RowBlock) -> WalkRows:
        """Return the rows of a block."""
        if block.weights is None:
            none = np.empty(0, np.float32), np.empty(0, np.int32)
            return WalkRows(block.row_offsets, block.columns, *none)
        tables = alias_rows(block.row_offsets, block.weights)
        return WalkRows(block.row_offsets, block.columns, *tables)


@njit(cache=True, nogil=True)
def draw_neighbour(rows: Any, row: Any, state: Any) -> Any:
    """Return the neighbour that a hash stands for; the row must have one."""
    lo = rows.row_offsets[row]
    count = rows.row_offsets[row + 1] - lo
    if len(rows.thresholds) > 0:
        return rows.columns[lo + draw_alias(rows.thresholds, rows.aliases, lo, count, state)]
    return rows.columns[lo + to_integer(state, count)]


@njit(cache=True, nogil=True)
def has_neighbour(rows: Any, row: Any, node: Any) -> Any:
    """Return whether a node is in a row."""
    lo, hi = rows.row_offsets[row], rows.row_offsets[row + 1]
    while lo < hi:
        middle = (lo + hi) >> 1
        if rows.columns[middle] < node:
            lo = middle + 1
        else:
            hi = middle
    return lo < rows.row_offsets[row + 1] and rows.columns[lo] == node


@njit(cache=True, nogil=True)
def walk(rows: Any, keys: Any, walks: Any) -> None:
    """Fill walks whose first column is given, on rows of a whole graph."""
    for first in range(0, len(keys), _ABREAST):
        last = min(first + _ABREAST, len(keys))
        for step in range(walks.shape[1] - 1):
            for i in range(first, last):
                node = walks[i, step]
                if node < 0 or rows.row_offsets[node] == rows.row_offsets[node + 1]:
                    walks[i, step + 1] = -1
                else:
                    walks[i, step + 1] = draw_neighbour(rows, node, absorb(keys[i], step))


@njit(cache=True, nogil=True)
def walk_to_ends(rows: Any, keys: Any, steps: Any, nodes: Any) -> None:
    """Replace the starts of walks by their last nodes, on rows of a whole graph."""
    for i in range(len(keys)):
        for step in range(steps[i]):
            node = nodes[i]
            if rows.row_offsets[node] == rows.row_offsets[node + 1]:
                break
            nodes[i] = draw_neighbour(rows, node, absorb(keys[i], step))


@njit(cache=True, nogil=True)
def biased_walk(rows: Any, keys: Any, p: Any, q: Any, walks: Any) -> None:
    """Fill walks as `walk` does, biased by the node before the last.

    By rejection (Yang et al., KnightKing, SOSP 2019): a neighbour is drawn by weight alone, and
    taken with the probability that its bias has of the largest one. So nothing is kept for pairs
    of edges.
    """
    for i in range(len(keys)):
        for step in range(walks.shape[1] - 1):
            node = walks[i, step]
            if node < 0 or rows.row_offsets[node] == rows.row_offsets[node + 1]:
                walks[i, step + 1] = -1
                continue
            state = absorb(keys[i], step)
            before = walks[i, step - 1] if step > 0 else walks[i, step]
            alone = step == 0 or rows.row_offsets[node + 1] - rows.row_offsets[node] == 1
            attempt = 0
            while True:
                drawn = draw_neighbour(rows, node, attempt_state(state, attempt))
                if alone:
                    break
                verdict = judge(state, attempt, drawn == before, p, q)
                if verdict == DEPENDS and has_neighbour(rows, before, drawn) == (q > 1):
                    break
                if verdict == TAKEN:
                    break
                attempt += 1
            walks[i, step + 1] = drawn


# What becomes of a neighbour that was drawn for a biased step.
REFUSED, TAKEN, DEPENDS = range(3)


@njit(cache=True, nogil=True)
def attempt_state(state: Any, attempt: Any) -> Any:
    """Return the hash that an attempt draws its neighbour by; the first is that of `walk`."""
    return state if attempt == 0 else absorb(state, 2 * attempt)


@njit(cache=True, nogil=True)
def judge(state: Any, attempt: Any, back: Any, p: Any, q: Any) -> Any:
    """Return whether the neighbour of an attempt is taken.

    It may depend on whether it is a neighbour of the node before: it then is taken if that is
    ``q > 1``.

    Parameters
    ----------
    state, attempt
        The hash of the step, and the number of the attempt.
    back
        Whether the step would go back to the node before.
    p, q
        As for `WalkGraph.walks`.
    """
    height = to_uniform(absorb(state, 2 * attempt + 1)) * max(1.0, 1 / p, 1 / q)
    if back:
        return TAKEN if height < 1 / p else REFUSED
    if height < min(1.0, 1 / q):
        return TAKEN
    if height >= max(1.0, 1 / q):
        return REFUSED
    return DEPENDS
