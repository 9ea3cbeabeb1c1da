"""Distinct labels of a piece and their numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.graphs.conversion.bits import ones
from ogg_hpc.graphs.names import Names

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

    Names are in the order in which they first appear. Sorting hashes, with the names' places in
    their lowest bits, beats a hash table that does not fit into the caches; names of equal hashes
    are compared by their letters.
    """
    count = len(starts)
    mask = np.uint64((1 << count.bit_length()) - 1)
    keys = np.empty(count, np.uint64)
    _hash(buffer, starts, ends, mask, keys)
    keys.sort()
    same = np.arange(count, dtype=np.int32)
    _find_first(buffer, starts, ends, mask, keys, same)
    firsts = np.flatnonzero(same == np.arange(count))
    places = np.empty(count, np.int32)
    places[firsts] = np.arange(len(firsts))
    return Names.from_slices(buffer, starts[firsts], ends[firsts]), places[same]


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
def _hash(buffer: Any, starts: Any, ends: Any, mask: Any, keys: Any) -> None:
    """Fill keys: a hash of each name with its place in the bits of `mask`."""
    for name in range(len(starts)):
        place, end = starts[name], ends[name]
        state = np.uint64(end - place) * np.uint64(0x9E3779B97F4A7C15)
        while place < end:
            word = np.uint64(0)
            for k in range(min(end - place, 8)):
                word |= np.uint64(buffer[place + k]) << np.uint64(8 * k)
            state = (state ^ word) * np.uint64(0xBF58476D1CE4E5B9)
            state ^= state >> np.uint64(32)
            place += 8
        state *= np.uint64(0x94D049BB133111EB)
        keys[name] = (state & ~mask) | np.uint64(name)


@njit(cache=True)
def _find_first(buffer: Any, starts: Any, ends: Any, mask: Any, keys: Any, same: Any) -> None:
    """Fill the place of the first name that each is equal to, given sorted keys."""
    run = 0
    for i in range(1, len(keys)):
        if (keys[i] ^ keys[i - 1]) & ~mask:
            run = i
            continue
        name = keys[i] & mask
        # Those of a run are in order; nearly always all of them are one name.
        for j in range(run, i):
            other = keys[j] & mask
            if same[other] == other and _are_equal(
                buffer, starts[name], ends[name], starts[other], ends[other]
            ):
                same[name] = other
                break


@njit(cache=True)
def _are_equal(buffer: Any, start: Any, end: Any, other: Any, other_end: Any) -> Any:
    k, length = 0, end - start
    if length == other_end - other:
        while k < length and buffer[start + k] == buffer[other + k]:
            k += 1
    return k == length
