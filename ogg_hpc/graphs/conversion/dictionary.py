"""The numbers of nodes: which place each label has among all labels, sorted.

Labels come in pieces, each sorted and distinct. Numbers do not depend on how many pieces or ranks
there are. Integers that lie close together are bits of a map that every rank holds, so that a
look-up takes no message. Other labels are divided among the ranks by ranges: a look-up is an
exchange in which all ranks take part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any, Protocol

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.conversion.bits import ones
from ogg_hpc.graphs.conversion.sorted_labels import (
    Labels,
    exchange,
    hashes,
    search,
    union,
)
from ogg_hpc.graphs.names import Names
from ogg_hpc.runtime.communicator import Communicator

# A map may have so many bits for each label.
_BITS_PER_LABEL = 64
# Words of 64 bits that a count comes before: a line of the cache.
_LINE = 8
# Labels that each rank gives to choose ranges by.
_SAMPLE = 4096
_MOST_HASH = np.uint64(2**64 - 1)
_INT64 = np.iinfo(np.int64)


class Dictionary(Protocol):
    """Numbers of labels.

    Attributes
    ----------
    nodes : int
        How many distinct labels there are; their numbers are 0, 1, …
    first : int
        The number of the first label of this rank's segment.
    """

    nodes: int
    first: int

    @property
    def segment(self) -> Labels | None:
        """The sorted labels, this rank's consecutive part; None if label i is i everywhere."""

    def ids_of(self, labels: Labels | None) -> NDArray[np.int64]:
        """Return (k,) numbers of labels of one piece (collective).

        Parameters
        ----------
        labels
            Sorted, among those that the dictionary was made of; None where this rank has none.
        """


def build_dictionary(
    comm: Communicator, pieces: int, read: Callable[[int], Labels], memory: int
) -> Dictionary:
    """Give each label of all pieces its number (collective).

    Parameters
    ----------
    comm
        Rank r reads the pieces r, r + P, …
    pieces
        How many there are, one at least.
    read
        Gives the labels of a piece, sorted and distinct; of one kind in all pieces.
    memory
        Bytes that this rank may use.

    Raises
    ------
    SettingsError
        The labels do not fit in the memory of the ranks.
    """
    bounds = _bounds(comm, pieces, read)
    # A bit and an eighth for each label of the range, twice while the ranks combine them.
    if bounds is not None and bounds[1] - bounds[0] < memory:
        return BitMap(comm, pieces, read, *bounds)
    return Ranges(comm, pieces, read, memory)


def _bounds(
    comm: Communicator, pieces: int, read: Callable[[int], Labels]
) -> tuple[int, int] | None:
    """Return the least and the largest of integers that lie close together, else None."""
    low, high, count, named = _INT64.max, _INT64.min, 0, False
    for piece in range(comm.rank, pieces, comm.size):
        labels = read(piece)
        count += len(labels)
        if isinstance(labels, Names):
            named = True
        elif len(labels):
            low, high = min(low, int(labels[0])), max(high, int(labels[-1]))
    everyone = comm.gather_objects((low, high, count, named))
    lows, highs, counts, any_named = zip(*everyone, strict=True)
    bits = max(highs) - min(lows) + 1
    if any(any_named) or bits > _BITS_PER_LABEL * sum(counts) + 1024:
        return None
    return min(lows), max(highs)


