"""A rank's share of the rows of all graphs of a file, and what one look at each entry tells.

Rows and nodes are numbered throughout the file here, over all its graphs.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.checking.faults import Fault, Faults
from ogg_hpc.graphs.store_file import StoreFile
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.random_compiled import absorb, stream_state

# Rows and entries that are held at a time. A row may have more entries: it comes in pieces.
_ROWS = 1 << 17
_ENTRIES = 1 << 20
# Sums for the check of symmetry: one a node where there are no more nodes, else one for several.
_MOST_SUMS = 1 << 20
_STATE = stream_state(0, "entries of a symmetric matrix")


@dataclass(frozen=True, eq=False)
class Piece:
    """Entries of a share that lie side by side.

    Attributes
    ----------
    first_row : int
        The row of ``offsets[0]``.
    offsets : (rows + 1,) int64
        Where the rows begin and end among all entries of the file; the first and the last row may
        have more entries than the piece.
    begin : int
        Number of the first entry of the piece.
    columns : (entries,) int32 or int64
        Neighbour ids within the graph.
    weights : (entries,) float64, optional
    previous : int
        The entry before the first where it belongs to the same row, else -1.
    """

    first_row: int
    offsets: NDArray[np.int64]
    begin: int
    columns: NDArray[Any]
    weights: NDArray[np.float64] | None
    previous: int

    def row_of(self, entry: int) -> int:
        """Return the row of an entry."""
        return self.first_row + int(np.searchsorted(self.offsets, entry, side="right")) - 1

    @property
    def rows(self) -> NDArray[np.int64]:
        """(entries,) row of each entry."""
        end = self.begin + len(self.columns)
        bounds: NDArray[np.int64] = np.clip(self.offsets, self.begin, end)
        counts = np.diff(bounds)
        return np.repeat(np.arange(self.first_row, self.first_row + len(counts)), counts)


@dataclass(frozen=True, eq=False)
class Share:
    """Consecutive rows of a file that one rank checks, and the graphs that they belong to.

    Attributes
    ----------
    file : StoreFile
    begin, end : int
        The first row and the first after the last.
    graphs : (k,) int64
        Numbers of the graphs with rows among these.
    starts : (k + 1,) int64
        First row of each, and where the last ends; some may lie in the shares of other ranks.
    """

    file: StoreFile
    begin: int
    end: int
    graphs: NDArray[np.int64]
    starts: NDArray[np.int64]

    @staticmethod
    def of_rank(comm: Communicator, file: StoreFile) -> Share:
        """Return a rank's share; all have about as many rows and entries together."""

        def work(row: int) -> int:
            return row + int(file.array("row_offsets", row, row + 1)[0])

        nodes, total = file.counts.nodes, file.counts.nodes + file.counts.nnz
        begin, end = (
            bisect_left(range(nodes), total * rank // comm.size, key=work)
            for rank in (comm.rank, comm.rank + 1)
        )
        if comm.rank + 1 == comm.size:
            end = nodes
        if begin == end:
            return Share(file, begin, end, np.empty(0, np.int64), np.zeros(1, np.int64))
        bounds = file.dataset("graph_nodes")
        first, last = bisect_right(bounds, begin) - 1, bisect_left(bounds, end)
        starts = file.array("graph_nodes", first, last + 1)
        filled = np.flatnonzero(starts[1:] > starts[:-1])
        return Share(file, begin, end, first + filled, np.append(starts[filled], starts[-1]))

    def graph_places(self, rows: Any) -> Any:
        """Return where the graphs of rows lie among `graphs`."""
        return np.searchsorted(self.starts, rows, side="right") - 1

    def first_of_each_graph(self, rows: NDArray[np.int64]) -> Iterator[tuple[int, int, int]]:
        """Yield for each graph with rows among ascending ones: its number, the node, the place."""
        places, firsts = np.unique(self.graph_places(rows), return_index=True)
        for place, first in zip(places.tolist(), firsts.tolist(), strict=True):
            yield int(self.graphs[place]), int(rows[first] - self.starts[place]), first

    def row_blocks(self) -> Iterator[tuple[int, int]]:
        """Yield the share in ranges of rows."""
        for begin in range(self.begin, self.end, _ROWS):
            yield begin, min(begin + _ROWS, self.end)

    def pieces(self, begin: int, end: int) -> Iterator[Piece]:
        """Read the entries of rows begin … end - 1, some at a time."""
        file = self.file
        offsets = file.array("row_offsets", begin, end + 1)
        previous = -1
        for first in range(int(offsets[0]), int(offsets[-1]), _ENTRIES):
            last = min(first + _ENTRIES, int(offsets[-1]))
            lo = int(np.searchsorted(offsets, first, side="right")) - 1
            hi = int(np.searchsorted(offsets, last, side="left"))
            columns = file.array("columns", first, last)
            weights = file.array("weights", first, last) if file.kind.weighted else None
            cut = offsets[lo] < first
            yield Piece(
                begin + lo, offsets[lo : hi + 1], first, columns, weights, previous if cut else -1
            )
            previous = int(columns[-1])


def row_faults(share: Share) -> tuple[Faults, NDArray[np.uint64], int]:
    """Look at each entry of a share once.

    Returns
    -------
    faults
        The first fault of each kind that entries tell by themselves.
    sums : (sums,) uint64
        Summed over all ranks, zero for symmetric graphs. An unmatched entry (i, j), or one whose
        reverse has another weight, makes ``sums[i >> shift]`` and ``sums[j >> shift]`` random
        numbers: each pair of nodes has a hash, which the entry above the diagonal adds to the sums
        of both nodes and the one below subtracts.
    shift
        Consecutive nodes that share a sum, as a power of two.
    """
    file = share.file
    shift = max(0, (file.counts.nodes - 1) // _MOST_SUMS).bit_length()
    sums = np.zeros((file.counts.nodes >> shift) + 1, np.uint64)
    faults: Faults = {}
    for block in share.row_blocks():
        for piece in share.pieces(*block):
            low = share.graph_places(piece.first_row)
            high = share.graph_places(piece.first_row + len(piece.offsets) - 2) + 1
            first = np.full((high - low, Fault.WEIGHT + 1), -1)
            _examine(
                piece.first_row,
                piece.offsets,
                piece.begin,
                piece.columns,
                _bits(piece.weights),
                piece.previous,
                share.starts[low : high + 1],
                not file.kind.directed,
                _STATE,
                shift,
                sums,
                first,
            )
            for place, kind in np.argwhere(first >= 0).tolist():
                graph = int(share.graphs[low + place])
                start, stop = share.starts[low + place : low + place + 2].tolist()
                text = _message(piece, int(first[place, kind]), Fault(kind), start, stop)
                faults.setdefault((graph, Fault(kind)), text)
    return faults, sums, shift


def _bits(weights: NDArray[np.float64] | None) -> NDArray[np.uint64]:
    """Return weights as their bits, alike for equal ones: there are two zeros."""
    return np.empty(0, np.uint64) if weights is None else (weights + 0.0).view(np.uint64)


def _message(piece: Piece, entry: int, kind: Fault, start: int, stop: int) -> str:
    row, column = piece.row_of(entry) - start, piece.columns[entry - piece.begin]
    if kind is Fault.OUTSIDE:
        return f"row {row} names node {column}, there are {stop - start} nodes"
    if kind is Fault.LOOP:
        return f"node {row} has a self loop"
    if kind is Fault.UNSORTED:
        return f"row {row} is not sorted"
    if kind is Fault.REPEATED:
        return f"row {row} repeats node {column}"
    assert piece.weights is not None
    return f"entry ({row}, {column}) has weight {piece.weights[entry - piece.begin]}"


@numba.njit(cache=True)
def _examine(
    first_row: Any,
    offsets: Any,
    begin: Any,
    columns: Any,
    weight_bits: Any,
    previous: Any,
    starts: Any,
    undirected: Any,
    state: Any,
    shift: Any,
    sums: Any,
    first: Any,
) -> None:
    """Note the first entry of each kind of fault of each graph, and add up the sums."""
    weighted = len(weight_bits) > 0
    exponent = np.uint64(0x7FF)
    graph = 0
    for r in range(len(offsets) - 1):
        row = first_row + r
        while starts[graph + 1] <= row:
            graph += 1
        start, n = starts[graph], starts[graph + 1] - starts[graph]
        node = row - start
        lo, hi = max(offsets[r], begin), min(offsets[r + 1], begin + len(columns))
        before = previous if offsets[r] < begin else np.int64(-1)
        total = np.uint64(0)
        for entry in range(lo, hi):
            column = np.int64(columns[entry - begin])
            if column < 0 or column >= n:
                _note(first, graph, 0, entry)
                continue
            if column == node:
                _note(first, graph, 1, entry)
            if column < before:
                _note(first, graph, 2, entry)
            if column == before:
                _note(first, graph, 3, entry)
            before = column
            weight = np.uint64(0)
            if weighted:
                weight = weight_bits[entry - begin]
                if (weight >> np.uint64(52)) & exponent == exponent:
                    _note(first, graph, 4, entry)
            if undirected and column != node:
                other = start + column
                pair = absorb(absorb(state, min(row, other)), max(row, other))
                if weighted:
                    pair = absorb(pair, weight)
                if row > other:
                    pair = np.uint64(0) - pair
                total += pair
                sums[other >> shift] += pair
        sums[row >> shift] += total


@numba.njit(cache=True)
def _note(first: Any, graph: Any, kind: Any, entry: Any) -> None:
    if first[graph, kind] < 0:
        first[graph, kind] = entry
