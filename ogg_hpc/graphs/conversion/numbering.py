"""Distinct labels of a piece and their numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

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


@njit(cache=True)
def _ones(word: Any) -> Any:
    """Return how many bits of a word are set."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True)
def _mark(values: Any, low: Any, bits: Any, before: Any) -> Any:
    """Set the bit of each value; count the bits before each word, and all."""
    for value in values:
        place = np.uint64(value - low)
        bits[place >> np.uint64(6)] |= np.uint64(1) << (place & np.uint64(63))
    count = 0
    for word in range(len(bits)):
        before[word] = count
        count += _ones(bits[word])
    return count


@njit(cache=True)
def _number(values: Any, low: Any, bits: Any, before: Any, labels: Any, places: Any) -> None:
    for i in range(len(values)):
        place = np.uint64(values[i] - low)
        word = place >> np.uint64(6)
        below = (np.uint64(1) << (place & np.uint64(63))) - np.uint64(1)
        number = before[word] + _ones(bits[word] & below)
        places[i] = number
        labels[number] = values[i]