class BitMap:
    """Numbers of integers from a bit for each of a range; every rank holds all of it (collective).

    Parameters
    ----------
    comm, pieces, read
        As for `build_dictionary`.
    low, high
        The least and the largest label.
    """

    def __init__(
        self,
        comm: Communicator,
        pieces: int,
        read: Callable[[int], Labels],
        low: int,
        high: int,
    ) -> None:
        self._low = low
        words = -(-(high - low + 1) // (64 * _LINE)) * _LINE
        bits = np.zeros(words, np.uint64)
        for piece in range(comm.rank, pieces, comm.size):
            _set_bits(bits, low, read(piece))
        self._bits: NDArray[np.uint64] = comm.allreduce(bits, "or") if comm.size > 1 else bits
        self._before = np.zeros(words // _LINE + 1, np.int64)
        _count_bits(self._bits, self._before)
        self.nodes = int(self._before[-1])
        self._trivial = low == 0 and self.nodes == high + 1
        lines = words // _LINE
        self._lines = [lines * rank // comm.size for rank in (comm.rank, comm.rank + 1)]
        self.first = int(self._before[self._lines[0]])

    @property
    def segment(self) -> NDArray[np.int64] | None:
        """See `Dictionary`."""
        if self._trivial:
            return None
        first, last = self._lines
        labels = np.empty(self._before[last] - self._before[first], np.int64)
        _list_bits(self._bits, first * _LINE, last * _LINE, self._low, labels)
        return labels

    def ids_of(self, labels: Labels | None) -> NDArray[np.int64]:
        """See `Dictionary`; takes no message."""
        if labels is None or self._trivial:
            return np.empty(0, np.int64) if labels is None else np.asarray(labels)
        ids = np.empty(len(labels), np.int64)
        _rank_bits(self._bits, self._before, self._low, labels, ids)
        return ids


class Ranges:
    """Numbers of labels of any kind, each rank holding those of a range (collective).

    Parameters
    ----------
    comm, pieces, read, memory
        As for `build_dictionary`.
    """

    def __init__(
        self, comm: Communicator, pieces: int, read: Callable[[int], Labels], memory: int
    ) -> None:
        self._comm = comm
        self._splitters = _splitters(comm, pieces, read)
        runs = _Runs(self._splitters[:0])
        for labels in _rounds(comm, pieces, read):
            received, _ = self._send(labels)
            for part in received:
                runs.add(part)
            comm.on_all(lambda: _check_memory(runs.nbytes, memory))
        self._segment = runs.union()
        counts = comm.gather_objects(len(self._segment))
        self.first = sum(counts[: comm.rank])
        self.nodes = sum(counts)
        self._trivial = all(comm.gather_objects(self._counts_on()))

    @property
    def segment(self) -> Labels | None:
        """See `Dictionary`."""
        return None if self._trivial else self._segment

    def ids_of(self, labels: Labels | None) -> NDArray[np.int64]:
        """See `Dictionary`."""
        parts, received = self._send(labels)
        places = [search(self._segment, part) + self.first for part in parts]
        ids: NDArray[np.int64] = self._comm.alltoallv(np.concatenate(places), received)[0]
        return ids

    def _counts_on(self) -> bool:
        if isinstance(self._segment, Names):
            return False
        return np.array_equal(self._segment, np.arange(self.first, self.first + len(self._segment)))

    def _send(self, labels: Labels | None) -> tuple[list[Labels], NDArray[np.int64]]:
        """Send labels to the ranks of their ranges; return those from each rank."""
        if labels is None:
            labels = self._splitters[:0]
        cuts = [0, *search(labels, self._splitters).tolist(), len(labels)]
        return exchange(self._comm, labels, np.diff(cuts))


class _Runs:
    """Sorted distinct labels that grow: lists that double in length, merged when two are alike."""

    def __init__(self, empty: Labels) -> None:
        self._runs = [empty]

    @property
    def nbytes(self) -> int:
        return sum(run.nbytes for run in self._runs)

    def add(self, labels: Labels) -> None:
        self._runs.append(labels)
        while len(self._runs) > 1 and len(self._runs[-2]) < 2 * len(self._runs[-1]):
            self._merge()

    def union(self) -> Labels:
        while len(self._runs) > 1:
            self._merge()
        return self._runs[0]

    def _merge(self) -> None:
        last = self._runs.pop()
        self._runs[-1] = union(self._runs[-1], last)


def _rounds(
    comm: Communicator, pieces: int, read: Callable[[int], Labels]
) -> Iterator[Labels | None]:
    """Yield the labels of this rank's pieces, then None until every rank has had its own."""
    for start in range(0, pieces, comm.size):
        piece = start + comm.rank
        yield read(piece) if piece < pieces else None


def _splitters(comm: Communicator, pieces: int, read: Callable[[int], Labels]) -> Labels:
    """Return (P - 1,) sorted labels that cut all distinct labels into about equal parts.

    Each rank takes the labels of the lowest hashes, which are the same wherever a label occurs:
    a sample of the distinct labels, however often some are repeated (Gibbons, VLDB 2001).
    """
    sample: Labels | None = None
    for piece in range(comm.rank, pieces, comm.size):
        labels = _lowest_hashes(read(piece))
        sample = labels if sample is None else _lowest_hashes(union(sample, labels))
    samples = [each for each in comm.gather_objects(sample) if each is not None]
    # Beyond the shortest of the full samples, some rank has left labels out.
    reach = min(
        (hashes(each).max() for each in samples if len(each) == _SAMPLE), default=_MOST_HASH
    )
    merged = reduce(union, samples)
    merged = merged.take(np.flatnonzero(hashes(merged) <= reach))
    return merged.take(len(merged) * np.arange(1, comm.size) // comm.size)


def _lowest_hashes(labels: Labels) -> Labels:
    if len(labels) <= _SAMPLE:
        return labels
    return labels.take(np.sort(np.argpartition(hashes(labels), _SAMPLE)[:_SAMPLE]))


def _check_memory(used: int, memory: int) -> None:
    # A merger takes as much again, and who uses the dictionary needs memory, too.
    if 4 * used > memory:
        raise SettingsError(
            f"the labels of the nodes do not fit in the {memory / 2**20:.0f} MiB of memory that a "
            "rank may use; take more ranks, or allow more by --memory"
        )


@njit(cache=True)
def _set_bits(bits: Any, low: Any, labels: Any) -> None:
    for label in labels:
        bit = np.uint64(label - low)
        bits[bit >> np.uint64(6)] |= np.uint64(1) << (bit & np.uint64(63))


@njit(cache=True)
def _count_bits(bits: Any, before: Any) -> None:
    """Set how many ones come before each line of words."""
    for word in range(len(bits)):
        before[word // _LINE + 1] += ones(bits[word])
    for line in range(1, len(before)):
        before[line] += before[line - 1]


@njit(cache=True)
def _rank_bits(bits: Any, before: Any, low: Any, labels: Any, ids: Any) -> None:
    for i in range(len(labels)):
        bit = labels[i] - low
        word = bit >> 6
        line = word // _LINE
        count = before[line]
        for earlier in range(line * _LINE, word):
            count += ones(bits[earlier])
        below = (np.uint64(1) << np.uint64(bit & 63)) - np.uint64(1)
        ids[i] = count + ones(bits[word] & below)


@njit(cache=True)
def _list_bits(bits: Any, first: Any, last: Any, low: Any, labels: Any) -> None:
    """List the labels of the ones in words first … last - 1."""
    count = 0
    for word in range(first, last):
        left = bits[word]
        for place in range(64):
            if left >> np.uint64(place) & np.uint64(1):
                labels[count] = low + 64 * word + place
                count += 1
