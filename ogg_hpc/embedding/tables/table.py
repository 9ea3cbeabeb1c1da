"""Contract of the tables: rows that are pulled, and pushed back as gradients."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.embedding.counting_sort import order_of
from ogg_hpc.embedding.model import Matrix, Model, initial_rows
from ogg_hpc.embedding.row_owners import RowOwners
from ogg_hpc.embedding.traffic import Traffic
from ogg_hpc.runtime.communicator import Communicator

Rows = NDArray[np.float32]
_BLOCK = 2**14  # rows that are made at a time


class Table(ABC):
    """A matrix of float32, of which each owner holds some rows (creation is collective).

    Parameters
    ----------
    comm
        All ranks.
    matrix
        Which matrix of the model; its traffic is counted by this name.
    owners
        Who holds which row.
    model
        What the rows belong to; they start with its initial values.
    traffic
        Where rows are counted.

    Attributes
    ----------
    own : (rows, dim) float32
        The rows that this rank holds, in the order of `owners`.
    """

    def __init__(
        self,
        comm: Communicator,
        matrix: Matrix,
        owners: RowOwners,
        model: Model,
        traffic: Traffic,
    ) -> None:
        self._comm, self._owners = comm, owners
        self._matrix, self._model, self._traffic = matrix, model, traffic
        self.own = self._allocate(owners.rows_of(comm.rank))
        held = owners.held_by(comm.rank)
        for start in range(0, len(held), _BLOCK):
            block = slice(start, start + _BLOCK)
            self.own[block] = initial_rows(model, matrix, held[block])

    def _allocate(self, rows: int) -> Rows:
        return np.empty((rows, self._model.dim), np.float32)

    def _count_rows(self, what: str, wanted: NDArray[np.int64]) -> None:
        """Count rows that this rank has pulled of each rank, or pushed to each."""
        count = int(wanted.sum())
        away = count - int(wanted[self._comm.rank])
        self._traffic.add(f"{self._matrix}_{what}", 4 * self._model.dim, count, away)

    def free(self) -> None:
        """Give the memory of the rows back (collective)."""
        self.own = self.own[:0].copy()

    @abstractmethod
    def plan(self, wanted: Sequence[NDArray[Any]]) -> None:
        """Say which rows this rank will pull and push in each batch of a window (collective).

        Parameters
        ----------
        wanted
            (m,) distinct rows of each batch.
        """

    @abstractmethod
    def fetch(self, batch: int) -> Callable[[], Rows]:
        """Ask for the rows of a planned batch as they are now (collective).

        Returns
        -------
        callable
            Waits for the (m, dim) rows, in the order in which they were planned, and returns them.
        """

    @abstractmethod
    def push(
        self, batch: int, sums: Rows, weights: NDArray[np.float32], learning_rate: float
    ) -> Callable[[], None]:
        """Begin to move the rows of a batch against the gradients of all ranks (collective).

        Parameters
        ----------
        batch
            Number of the batch in the window.
        sums, weights
            (m, dim) and (m,) this rank's summed gradients of the rows, and their summed weights.
        learning_rate
            Step size.

        Returns
        -------
        callable
            Waits until the rows have moved.
        """

    def gather(self, lo: int, hi: int) -> Rows | None:
        """Return rows lo to hi in order on rank 0; None on the others (collective)."""
        owners, slots = self._owners.find(np.arange(lo, hi))
        to_root = np.zeros(self._comm.size, np.int64)
        mine = slots[owners == self._comm.rank]
        to_root[0] = len(mine)
        rows: Rows = self._comm.alltoallv(self.own[mine], to_root)[0]
        if self._comm.rank != 0:
            return None
        result = np.empty_like(rows)
        result[order_of(owners, self._comm.size)] = rows
        return result

    def restore(self, lo: int, hi: int, rows: Rows | None) -> None:
        """Set rows lo to hi to what rank 0 passes; the others pass None (collective)."""
        owners, slots = self._owners.find(np.arange(lo, hi))
        if rows is None:
            rows = np.empty((0, self._model.dim), np.float32)
            counts = np.zeros(self._comm.size, np.int64)
        else:
            rows = rows[order_of(owners, self._comm.size)]
            counts = np.bincount(owners, minlength=self._comm.size)
        mine, _ = self._comm.alltoallv(rows, counts)
        self.own[slots[owners == self._comm.rank]] = mine


def in_order(receive: Callable[[], Rows], order: NDArray[Any]) -> Callable[[], Rows]:
    """Return a function that waits for rows, of which row i is to stand in place ``order[i]``."""

    def wait() -> Rows:
        received = receive()
        rows = np.empty_like(received)
        rows[order] = received
        return rows

    return wait
