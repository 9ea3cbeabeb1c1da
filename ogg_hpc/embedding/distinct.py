"""The distinct ids of a batch, and where each id stands among them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio, as Fibonacci hashing has it


def distinct(ids: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the distinct ids of a batch, and each id's number among them.

    Takes memory for the ids given, not for all that there are.

    Parameters
    ----------
    ids : int32 or int64
        Node ids, not negative, in any shape.

    Returns
    -------
    rows : (m,)
        Each id once, in the order of first appearance.
    slots : int32
        The place of each id among `rows`, in the shape of `ids`.
    """
    flat = np.ascontiguousarray(ids).ravel()
    rows = np.empty_like(flat)
    slots = np.empty(flat.size, np.int32)
    bits = max(2 * flat.size - 1, 1).bit_length()  # a table that is at most half full
    found = _distinct(flat, np.full(1 << bits, -1, np.int32), np.uint64(64 - bits), rows, slots)
    return rows[:found].copy(), slots.reshape(np.shape(ids))


@njit(cache=True, nogil=True)
def _distinct(ids: Any, table: Any, shift: Any, rows: Any, slots: Any) -> int:
    last = len(table) - 1
    found = 0
    for i in range(len(ids)):
        place = np.int64((np.uint64(ids[i]) * _MULTIPLIER) >> shift)
        while table[place] >= 0 and rows[table[place]] != ids[i]:
            place = (place + 1) & last
        if table[place] < 0:
            table[place] = found
            rows[found] = ids[i]
            found += 1
        slots[i] = table[place]
    return found
