"""Which entry of an undirected graph has no reverse, once sums say that there is one.

Entries of which both nodes have sums that are not zero are candidates. They are looked at in
ranges of rows that hold few enough for all ranks to know: each rank then says which of these
have their reverse among its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.checking.faults import Fault, Faults
from ogg_hpc.graphs.checking.rows import Share
from ogg_hpc.runtime.communicator import Communicator

# Candidates of all ranks that each holds at a time, at some 60 bytes each.
_CANDIDATES = 1 << 22
# What is known of a candidate's reverse.
_MISSING, _UNEQUAL, _EQUAL = np.uint8(0), np.uint8(1), np.uint8(2)

_Entries = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


def reverse_faults(
    comm: Communicator,
    share: Share,
    sums: NDArray[np.uint64],
    shift: int,
    passed_over: set[int],
) -> Faults:
    """Return this rank's first entry of each graph without its reverse (collective).

    Parameters
    ----------
    comm
        The ranks.
    share
        This rank's rows.
    sums, shift
        As `row_faults` gives them, summed over the ranks.
    passed_over
        Graphs that need not be looked at.

    Returns
    -------
    Faults
        Where no entry of a graph lacks its reverse, but weights differ, the first such entry.
    """
    candidates = _Candidates(share, sums != 0, shift, set(passed_over))
    missing: Faults = {}
    unequal: Faults = {}
    for window in _windows(comm.allreduce(comm.on_all(candidates.counts))):
        mine = comm.on_all(partial(candidates.of_rows, window))
        lengths = comm.gather_objects(len(mine[0]))
        everyone = (comm.allgatherv(part, lengths) for part in mine)
        wanted = _Wanted(share.file.counts.nodes, *everyone)
        found = comm.on_all(partial(wanted.reverses, candidates.entries(columns=window)))
        known = comm.allreduce(found, "max")
        known = known[sum(lengths[: comm.rank]) :][: len(mine[0])]
        _tell(share, mine, known == _MISSING, missing, "it is not symmetric: {} has no reverse")
        _tell(share, mine, known == _UNEQUAL, unequal, "its weights are not symmetric at {}")
        candidates.passed_over.update(*comm.gather_objects([graph for graph, _ in missing]))
    return unequal | missing


def _windows(counts: NDArray[np.int64]) -> Iterator[slice]:
    """Yield ranges of sums whose rows have few candidates each, by the number that each has."""
    ends = np.cumsum(counts)
    first = done = 0
    while done < ends[-1]:
        last = max(first + 1, int(np.searchsorted(ends, done + _CANDIDATES, side="right")))
        if ends[last - 1] > done:
            yield slice(first, last)
        first, done = last, int(ends[last - 1])


@dataclass
class _Candidates:
    """Entries of a share that may lack their reverse.

    Attributes
    ----------
    share : Share
    suspect : (sums,) bool
        Which sums are not zero.
    shift : int
        Consecutive nodes that share a sum, as a power of two.
    passed_over : set of int
        Graphs that need not be looked at.
    """

    share: Share
    suspect: NDArray[np.bool_]
    shift: int
    passed_over: set[int]

    def counts(self) -> NDArray[np.int64]:
        """Return the number of candidates in the rows of each sum."""
        counts = np.zeros(len(self.suspect), np.int64)
        for rows, _, _ in self.entries():
            counts += np.bincount(rows >> self.shift, minlength=len(counts))
        return counts

    def of_rows(self, window: slice) -> _Entries:
        """Return all candidates in the rows of a range of sums."""
        nothing = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
        rows, columns, weights = zip(nothing, *self.entries(rows=window), strict=True)
        return np.concatenate(rows), np.concatenate(columns), np.concatenate(weights)

    def entries(
        self, rows: slice = slice(None), columns: slice = slice(None)
    ) -> Iterator[_Entries]:
        """Yield candidates by piece whose rows and columns have sums within ranges."""
        share, shift = self.share, self.shift
        of_rows, of_columns = self._within(rows), self._within(columns)
        fit = ~np.isin(share.graphs, list(self.passed_over))
        for begin, end in share.row_blocks():
            block = np.arange(begin, end)
            if not (of_rows[block >> shift] & fit[share.graph_places(block)]).any():
                continue
            for piece in share.pieces(begin, end):
                i = piece.rows
                places = share.graph_places(i)
                j = share.starts[places] + piece.columns
                chosen = fit[places] & of_rows[i >> shift] & (i != j)
                # Those of graphs that are passed over may lie beyond all nodes.
                chosen[chosen] = of_columns[j[chosen] >> shift]
                weights = np.zeros(len(i)) if piece.weights is None else piece.weights
                yield i[chosen], j[chosen], weights[chosen]

    def _within(self, window: slice) -> NDArray[np.bool_]:
        within = np.zeros_like(self.suspect)
        within[window] = self.suspect[window]
        return within


class _Wanted:
    """Candidates of all ranks in some rows, in their order, whose reverse is looked for."""

    def __init__(
        self,
        nodes: int,
        rows: NDArray[np.int64],
        columns: NDArray[np.int64],
        weights: NDArray[np.float64],
    ) -> None:
        self.nodes = nodes
        self.distinct_rows, places = np.unique(rows, return_inverse=True)
        # Below 2**63, for there are few rows.
        self.keys = places * nodes + columns
        self.weights = weights

    def reverses(self, entries: Iterator[_Entries]) -> NDArray[np.uint8]:
        """Return what is known of each candidate after a look at these entries."""
        known = np.full(len(self.keys), _MISSING)
        for columns, rows, weights in entries:
            places = np.searchsorted(self.distinct_rows, rows)
            inside = places < len(self.distinct_rows)
            inside[inside] = self.distinct_rows[places[inside]] == rows[inside]
            keys = places[inside] * self.nodes + columns[inside]
            at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
            hit = self.keys[at] == keys
            at, weights = at[hit], weights[inside][hit]
            equal = (self.weights[at] == weights) | (np.isnan(self.weights[at]) & np.isnan(weights))
            known[at] = np.where(equal, _EQUAL, _UNEQUAL)
        return known


def _tell(
    share: Share, entries: _Entries, wrong: NDArray[np.bool_], faults: Faults, text: str
) -> None:
    rows, columns = entries[0][wrong], entries[1][wrong]
    for graph, node, first in share.first_of_each_graph(rows):
        other = int(columns[first]) - (int(rows[first]) - node)
        faults.setdefault((graph, Fault.REVERSE), text.format(f"({node}, {other})"))
