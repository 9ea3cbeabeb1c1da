"""Rows that any rank reads and adds to while their owner does something else."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Rows = NDArray[np.float32]


class RowWindow:
    """Rows of a rank that is alone.

    Attributes
    ----------
    own : (rows, width) float32
        The rows that this rank holds, at first 0.
    """

    def __init__(self, rows: int, width: int) -> None:
        self.own: Rows = np.zeros((rows, width), np.float32)

    def start_get(self, slots: NDArray[Any], counts: Counts) -> Callable[[], Rows]:
        """Begin to read rows; not collective.

        Parameters
        ----------
        slots
            (m,) numbers of distinct rows among their owners', in the order of the owners.
        counts
            (ranks,) how many of them each rank holds.

        Returns
        -------
        callable
            Waits for the (m, width) rows and returns them.
        """
        rows = self.own[slots]
        return lambda: rows

    def start_add(self, rows: Rows, slots: NDArray[Any], counts: Counts) -> Callable[[], None]:
        """Begin to add to rows, element by element in any order among ranks; not collective.

        Parameters
        ----------
        rows
            (m, width) what is added, which must stay as it is until the end.
        slots, counts
            As in `start_get`.

        Returns
        -------
        callable
            Waits until the rows have been added to.
        """
        self.own[slots] += rows
        return lambda: None

    def free(self) -> None:
        """Give the memory back, after which nobody may touch the rows (collective)."""


class MPIRowWindow(RowWindow):
    """Rows in a window of MPI.

    However many rows a call is about, it takes one operation on each rank that holds some of them:
    many small ones are slow everywhere, and collapse on some networks. Calls are counted as ``get``
    and ``accumulate`` with the rank that makes them, be the rows read or added to. The window is
    locked for all ranks as long as it lives.

    Parameters
    ----------
    mpi
        The ``mpi4py.MPI.Intracomm`` of all ranks.
    rows, width
        Number of rows of this rank, and of columns on all.
    waiting, count
        How the communicator watches and counts its calls.
    """

    def __init__(
        self,
        mpi: Any,
        rows: int,
        width: int,
        waiting: Callable[[str], AbstractContextManager[None]],
        count: Callable[[str, int, str, float, float], None],
    ) -> None:
        from mpi4py import MPI

        self._MPI, self._mpi, self._waiting, self._count = MPI, mpi, waiting, count
        self._row_bytes = 4 * width
        self._row = MPI.FLOAT.Create_contiguous(width).Commit()
        info = MPI.Info.Create()
        info.Set("accumulate_ops", "same_op")
        info.Set("accumulate_ordering", "none")
        with waiting("allocate_rows"):
            self._window = MPI.Win.Allocate(
                rows * self._row_bytes, max(1, self._row_bytes), info, mpi
            )
        info.Free()
        memory: Any = self._window.tomemory()
        self.own = np.frombuffer(memory, np.float32, rows * width).reshape(rows, width)
        self.own[...] = 0
        self._window.Lock_all()

    def start_get(self, slots: NDArray[Any], counts: Counts) -> Callable[[], Rows]:
        """See `RowWindow.start_get`."""
        start = time.perf_counter()
        rows = np.empty((len(slots), self.own.shape[1]), np.float32)
        self._each_target(self._window.Get, rows, slots, counts)
        begun = time.perf_counter() - start

        return lambda: self._finish("get", rows, counts, begun)

    def start_add(self, rows: Rows, slots: NDArray[Any], counts: Counts) -> Callable[[], None]:
        """See `RowWindow.start_add`."""
        start = time.perf_counter()
        self._each_target(self._window.Accumulate, rows, slots, counts, self._MPI.SUM)
        begun = time.perf_counter() - start

        def wait() -> None:
            self._finish("accumulate", rows, counts, begun)

        return wait

    def free(self) -> None:
        """See `RowWindow.free`."""
        self._window.Unlock_all()
        self.own = self.own[:0].copy()
        with self._waiting("free"):
            self._window.Free()
        self._row.Free()

    def _each_target(
        self,
        operation: Callable[..., None],
        rows: Rows,
        slots: NDArray[Any],
        counts: Counts,
        *how: Any,
    ) -> None:
        """Begin one operation with each rank that holds some of the rows."""
        ends = np.cumsum(counts)
        for target in np.flatnonzero(counts):
            part = slice(ends[target] - counts[target], ends[target])
            there = self._row.Create_indexed_block(1, slots[part].tolist()).Commit()
            here = [rows[part], int(counts[target]), self._row]
            operation(here, int(target), (0, 1, there), *how)
            there.Free()  # MPI keeps a freed type until its operations are done

    def _finish(self, name: str, rows: Rows, counts: Counts, begun: float) -> Rows:
        """Wait until all that was begun is done; MPI may use the rows until then."""
        start = time.perf_counter()
        with self._waiting(name):
            self._window.Flush_all()
        away = int(counts.sum() - counts[self._mpi.Get_rank()])
        self._count(name, away * self._row_bytes, "host", start, begun)
        return rows
