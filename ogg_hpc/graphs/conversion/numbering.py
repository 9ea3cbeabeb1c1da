"""Distinct labels of a piece and their numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.graphs.conversion.bits import ones
from ogg_hpc.graphs.names import Names, hash_of

_WORD = 64  # bits


def number_integers(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the sorted distinct integers of an array and the place of each entry among them.

    As `readers.build.number_integers`, but in memory of at most the size of `values`: a bitmap of
    the range with prefix counts where that is not longer, else by a sort.
    """
    if not len(values):
        return np.empty(0, np.int64), np.empty(0, np.int32)
    low, high = int(values.min()), int(values.max())
    if high - low >= _WORD // 2 * len(values):
        labels, inverse = np.unique(values, return_inverse=True)
        return labels, inverse.astype(np.int32)
    bits = np.zeros((high - low) // _WORD + 1, np.uint64)
    before = np.empty(len(bits), np.int32)
    count = _mark(values, low, bits, before)
    labels, places = np.empty(count, np.int64), np.empty(len(values), np.int32)
    _number(values, low, bits, before, labels, places)
    return labels, places


def number_names(
    buffer: NDArray[np.uint8], starts: NDArray[Any], ends: NDArray[Any]
) -> tuple[Names, NDArray[np.int32]]:
    """Return the distinct names among the (t,) ``buffer[start:end]`` and the place of each.

    Names are in the order in which they first appear. They are found by a hash table, and compared
    with a copy of the distinct ones that fits into the caches better than the buffer does.
    """
    slots = np.zeros(1 << max(10, (2 * len(starts)).bit_length() - 1), np.uint64)
    letters = np.empty(int((ends - starts).sum()), np.uint8)
    offsets = np.zeros(len(starts) + 1, np.int64)
    places = np.empty(len(starts), np.int32)
    count = _number_names(buffer, starts, ends, slots, letters, offsets, places)
    offsets = offsets[: count + 1].copy()
    return Names(letters[: offsets[-1]].copy(), offsets), places


@njit(cache=True)
def _mark(values: Any, low: Any, bits: Any, before: Any) -> Any:
    """Set the bit of each value; count the bits before each word, and all."""
    for value in values:
        place = np.uint64(value - low)
        bits[place >> np.uint64(6)] |= np.uint64(1) << (place & np.uint64(63))
    count = 0
    for word in range(len(bits)):
        before[word] = count
        count += ones(bits[word])
    return count


@njit(cache=True)
def _number(values: Any, low: Any, bits: Any, before: Any, labels: Any, places: Any) -> None:
    for i in range(len(values)):
        place = np.uint64(values[i] - low)
        word = place >> np.uint64(6)
        below = (np.uint64(1) << (place & np.uint64(63))) - np.uint64(1)
        number = before[word] + ones(bits[word] & below)
        places[i] = number
        labels[number] = values[i]


@njit(cache=True)
def _number_names(
    buffer: Any, starts: Any, ends: Any, slots: Any, letters: Any, offsets: Any, places: Any
) -> Any:
    """Fill places, and letters and offsets of the distinct names; return how many these are.

    A slot holds the hash of a name in its upper half and its place + 1 in the lower; 0 is free.
    """
    last, low = np.uint64(len(slots) - 1), np.uint64(0xFFFFFFFF)
    count = 0
    for i in range(len(starts)):
        start, length = starts[i], ends[i] - starts[i]
        tag = hash_of(buffer, start, ends[i])
        slot = tag & last
        while True:
            if slots[slot] == 0:
                slots[slot] = tag << np.uint64(32) | np.uint64(count + 1)
                for k in range(length):
                    letters[offsets[count] + k] = buffer[start + k]
                offsets[count + 1] = offsets[count] + length
                places[i] = count
                count += 1
                break
            place = np.int64(slots[slot] & low) - 1
            if slots[slot] >> np.uint64(32) == tag and _is_at(
                letters, offsets[place], offsets[place + 1], buffer, start, length
            ):
                places[i] = place
                break
            slot = (slot + np.uint64(1)) & last
    return count


@njit(cache=True)
def _is_at(letters: Any, place: Any, end: Any, buffer: Any, start: Any, length: Any) -> Any:
    k = 0
    if end - place == length:
        while k < length and letters[place + k] == buffer[start + k]:
            k += 1
    return k == length
