"""Many strings in one piece of memory: how names of nodes are sorted, merged and sent.

A list of Python strings takes about 60 bytes a name beyond its letters, and a loop in the
interpreter for each step. `Names` holds the letters of all names in a row, as Arrow does
(https://arrow.apache.org/docs/format/Columnar.html), so that a rank holds 10^8 of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

# Letters that a sort compares at once; the eighth byte of a word tells how many are left.
_STEP = 7
# Ranges as short as this are sorted by insertion.
_SHORT = 16


@dataclass(frozen=True, eq=False)
class Names:
    """Strings in UTF-8, one after the other.

    Attributes
    ----------
    bytes : (total,) uint8
        The letters of all names.
    offsets : (n + 1,) int64
        Name i is ``bytes[offsets[i]:offsets[i + 1]]``; the first offset is 0.
    """

    bytes: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    @classmethod
    def from_strings(cls, strings: Iterable[str]) -> Names:
        """Return the names that a few Python strings give."""
        encoded = [string.encode() for string in strings]
        lengths = np.array([len(name) for name in encoded], dtype=np.int64)
        return cls.from_lengths(np.frombuffer(b"".join(encoded), dtype=np.uint8), lengths)

    @classmethod
    def from_lengths(cls, letters: NDArray[np.uint8], lengths: NDArray[np.int64]) -> Names:
        """Return the (n,) names of given lengths that letters hold one after the other."""
        return cls(letters, _offsets(lengths))

    @classmethod
    def from_slices(
        cls, buffer: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> Names:
        """Return the (n,) names ``buffer[start:end]``."""
        offsets = _offsets(ends - starts)
        letters = np.empty(offsets[-1], np.uint8)
        _copy(buffer, starts, letters, offsets)
        return cls(letters, offsets)

    @classmethod
    def concatenate(cls, parts: Iterable[Names]) -> Names:
        """Return the names of all parts, in turn."""
        parts = list(parts)
        lengths = [np.empty(0, np.int64), *(part.lengths for part in parts)]
        letters = [np.empty(0, np.uint8), *(part.bytes for part in parts)]
        return cls.from_lengths(np.concatenate(letters), np.concatenate(lengths))

    def __len__(self) -> int:
        """Return the number of names."""
        return len(self.offsets) - 1

    def __getitem__(self, part: slice) -> Names:
        """Return the names of a slice without steps, a view where possible."""
        start, stop, step = part.indices(len(self))
        assert step == 1
        offsets = self.offsets[start : max(start, stop) + 1]
        return Names(self.bytes[offsets[0] : offsets[-1]], offsets - offsets[0])

    def __eq__(self, other: object) -> bool:
        """Return whether both hold the same names in the same order."""
        if not isinstance(other, Names):
            return NotImplemented
        return np.array_equal(self.offsets, other.offsets) and np.array_equal(
            self.bytes, other.bytes
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """(n,) bytes of each name."""
        return np.diff(self.offsets)

    @property
    def nbytes(self) -> int:
        """Bytes of memory that the names take."""
        return self.bytes.nbytes + self.offsets.nbytes

    def take(self, places: NDArray[Any]) -> Names:
        """Return the names at (k,) places."""
        starts = self.offsets[places]
        return Names.from_slices(self.bytes, starts, starts + self.lengths[places])

    def order(self) -> NDArray[np.int64]:
        """Return the (n,) places of the names in the order of their bytes; the sort is stable."""
        order = np.arange(len(self))
        _sort(self.bytes, self.offsets, order)
        return order

    def search(self, queries: Names) -> NDArray[np.int64]:
        """Return how many of these names come before each of (k,) queries; both are sorted."""
        places = np.empty(len(queries), np.int64)
        _search(self.bytes, self.offsets, queries.bytes, queries.offsets, places)
        return places

    def union(self, other: Names) -> Names:
        """Return the sorted distinct names of two that are sorted and distinct."""
        letters = np.empty(len(self.bytes) + len(other.bytes), np.uint8)
        offsets = np.zeros(len(self) + len(other) + 1, np.int64)
        count = _merge(self.bytes, self.offsets, other.bytes, other.offsets, letters, offsets)
        # What common names leave free goes back to the system.
        letters.resize(int(offsets[count]), refcheck=False)
        offsets.resize(count + 1, refcheck=False)
        return Names(letters, offsets)

    def hashes(self) -> NDArray[np.uint64]:
        """Return (n,) hashes of 32 bits, one for each name."""
        hashes = np.empty(len(self), np.uint64)
        _hash_all(self.bytes, self.offsets, hashes)
        return hashes

    def to_strings(self) -> list[str]:
        """Return the names as Python strings.

        Raises
        ------
        UnicodeDecodeError
            A name that is not UTF-8.
        """
        letters, bounds = self.bytes.tobytes(), self.offsets.tolist()
        return [letters[start:end].decode() for start, end in pairwise(bounds)]


def _offsets(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


@njit(cache=True)
def _copy(source: Any, starts: Any, letters: Any, offsets: Any) -> None:
    for i in range(len(starts)):
        start, place = starts[i], offsets[i]
        for k in range(offsets[i + 1] - place):
            letters[place + k] = source[start + k]


@njit(cache=True)
def _word(letters: Any, start: Any, end: Any) -> Any:
    """Return the letters from `start` as a number that compares as they do.

    Its last byte is how many letters are left, 8 for more than 7: a name comes after the names
    that it begins with, and names with one word are equal if that is less than 8.
    """
    word = np.uint64(0)
    left = min(end - start, _STEP + 1)
    for k in range(min(left, _STEP)):
        word |= np.uint64(letters[start + k]) << np.uint64(56 - 8 * k)
    return word | np.uint64(left)


@njit(cache=True)
def _sort(letters: Any, offsets: Any, order: Any) -> None:
    """Sort by quicksort on words; names with one word are then sorted by their next word.

    Multikey quicksort (Bentley and Sedgewick, SODA 1997), several letters at a time.
    """
    words = np.empty(len(order), np.uint64)
    stack = [(0, len(order), 0, True)]
    while len(stack) > 0:
        low, high, depth, fresh = stack.pop()
        if fresh:
            for i in range(low, high):
                name = order[i]
                words[i] = _word(letters, offsets[name] + depth, offsets[name + 1])
        if high - low <= _SHORT:
            _sort_few(order, words, low, high)
            # Ranges of one word come from the back, as if split off below.
            end = high
            while end > low:
                start = end - 1
                while start > low and words[start - 1] == words[start]:
                    start -= 1
                if end - start > 1 and words[start] & np.uint64(255) > _STEP:
                    stack.append((start, end, depth + _STEP, True))
                end = start
            continue
        first, last = _split(order, words, low, high)
        stack.append((low, first, depth, False))
        stack.append((last, high, depth, False))
        if words[first] & np.uint64(255) > _STEP:
            stack.append((first, last, depth + _STEP, True))
        else:
            order[first:last].sort()


@njit(cache=True)
def _sort_few(order: Any, words: Any, low: Any, high: Any) -> None:
    """Sort a short range by (word, place), by insertion."""
    for i in range(low + 1, high):
        word, name = words[i], order[i]
        k = i
        while k > low and (words[k - 1] > word or (words[k - 1] == word and order[k - 1] > name)):
            words[k], order[k] = words[k - 1], order[k - 1]
            k -= 1
        words[k], order[k] = word, name


@njit(cache=True)
def _split(order: Any, words: Any, low: Any, high: Any) -> Any:
    """Split a range into words below, equal to and above one of them; return the bounds."""
    a, b, c = words[low], words[(low + high) // 2], words[high - 1]
    pivot = max(min(a, b), min(max(a, b), c))
    first, i, last = low, low, high
    while i < last:
        word = words[i]
        if word < pivot:
            words[i], words[first] = words[first], word
            order[i], order[first] = order[first], order[i]
            first += 1
            i += 1
        elif word > pivot:
            last -= 1
            words[i], words[last] = words[last], word
            order[i], order[last] = order[last], order[i]
        else:
            i += 1
    return first, last


@njit(cache=True)
def _compare(a: Any, a_start: Any, a_end: Any, b: Any, b_start: Any, b_end: Any) -> Any:
    """Return a number that is below, equal to or above 0 as name a comes before, at or after b."""
    a_length, b_length = a_end - a_start, b_end - b_start
    for k in range(min(a_length, b_length)):
        if a[a_start + k] != b[b_start + k]:
            return np.int64(a[a_start + k]) - np.int64(b[b_start + k])
    return a_length - b_length


@njit(cache=True)
def _search(letters: Any, offsets: Any, asked: Any, bounds: Any, places: Any) -> None:
    """Search in steps that double from the last place on, then by halves."""
    n = len(offsets) - 1
    low = 0
    for i in range(len(places)):
        start, end = bounds[i], bounds[i + 1]
        high, step = low, 1
        while high < n and (
            _compare(letters, offsets[high], offsets[high + 1], asked, start, end) < 0
        ):
            low = high + 1
            high += step
            step *= 2
        high = min(high, n)
        while low < high:
            middle = (low + high) // 2
            if _compare(letters, offsets[middle], offsets[middle + 1], asked, start, end) < 0:
                low = middle + 1
            else:
                high = middle
        places[i] = low


@njit(cache=True)
def _merge(a: Any, a_offsets: Any, b: Any, b_offsets: Any, letters: Any, offsets: Any) -> Any:
    """Merge sorted names, common ones once; return how many there are."""
    i = k = count = place = 0
    while i < len(a_offsets) - 1 or k < len(b_offsets) - 1:
        if i == len(a_offsets) - 1:
            sign = 1
        elif k == len(b_offsets) - 1:
            sign = -1
        else:
            sign = _compare(a, a_offsets[i], a_offsets[i + 1], b, b_offsets[k], b_offsets[k + 1])
        if sign <= 0:
            for at in range(a_offsets[i], a_offsets[i + 1]):
                letters[place] = a[at]
                place += 1
            i += 1
            k += sign == 0
        else:
            for at in range(b_offsets[k], b_offsets[k + 1]):
                letters[place] = b[at]
                place += 1
            k += 1
        count += 1
        offsets[count] = place
    return count


@njit(cache=True)
def _hash_all(letters: Any, offsets: Any, hashes: Any) -> None:
    for i in range(len(hashes)):
        hashes[i] = hash_of(letters, offsets[i], offsets[i + 1])


@njit(cache=True)
def hash_of(letters: Any, start: Any, end: Any) -> Any:
    """Return a hash of 32 bits of the name between two offsets, as a uint64."""
    # Words of eight letters, each mixed in by a multiplication.
    state = np.uint64(end - start) * np.uint64(0x9E3779B97F4A7C15)
    place = start
    while place < end:
        word = np.uint64(0)
        for k in range(min(end - place, 8)):
            word |= np.uint64(letters[place + k]) << np.uint64(8 * k)
        state = (state ^ word) * np.uint64(0xBF58476D1CE4E5B9)
        state ^= state >> np.uint64(32)
        place += 8
    state *= np.uint64(0x94D049BB133111EB)
    return state >> np.uint64(32)
