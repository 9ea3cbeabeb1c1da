"""Which rank holds which row."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from ogg_hpc.runtime.random import hash64, stream

_ROUNDS = 3
_BLOCK = 2**20  # rows


class RowOwners:
    """Rows in a random order, of which each owner holds one block.

    The order is a permutation that is computed, not stored, and the same for any owners. So hubs,
    whose ids are often neighbours, are spread evenly, and every rank can find any row.

    Parameters
    ----------
    n
        Number of rows.
    owners
        Ranks that hold rows; their blocks differ by one row at most.
    seed
        Seed of the order.
    name
        Name of the table, so that a node's rows in two tables have owners of their own.
    parts
        If given, blocks consist of whole parts, as many as possible alike, of this many equal ones.

    Attributes
    ----------
    starts : (len(owners) + 1,) int64
        Where the blocks begin and end in the order.
    """

    def __init__(
        self, n: int, owners: range, seed: int, name: str, parts: int | None = None
    ) -> None:
        self.n, self.ranks = n, owners
        parts = parts or len(owners)
        self.starts = np.arange(len(owners) + 1, dtype=np.int64) * parts // len(owners) * n // parts
        self._bits = max(2, (n - 1).bit_length())
        keys = hash64(seed, stream("row owners"), stream(name), np.arange(_ROUNDS))
        self._multipliers = keys | np.uint64(1)  # odd numbers have an inverse modulo 2^bits

    def rows_of(self, rank: int) -> int:
        """Return how many rows a rank holds."""
        if rank not in self.ranks:
            return 0
        owner = self.ranks.index(rank)
        return int(self.starts[owner + 1] - self.starts[owner])

    def held_by(self, rank: int) -> NDArray[np.int64]:
        """Return the rows that a rank holds, in the order of their numbers there."""
        held = np.empty(self.rows_of(rank), np.int64)
        for start in range(0, self.n, _BLOCK):
            ids = np.arange(start, min(start + _BLOCK, self.n))
            owners, slots = self.find(ids)
            held[slots[owners == rank]] = ids[owners == rank]
        return held

    def find(self, ids: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the rank that holds each row, and the row's number there.

        Parameters
        ----------
        ids
            (m,) rows.
        """
        owners = np.empty(len(ids), np.int32)
        slots = np.empty(len(ids), np.int64)
        _find(ids, self.n, self._bits, self._multipliers, self.starts, owners, slots)
        owners += self.ranks.start
        return owners, slots


@numba.njit(cache=True)
def _find(
    ids: Any, n: int, bits: int, multipliers: Any, starts: Any, owners: Any, slots: Any
) -> None:
    """Permute each id, and find its block.

    Xor with a shift and multiplication by an odd number are bijections of ``bits`` bits. Repeated
    until the result is below n, a bijection of them is one of ``range(n)``, too.
    """
    mask = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
    shift = np.uint64((bits + 1) // 2)
    share = (len(starts) - 1) / n
    for i in range(len(ids)):
        place = np.uint64(ids[i])
        while True:
            for multiplier in multipliers:
                place ^= place >> shift
                place = (place * multiplier) & mask
            place ^= place >> shift
            if place < np.uint64(n):
                break
        position = np.int64(place)
        owner = np.int64(position * share)  # off by one where it is rounded
        while position < starts[owner]:
            owner -= 1
        while position >= starts[owner + 1]:
            owner += 1
        owners[i] = owner
        slots[i] = position - starts[owner]
