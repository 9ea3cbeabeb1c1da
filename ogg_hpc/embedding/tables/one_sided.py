"""A table that workers read and add to while its owners do something else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.embedding.counting_sort import order_of
from ogg_hpc.embedding.model import Matrix, Model
from ogg_hpc.embedding.row_owners import RowOwners
from ogg_hpc.embedding.tables.table import Rows, Table, in_order
from ogg_hpc.embedding.traffic import Traffic
from ogg_hpc.embedding.update import step_size
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.shared_memory import require_room


class OneSidedTable(Table):
    """Rows in a window of MPI: workers do not wait for one another, nor see all updates.

    So no run can be repeated. As no owner knows how much all gradients of a row weigh together, the
    bound on steps is one on those of each worker.

    Raises
    ------
    OggError
        A node has too little memory that its processes can share.
    """

    def __init__(
        self,
        comm: Communicator,
        matrix: Matrix,
        owners: RowOwners,
        model: Model,
        traffic: Traffic,
    ) -> None:
        super().__init__(comm, matrix, owners, model, traffic)
        comm.barrier()  # all rows have their initial values

    def _allocate(self, rows: int) -> Rows:
        require_room(
            self._comm, 4 * self._model.dim * rows, "exchange rows by --exchange alltoallv"
        )
        self._window = self._comm.allocate_rows(rows, self._model.dim)
        return self._window.own

    def free(self) -> None:
        """See `Table.free`."""
        self.own = self.own[:0]
        self._window.free()

    def plan(self, wanted: Sequence[NDArray[Any]]) -> None:
        """See `Table.plan`."""
        size = self._comm.size
        self._orders, self._slots, self._counts = [], [], []
        for ids in wanted:
            owners, slots = self._owners.find(ids)
            order = order_of(owners, size)
            self._orders.append(order)
            self._slots.append(slots[order].astype(np.int32))
            self._counts.append(np.bincount(owners, minlength=size))
        asked, _ = self._comm.alltoallv(np.sum(self._counts, axis=0), np.ones(size, np.int64))
        self._traffic.served += int(asked.sum())

    def fetch(self, batch: int) -> Callable[[], Rows]:
        """See `Table.fetch`; not collective here."""
        receive = self._window.start_get(self._slots[batch], self._counts[batch])
        self._count_rows("pulled", self._counts[batch])
        return in_order(receive, self._orders[batch])

    def push(
        self, batch: int, sums: Rows, weights: NDArray[np.float32], learning_rate: float
    ) -> Callable[[], None]:
        """See `Table.push`; not collective here."""
        steps = np.empty_like(sums)
        _steps(
            steps,
            self._orders[batch],
            sums,
            weights,
            np.float32(learning_rate),
            np.float32(self._model.row_limit),
        )
        self._count_rows("pushed", self._counts[batch])
        return self._window.start_add(steps, self._slots[batch], self._counts[batch])

    def gather(self, lo: int, hi: int) -> Rows | None:
        """See `Table.gather`."""
        self._comm.barrier()  # all have added what they had to
        return super().gather(lo, hi)

    def restore(self, lo: int, hi: int, rows: Rows | None) -> None:
        """See `Table.restore`."""
        super().restore(lo, hi, rows)
        self._comm.barrier()


@njit(cache=True, nogil=True, error_model="numpy")
def _steps(
    steps: Any, order: Any, sums: Any, weights: Any, learning_rate: Any, row_limit: Any
) -> None:
    """Lay out in another order by how much rows move."""
    for i in range(len(order)):
        row = order[i]
        size = step_size(weights[row], learning_rate, row_limit)
        for j in range(sums.shape[1]):
            steps[i, j] = -size * sums[row, j]
