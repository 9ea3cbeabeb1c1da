"""Which rank owns which rows of a graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class RowPartition:
    """Contiguous row ranges, one a rank.

    Attributes
    ----------
    offsets : (P + 1,) int64
        Rank i owns rows ``offsets[i]`` to ``offsets[i + 1] - 1``, perhaps none.
    """

    offsets: NDArray[np.int64]

    @property
    def size(self) -> int:
        """Number of ranks."""
        return len(self.offsets) - 1

    @property
    def counts(self) -> NDArray[np.int64]:
        """(P,) number of rows of each rank."""
        return np.diff(self.offsets)

    def range(self, rank: int) -> tuple[int, int]:
        """Return the first row of a rank and the first after its last."""
        return int(self.offsets[rank]), int(self.offsets[rank + 1])

    @staticmethod
    def by_rows(n: int, size: int) -> RowPartition:
        """Split n rows evenly: numbers of rows differ by one at the most."""
        ranks = np.arange(size + 1, dtype=np.int64)
        return RowPartition(ranks * (n // size) + np.minimum(ranks, n % size))

    @staticmethod
    def by_edges(degrees: NDArray[np.int64], size: int) -> RowPartition:
        """Split rows so that stored entries, plus one a row, are balanced.

        No rank exceeds an even share by more than one row's entries.
        """
        n = len(degrees)
        work = np.concatenate([[0], np.cumsum(degrees + 1)])
        targets = work[-1] * np.arange(1, size, dtype=np.int64) // size
        cuts = np.searchsorted(work, targets, side="left")
        return RowPartition(np.concatenate([[0], np.minimum(cuts, n), [n]]).astype(np.int64))
