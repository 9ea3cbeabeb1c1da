"""Weights of edges: which can be drawn by, and their sums over rows and over columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.row_block import RowBlock
from ogg_hpc.runtime.communicator import Communicator


def refuse_weights(
    comm: Communicator, block: RowBlock, labels_of: Callable[[Sequence[int]], Sequence[Any]]
) -> None:
    """Raise an error where a weight is not positive and finite (collective).

    Parameters
    ----------
    comm
        The ranks that share the graph.
    block
        This rank's rows.
    labels_of
        Returns the user's labels of nodes; called on rank 0 alone.

    Raises
    ------
    SettingsError
        Names the first such edge.
    """
    found: tuple[int, int, float] | None = None
    if block.weights is not None:
        bad = np.flatnonzero(~((block.weights > 0) & (block.weights < np.inf)))
        if len(bad):
            entry = int(bad[0])
            row = int(np.searchsorted(block.row_offsets, entry, side="right")) - 1
            lo, _ = block.partition.range(block.rank)
            found = lo + row, int(block.columns[entry]), float(block.weights[entry])
    first = next(filter(None, comm.gather_objects(found)), None)
    if first is not None:
        u, v, weight = first
        source, target = comm.on_root(lambda: list(labels_of([u, v])))
        raise SettingsError(
            f"edge ({source}, {target}) has weight {weight:g}; edges are drawn in proportion to "
            "weights, which must be positive: change them, or leave them out by --unweighted"
        ).shared()


def row_sums(block: RowBlock) -> NDArray[np.float64]:
    """Return the (rows,) sums of the weights of this rank's rows, which count 1 without weights."""
    if block.weights is None:
        return np.diff(block.row_offsets).astype(np.float64)
    sums = np.empty(block.rows, np.float64)
    _row_sums(block.row_offsets, block.weights, sums)
    return sums


def column_sums(comm: Communicator, block: RowBlock) -> NDArray[np.float64]:
    """Return the (n,) sums of the weights of all columns on every rank (collective).

    Weights are added as whole multiples of 2**-62 of a bound on any sum: those of integers do not
    depend on their order, and so neither on the ranks.
    """
    if block.weights is None:
        counts = np.bincount(block.columns, minlength=block.n)
        return np.asarray(comm.allreduce(counts.astype(np.int64)), np.float64)
    largest = comm.allreduce(np.array([np.max(block.weights, initial=0)]), "max")[0]
    exponent = 62 - int(np.frexp(largest)[1]) - int(np.frexp(float(max(block.entries, 1)))[1])
    sums = np.zeros(block.n, np.int64)
    _column_sums(block.columns, np.rint(np.ldexp(block.weights, exponent)).astype(np.int64), sums)
    return np.asarray(np.ldexp(comm.allreduce(sums).astype(np.float64), -exponent))


@njit(cache=True, nogil=True)
def _row_sums(row_offsets: Any, weights: Any, sums: Any) -> None:
    for row in range(len(sums)):
        total = 0.0
        for entry in range(row_offsets[row], row_offsets[row + 1]):
            total += weights[entry]
        sums[row] = total


@njit(cache=True, nogil=True)
def _column_sums(columns: Any, values: Any, sums: Any) -> None:
    for entry in range(len(columns)):
        sums[columns[entry]] += values[entry]
