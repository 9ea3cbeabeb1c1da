"""Sums over neighbours for many masks at once: one pass over the adjacency for up to 64 of them.

The numbers of the masks on a graph lie side by side, so that an entry of the adjacency is read
once and a few vector instructions add its column for all masks. Columns are held in the narrowest
type that takes their largest number; as many are added in that type as cannot overflow it, and
the result is then added to the wide sum.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.graphs.neighbour_lists import NeighbourLists

T = TypeVar("T")

# One pass serves this many masks: their columns of bytes are one cache line.
_WIDTH = 64
# Columns added at a time: types are chosen with room for so many.
ROOM = 8
# Below this number of operations, threads cost more than they save.
_WORTH_THREADS = 1 << 21


class MaskedGraphs:
    """B masks, each on one of the graphs of some `NeighbourLists`.

    Arrays over them are flat. A *group* is up to 64 masks on the same graph; its part of an array
    is (nodes, masks) in a replicated array and (rows, masks) in one of this rank's rows.

    Parameters
    ----------
    lists
        The graphs.
    graphs
        (B,) the graph that each mask is on.

    Attributes
    ----------
    lists : NeighbourLists
        The graphs.
    graph, masks : (groups,) int64
        Graph and number of masks of each group.
    whole, own : (groups + 1,) int64
        Where each group starts in a replicated array, and in one of this rank's rows.
    first : (groups,) int64
        Position of each group's first mask in the order of the groups.
    position : (B,) int64
        Position of each mask in that order.
    """

    def __init__(self, lists: NeighbourLists, graphs: NDArray[np.int64]) -> None:
        self.lists = lists
        order = np.argsort(graphs, kind="stable")
        in_order = graphs[order]
        column = (np.arange(len(graphs)) - np.searchsorted(in_order, in_order)) % _WIDTH
        self.first = np.flatnonzero(column == 0)
        self.graph = in_order[self.first]
        self.masks = np.diff(np.append(self.first, len(graphs)))
        self.position = np.empty_like(order)
        self.position[order] = np.arange(len(graphs))
        group = np.cumsum(column == 0) - 1
        self._group, self._column = group[self.position], column[self.position]
        offsets = lists.offsets[self.graph]
        self._lo = offsets[:, lists.comm.rank]
        self.whole = np.cumsum(np.append(0, offsets[:, -1] * self.masks))
        self.own = np.cumsum(np.append(0, np.diff(lists.first_row)[self.graph] * self.masks))

    def everything(self) -> NDArray[np.uint8]:
        """Return the replicated array of masks that hold all nodes, as ones."""
        return np.ones(self.whole[-1], np.uint8)

    def at(self, masks: NDArray[np.int64], nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return where a node of each of some masks is in a replicated array."""
        group = self._group[masks]
        place: NDArray[np.int64] = (
            self.whole[group] + nodes * self.masks[group] + self._column[masks]
        )
        return place

    def graph_of(self, masks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the graphs that some masks are on."""
        graphs: NDArray[np.int64] = self.graph[self._group[masks]]
        return graphs

    def own_at(
        self, masks: NDArray[np.int64], nodes: NDArray[np.int64]
    ) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Return which of some nodes are this rank's, and where those are in its arrays."""
        group = self._group[masks]
        row = nodes - self._lo[group]
        mine = (row >= 0) & (row < np.diff(self.lists.first_row)[self.graph[group]])
        place = self.own[group] + row * self.masks[group] + self._column[masks]
        return mine, place[mine]

    def neighbour_sums(self, values: NDArray[Any], most: int, dtype: Any) -> NDArray[Any]:
        """Sum the values of each row's neighbours.

        Parameters
        ----------
        values
            Replicated array of an unsigned integer type.
        most
            No value is larger. Fast where the type of `values` takes `ROOM` times as much.
        dtype
            An integer type that no sum overflows.

        Returns
        -------
        array of `dtype`
            Of this rank's rows.
        """
        lists = self.lists
        sums = np.empty(self.own[-1], dtype)
        run = int(np.iinfo(values.dtype).max) // max(most, 1)
        run = max(run - run % ROOM, 1)
        groups = (self.graph, self.masks, self.whole, self.own)
        entries = np.diff(lists.starts[lists.first_row])[self.graph]
        in_parts(
            lambda part, parts: _neighbour_sums(
                lists.starts, lists.columns, lists.first_row, groups, values, run, sums, part, parts
            ),
            int(entries @ self.masks),
        )
        return sums

    def gather(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the replicated array whose rows the ranks hold (collective).

        On one rank that is the very same array.
        """
        comm = self.lists.comm
        if comm.size == 1:
            return rows
        offsets = self.lists.offsets[self.graph]
        counts = (np.diff(offsets, axis=1) * self.masks[:, None]).sum(axis=0)
        gathered: NDArray[Any] = comm.allgatherv(rows, counts)
        values = np.empty_like(gathered)
        _by_group(gathered, offsets, self.masks, self.whole, values)
        return values

    def rows(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return this rank's rows of a replicated array: itself on one rank."""
        if self.lists.comm.size == 1:
            return values
        rows = np.empty(self.own[-1], values.dtype)
        _rows_of(values, self._lo * self.masks, self.whole, self.own, rows)
        return rows


def in_parts(work: Callable[[int, int], T], operations: int) -> list[T]:
    """Return ``work(part, parts)`` of all parts: on threads where there is enough to do.

    Ranks share cores: a rank uses as many threads as `ogg_hpc.runtime.launch.start` has set in
    ``OMP_NUM_THREADS``.

    Parameters
    ----------
    work
        Compiled code that does not hold Python's lock.
    operations
        About how many there are in all parts together.
    """
    threads = _threads()
    if threads == 1 or operations < _WORTH_THREADS:
        return [work(0, 1)]
    parts = 4 * threads  # so that none waits long for another
    return list(_pool(threads).map(lambda part: work(part, parts), range(parts)))


def _threads() -> int:
    number = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, int(number)) if number.isdigit() else len(os.sched_getaffinity(0))


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, "masked-sums")


