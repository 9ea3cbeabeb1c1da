"""A table whose rows cross the ranks in collectives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.embedding.batch_exchange import send_batches
from ogg_hpc.embedding.counting_sort import order_of
from ogg_hpc.embedding.model import Matrix, Model
from ogg_hpc.embedding.row_owners import RowOwners
from ogg_hpc.embedding.tables.table import Rows, Table, in_order
from ogg_hpc.embedding.traffic import Traffic
from ogg_hpc.embedding.update import step_size
from ogg_hpc.runtime.communicator import Communicator


class ExchangedTable(Table):
    """Rows in bulk-synchronous exchanges: one for the pull of a batch, one for its push.

    Who wants which row is exchanged once for all batches of a window. An owner adds up what ranks
    push in their order, so that results can be repeated.
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
        self._weights = np.zeros(len(self.own), np.float32)

    def plan(self, wanted: Sequence[NDArray[Any]]) -> None:
        """See `Table.plan`."""
        offsets = np.cumsum([0, *map(len, wanted)])
        owners, slots = self._owners.find(np.concatenate(wanted))
        # Rows of each batch in the order of their owners, as they are sent.
        self._orders = [order_of(owners[lo:hi], self._comm.size) for lo, hi in pairwise(offsets)]
        slots, self._wanted, self._asked = send_batches(
            self._comm, slots.astype(np.int32), offsets, owners
        )
        self._slots = np.split(slots, np.cumsum(self._asked.sum(axis=1))[:-1])
        here = int(self._wanted[:, self._comm.rank].sum())
        self._traffic.add("row_numbers", slots.itemsize, len(owners), len(owners) - here)

    def fetch(self, batch: int) -> Callable[[], Rows]:
        """See `Table.fetch`."""
        wanted, asked = self._wanted[batch], self._asked[batch]
        receive = self._comm.start_alltoallv(self.own[self._slots[batch]], asked, wanted)
        self._count_rows("pulled", wanted)
        self._traffic.served += int(asked.sum())
        return in_order(receive, self._orders[batch])

    def push(
        self, batch: int, sums: Rows, weights: NDArray[np.float32], learning_rate: float
    ) -> Callable[[], None]:
        """See `Table.push`."""
        wanted, asked = self._wanted[batch], self._asked[batch]
        steps = np.empty((len(sums), self._model.dim + 1), np.float32)
        _pack(steps, self._orders[batch], sums, weights)
        receive = self._comm.start_alltoallv(steps, wanted, asked)
        self._count_rows("pushed", wanted)
        away = len(sums) - int(wanted[self._comm.rank])
        self._traffic.add("weights", 4, len(sums), away)
        slots, limit = self._slots[batch], np.float32(self._model.row_limit)

        def move() -> None:
            _descend(self.own, slots, receive(), self._weights, np.float32(learning_rate), limit)

        return move


@njit(cache=True, nogil=True)
def _pack(steps: Any, order: Any, sums: Any, weights: Any) -> None:
    """Lay sums with their weights out in another order."""
    dim = sums.shape[1]
    for i in range(len(order)):
        row = order[i]
        for j in range(dim):
            steps[i, j] = sums[row, j]
        steps[i, dim] = weights[row]


@njit(cache=True, nogil=True, error_model="numpy")
def _descend(
    rows: Any, slots: Any, steps: Any, weights: Any, learning_rate: Any, row_limit: Any
) -> None:
    """Move rows by sums that several ranks may have of one row.

    The last column of `steps` has the weights. Those of each row are added up in `weights`, which
    is zero before and after.
    """
    dim = rows.shape[1]
    for i in range(len(slots)):
        weights[slots[i]] += steps[i, dim]
    for i in range(len(slots)):
        row = slots[i]
        step = step_size(weights[row], learning_rate, row_limit)
        for j in range(dim):
            rows[row, j] -= step * steps[i, j]
    for i in range(len(slots)):
        weights[slots[i]] = 0
