"""Datasets of a store before they are written, to be read in pieces on any rank.

Some lie in the finished key ranges, which all ranks can read. Others are in memory, where each
rank holds its consecutive part: then a rank can read only some pieces.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.building.ranges import range_name
from ogg_hpc.graphs.building.rows import Summary
from ogg_hpc.graphs.store_format import chunk_length
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.parts import Parts

# Chunks of a slab, which one rank compresses at a time.
_SLAB_CHUNKS = 16


class Column(Protocol):
    """One dataset.

    Attributes
    ----------
    dtype, length
        Of the whole dataset.
    slabs
        Those that this rank alone can read; None where every rank can read all.
    """

    dtype: np.dtype[Any]
    length: int
    slabs: range | None

    def read(self, lo: int, hi: int) -> NDArray[Any]:
        """Return entries lo … hi - 1, all of one slab."""


def slab_length(column: Column) -> int:
    """Return the entries of a slab: a fixed number of whole chunks."""
    return _SLAB_CHUNKS * chunk_length(column.length, column.dtype)


def all_slabs(column: Column) -> range:
    """Return the numbers of all slabs of a column."""
    return range(-(-column.length // slab_length(column)))


class RangeColumn:
    """What the key ranges hold under one name, one after the other.

    Parameters
    ----------
    parts
        Where the ranges lie.
    member
        Name of the array within each.
    counts
        Entries of it in each range.
    dtype
        Its dtype.
    """

    slabs: range | None = None

    def __init__(self, parts: Parts, member: str, counts: Sequence[int], dtype: Any) -> None:
        self._ends = np.cumsum([0, *counts], dtype=np.int64)
        self.dtype, self.length = np.dtype(dtype), int(self._ends[-1])
        self._parts, self._member = parts, member

    def read(self, lo: int, hi: int) -> NDArray[Any]:
        """Return entries lo … hi - 1."""
        pieces = [np.empty(0, self.dtype)]
        number = int(np.searchsorted(self._ends, lo, side="right")) - 1
        while lo < hi:
            start, end = self._ends[number : number + 2].tolist()
            stop = min(end, hi)
            if stop > lo:
                array = self._parts.array(range_name(number), self._member)
                pieces.append(array.read(lo - start, stop - start))
            lo, number = stop, number + 1
        return np.concatenate(pieces)


class RowOffsets:
    """Where each row begins among the entries.

    Parameters
    ----------
    parts
        Where the ranges lie.
    n
        Number of nodes.
    ranges
        What each range holds.
    """

    slabs: range | None = None

    def __init__(self, parts: Parts, n: int, ranges: Sequence[Summary]) -> None:
        self.dtype: np.dtype[Any] = np.dtype(np.int64)
        self.length = n + 1
        self._parts = parts
        self._before = np.cumsum([0, *(one.entries for one in ranges)], dtype=np.int64)
        self._ranges = [(k, one) for k, one in enumerate(ranges) if one.rows]
        self._last_rows = np.array([one.last_row for _, one in self._ranges], dtype=np.int64)

    def read(self, lo: int, hi: int) -> NDArray[np.int64]:
        """Return the offsets of rows lo … hi - 1; row n is the end of all."""
        # The degree of the row before each.
        steps = np.zeros(hi - lo, np.int64)
        # Ranges that end before row lo lie before it as a whole.
        place = int(np.searchsorted(self._last_rows, lo))
        for number, one in self._ranges[place:]:
            if one.first_row >= hi - 1:
                break
            content = self._parts.read(range_name(number), ("rows", "degrees"))
            rows, degrees = content["rows"].astype(np.int64), content["degrees"]
            start, inside, stop = np.searchsorted(rows, [lo, lo, hi - 1])
            steps[rows[inside:stop] - lo + 1] += degrees[inside:stop]
            steps[0] += int(degrees[:start].sum(dtype=np.int64))
        first = self._ranges[place][0] if place < len(self._ranges) else len(self._before) - 1
        steps[0] += self._before[first]
        return np.cumsum(steps)


class MemoryColumn:
    """What the ranks hold in memory, each a consecutive part (creation is collective).

    Parameters
    ----------
    comm
        All ranks.
    values
        (any,) this rank's part, all in the order of ranks.
    """

    def __init__(self, comm: Communicator, values: NDArray[Any]) -> None:
        self.dtype = values.dtype
        ends = np.cumsum(comm.gather_objects(len(values)))
        self.length = int(ends[-1])
        start = int(ends[comm.rank]) - len(values)
        slab = slab_length(self)
        # A slab is for the rank in whose part it begins; what comes before goes to another.
        first = -(-start // slab)
        head = min(first * slab - start, len(values))
        counts = np.zeros(comm.size, np.int64)
        if head:
            counts[np.searchsorted(ends, (first - 1) * slab, side="right")] = head
        others, _ = comm.alltoallv(values[:head], counts)
        self._values = np.concatenate([values[head:], others]) if len(others) else values[head:]
        self._start = first * slab
        self.slabs: range | None = range(first, first + -(-len(self._values) // slab))

    def read(self, lo: int, hi: int) -> NDArray[Any]:
        """Return entries lo … hi - 1, of this rank's slabs."""
        return self._values[lo - self._start : hi - self._start]