@njit(nogil=True, cache=True)
def _neighbour_sums(
    starts: Any,
    columns: Any,
    first_row: Any,
    groups: Any,
    values: Any,
    run: Any,
    sums: Any,
    part: Any,
    parts: Any,
) -> None:
    graph, masks, whole, own = groups
    for g in range(len(graph)):
        width = masks[g]
        first, last = first_row[graph[g]], first_row[graph[g] + 1]
        # Parts have equal numbers of entries, not of rows.
        entries, bounds = starts[last] - starts[first], starts[first:last]
        lo = np.searchsorted(bounds, starts[first] + entries * part // parts)
        hi = np.searchsorted(bounds, starts[first] + entries * (part + 1) // parts)
        if part == parts - 1:
            hi = last - first
        nodes = (whole[g + 1] - whole[g]) // width
        of_node = values[whole[g] : whole[g + 1]].reshape((nodes, width))
        of_row = sums[own[g] : own[g + 1]].reshape((last - first, width))[lo:hi]
        offsets = starts[first + lo : first + hi + 1]
        if width == 1:
            _sum_alone(offsets, columns, of_node[:, 0], of_row[:, 0])
        elif width == _WIDTH:  # compiled for this width
            _sum_columns(offsets, columns, of_node, run, of_row, _WIDTH)
        else:
            _sum_columns(offsets, columns, of_node, run, of_row, width)


@njit(nogil=True, cache=True)
def _sum_alone(starts: Any, columns: Any, of_node: Any, of_row: Any) -> None:
    for row in range(len(of_row)):
        total = np.int64(0)
        for column in columns[starts[row] : starts[row + 1]]:
            total += of_node[np.uint64(column)]
        of_row[row] = total


@njit(nogil=True, cache=True, forceinline=True)
def _sum_columns(
    starts: Any, columns: Any, of_node: Any, run: Any, of_row: Any, width: Any
) -> None:
    narrow = np.empty(width, of_node.dtype)
    for row in range(len(of_row)):
        total = of_row[row]
        total[:] = 0
        k, end = starts[row], starts[row + 1]
        while k < end:
            stop = min(k + run, end)
            narrow[:] = 0
            # Several columns at a time, for each column waits for the one before it.
            while k + ROOM <= stop:
                ids = columns[k : k + ROOM]
                a, b = of_node[np.uint64(ids[0])], of_node[np.uint64(ids[1])]
                c, d = of_node[np.uint64(ids[2])], of_node[np.uint64(ids[3])]
                e, f = of_node[np.uint64(ids[4])], of_node[np.uint64(ids[5])]
                x, y = of_node[np.uint64(ids[6])], of_node[np.uint64(ids[7])]
                for j in range(width):
                    narrow[j] += ((a[j] + b[j]) + (c[j] + d[j])) + ((e[j] + f[j]) + (x[j] + y[j]))
                k += ROOM
            while k < stop:
                a = of_node[np.uint64(columns[k])]
                for j in range(width):
                    narrow[j] += a[j]
                k += 1
            for j in range(width):
                total[j] += narrow[j]


@njit(cache=True)
def _by_group(gathered: Any, offsets: Any, masks: Any, whole: Any, values: Any) -> None:
    """Bring rows that lie rank by rank into the order of groups and nodes."""
    k = 0
    for rank in range(offsets.shape[1] - 1):
        for g in range(len(masks)):
            start = whole[g] + offsets[g, rank] * masks[g]
            count = (offsets[g, rank + 1] - offsets[g, rank]) * masks[g]
            values[start : start + count] = gathered[k : k + count]
            k += count


@njit(cache=True)
def _rows_of(values: Any, start: Any, whole: Any, own: Any, rows: Any) -> None:
    for g in range(len(start)):
        count = own[g + 1] - own[g]
        place = whole[g] + start[g]
        rows[own[g] : own[g] + count] = values[place : place + count]
