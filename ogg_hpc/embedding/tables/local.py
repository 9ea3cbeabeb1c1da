"""A table whose rows all lie with the rank that wants them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.embedding.tables.table import Rows, Table
from ogg_hpc.embedding.update import apply


class LocalTable(Table):
    """Rows that nobody asks for but the rank that holds them: no message is ever sent."""

    def plan(self, wanted: Sequence[NDArray[Any]]) -> None:
        """See `Table.plan`."""
        self._slots = [self._owners.find(ids)[1] for ids in wanted]

    def fetch(self, batch: int) -> Callable[[], Rows]:
        """See `Table.fetch`."""
        slots = self._slots[batch]
        rows = self.own[slots]
        self._count_local("pulled", len(rows))
        return lambda: rows

    def push(
        self, batch: int, sums: Rows, weights: NDArray[np.float32], learning_rate: float
    ) -> Callable[[], None]:
        """See `Table.push`."""
        slots = self._slots[batch]
        limit = self._model.row_limit
        self._count_local("pushed", len(sums))
        return lambda: apply(self.own, slots, sums, weights, learning_rate, limit)

    def _count_local(self, what: str, rows: int) -> None:
        counts = np.zeros(self._comm.size, np.int64)
        counts[self._comm.rank] = rows
        self._count_rows(what, counts)
