"""Local search for small vertex covers, by exchanges of two nodes under edge weights.

From a cover of k nodes one is removed, and nodes are exchanged until the k - 1 that remain cover
every edge again; then for k - 2, and so on. Edges that stay uncovered gain weight, so that the
search leaves where it is stuck, and a node that was removed may come back only after a neighbour
has changed [1]_. In large covers the node to remove is the best of a sample [2]_.

References
----------
.. [1] S. Cai, K. Su, C. Luo and A. Sattar, "NuMVC: an efficient local search algorithm for minimum
   vertex cover", J. Artificial Intelligence Research 46, 687-716, 2013.
.. [2] S. Cai, J. Lin and C. Luo, "Finding a small vertex cover in massive sparse graphs", J.
   Artificial Intelligence Research 59, 463-494, 2017.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.runtime.random_compiled import absorb, begin, to_integer

# On social networks of thousands of nodes samples of 50 found no smaller cover in 5 s, and looks at
# all nodes came a little less far than these.
_SAMPLE = 2_000  # nodes looked at for the one to remove
_MEAN_WEIGHT = 0.5  # times the nodes: from there on weights are forgotten
_KEPT = 0.3  # share of a weight that is not forgotten
_WORK = 30_000_000  # memory accesses between two answers, roughly
_FIXED = 200  # of an exchange on the smallest graphs: what it takes beside neighbours and sample


def search_covers(graph: Graph, cover: NDArray[np.int64], seed: int) -> Iterator[NDArray[np.int64]]:
    """Yield the smallest cover so far, again and again; ends only when no node can be spared.

    Parameters
    ----------
    graph
        An undirected graph. Nodes with a self loop stay in the cover.
    cover
        (k,) ids of a cover.
    seed
        Of the random numbers.

    Yields
    ------
    (j,) int64
        Sorted ids of the smallest cover so far, after a number of exchanges that depends on the
        graph alone. No cover found is larger than `cover`.
    """
    search = CoverSearch(graph, cover, seed)
    mean_degree = len(graph.columns) // max(graph.n, 1)
    exchanges = max(100, _WORK // (_FIXED + 4 * mean_degree + 2 * min(len(cover), _SAMPLE)))
    while search.advance(exchanges):
        yield search.best()
    yield search.best()


class CoverSearch:
    """The state of the search.

    Attributes
    ----------
    edge_of : (nnz,) int32 or int64
        The edge that each entry of the graph's columns belongs to.
    ends : (m, 2)
        The nodes of each edge.
    weight : (m,) int64
    open_edges, open_place : (m,)
        Edges left uncovered, the first `counts[0]`, and the place of each edge there, or -1.
    members, member_place : (n,) int64
        Nodes in the cover that may leave it, the first `counts[1]`, and places, or -1.
    gain : (n,) int64
        What the weight of uncovered edges would fall by if a node changed sides: not positive for
        nodes of the cover.
    changed : (n,) int64
        The exchange at which a node last changed sides.
    may_enter : (n,) bool
        Whether a neighbour has changed since the node was removed.
    smallest : (n,) bool
        The smallest cover so far.
    counts : (5,) int64
        Open edges, members, exchanges, sum of weights, and the node added last.
    """

    def __init__(self, graph: Graph, cover: NDArray[np.int64], seed: int) -> None:
        n, m = graph.n, graph.m
        self._graph = graph
        self.seed = np.uint64(seed & 0xFFFFFFFFFFFFFFFF)
        sources, targets, _ = graph.edges()
        self.ends = np.stack([sources, targets], axis=1)
        self.edge_of = _edge_of_entry(graph.row_offsets, graph.columns, self.ends.dtype.type(0))
        self.weight = np.ones(m, np.int64)
        self.open_edges = np.empty(m, self.ends.dtype)
        self.open_place = np.full(m, -1, self.ends.dtype)
        self.in_cover = np.zeros(n, np.bool_)
        self.in_cover[cover] = True
        self.smallest = self.in_cover.copy()
        removable = self.in_cover.copy()
        removable[graph.looped] = False
        members = np.flatnonzero(removable)
        self.members, self.member_place = np.empty(n, np.int64), np.full(n, -1)
        self.members[: len(members)] = members
        self.member_place[members] = np.arange(len(members))
        self.gain, self.changed = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self.may_enter = np.ones(n, np.bool_)
        self.counts = np.array([0, len(members), 0, m, -1])
        _losses(graph.row_offsets, graph.columns, self.in_cover, self.gain)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """What the compiled functions take."""
        return (
            self._graph.row_offsets, self._graph.columns, self.edge_of, self.ends, self.weight,
            self.open_edges, self.open_place, self.in_cover, self.members, self.member_place,
            self.gain, self.changed, self.may_enter, self.smallest, self.counts,
        )  # fmt: skip

    def advance(self, exchanges: int) -> bool:
        """Make so many exchanges; return whether more can be made."""
        return bool(_advance(exchanges, self.seed, *self.arrays))

    def best(self) -> NDArray[np.int64]:
        """Return the smallest cover so far."""
        return np.flatnonzero(self.smallest)


@njit(cache=True)
def _edge_of_entry(row_offsets: Any, columns: Any, zero: Any) -> Any:
    """Return the edge of each entry, numbered by first end, then second, as `Graph.edges` does."""
    edge_of, place = np.full(len(columns), zero), row_offsets[:-1].copy()
    edge = zero
    for v in range(len(place)):
        # What leads to lower ids was numbered, and passed, from there.
        for entry in range(place[v], row_offsets[v + 1]):
            u = columns[entry]
            edge_of[entry] = edge_of[place[u]] = edge
            place[u] += 1
            edge += 1
    return edge_of


@njit(cache=True)
def _losses(row_offsets: Any, columns: Any, in_cover: Any, gain: Any) -> None:
    for v in range(len(gain)):
        if in_cover[v]:
            for u in columns[row_offsets[v] : row_offsets[v + 1]]:
                if not in_cover[u]:
                    gain[v] -= 1


@njit(cache=True)
def _advance(
    exchanges: Any, seed: Any, row_offsets: Any, columns: Any, edge_of: Any, ends: Any,
    weight: Any, open_edges: Any, open_place: Any, in_cover: Any, members: Any, member_place: Any,
    gain: Any, changed: Any, may_enter: Any, smallest: Any, counts: Any,
) -> Any:  # fmt: skip
    n = len(gain)
    limit = np.int64(_MEAN_WEIGHT * n * len(weight))
    start = begin(seed)
    for _ in range(exchanges):
        while counts[0] == 0:
            smallest[:] = in_cover
            if counts[1] == 0:
                return False
            v = members[0]
            for u in members[1 : counts[1]]:
                if gain[u] > gain[v] or (gain[u] == gain[v] and changed[u] < changed[v]):
                    v = u
            remove(
                v, row_offsets, columns, edge_of, weight, open_edges, open_place, in_cover,
                members, member_place, gain, changed, may_enter, counts,
            )  # fmt: skip
        if counts[1] == 0:
            return False
        counts[2] += 1
        state = absorb(start, counts[2])
        v = _to_remove(state, members, gain, changed, counts)
        remove(
            v, row_offsets, columns, edge_of, weight, open_edges, open_place, in_cover, members,
            member_place, gain, changed, may_enter, counts,
        )  # fmt: skip
        edge = open_edges[to_integer(absorb(state, 1), counts[0])]
        v, u = ends[edge, 0], ends[edge, 1]
        if not may_enter[v] or (
            may_enter[u] and (gain[u] > gain[v] or (gain[u] == gain[v] and changed[u] < changed[v]))
        ):
            v = u
        add(
            v, row_offsets, columns, edge_of, weight, open_edges, open_place, in_cover, members,
            member_place, gain, changed, may_enter, counts,
        )  # fmt: skip
        for edge in open_edges[: counts[0]]:
            weight[edge] += 1
            gain[ends[edge, 0]] += 1
            gain[ends[edge, 1]] += 1
        counts[3] += counts[0]
        if counts[3] > limit:
            forget(ends, weight, open_place, in_cover, gain, counts)
    return True


@njit(cache=True)
def _to_remove(state: Any, members: Any, gain: Any, changed: Any, counts: Any) -> Any:
    """Return the node of least loss, the oldest of such, but not the one added last."""
    size, best = counts[1], -1
    place = to_integer(state, size) if size > _SAMPLE else 0
    for _ in range(min(size, _SAMPLE)):
        v = members[place]
        place = place + 1 if place + 1 < size else 0
        if v != counts[4] and (
            best < 0
            or gain[v] > gain[best]
            or (gain[v] == gain[best] and changed[v] < changed[best])
        ):
            best = v
    return best if best >= 0 else members[0]


@njit(cache=True)
def remove(
    v: Any, row_offsets: Any, columns: Any, edge_of: Any, weight: Any, open_edges: Any,
    open_place: Any, in_cover: Any, members: Any, member_place: Any, gain: Any, changed: Any,
    may_enter: Any, counts: Any,
) -> None:  # fmt: skip
    """Take a node out of the cover."""
    counts[1] -= 1
    last, place = members[counts[1]], member_place[v]
    members[place], member_place[last], member_place[v] = last, place, -1
    in_cover[v], gain[v], changed[v], may_enter[v] = False, -gain[v], counts[2], False
    for entry in range(row_offsets[v], row_offsets[v + 1]):
        u, edge = columns[entry], edge_of[entry]
        may_enter[u] = True
        if in_cover[u]:
            gain[u] -= weight[edge]
        else:
            gain[u] += weight[edge]
            open_edges[counts[0]] = edge
            open_place[edge] = counts[0]
            counts[0] += 1


@njit(cache=True)
def add(
    v: Any, row_offsets: Any, columns: Any, edge_of: Any, weight: Any, open_edges: Any,
    open_place: Any, in_cover: Any, members: Any, member_place: Any, gain: Any, changed: Any,
    may_enter: Any, counts: Any,
) -> None:  # fmt: skip
    """Put a node into the cover."""
    members[counts[1]], member_place[v] = v, counts[1]
    counts[1] += 1
    in_cover[v], gain[v], changed[v], counts[4] = True, -gain[v], counts[2], v
    for entry in range(row_offsets[v], row_offsets[v + 1]):
        u, edge = columns[entry], edge_of[entry]
        may_enter[u] = True
        if in_cover[u]:
            gain[u] += weight[edge]
        else:
            gain[u] -= weight[edge]
            counts[0] -= 1
            last, place = open_edges[counts[0]], open_place[edge]
            open_edges[place], open_place[last], open_place[edge] = last, place, -1


@njit(cache=True)
def forget(ends: Any, weight: Any, open_place: Any, in_cover: Any, gain: Any, counts: Any) -> None:
    """Shrink all weights, so that what was hard long ago counts less."""
    gain[:] = 0
    counts[3] = 0
    for edge in range(len(weight)):
        weight[edge] = np.int64(_KEPT * weight[edge])
        counts[3] += weight[edge]
        u, v = ends[edge, 0], ends[edge, 1]
        if open_place[edge] >= 0:
            gain[u] += weight[edge]
            gain[v] += weight[edge]
        elif in_cover[u] != in_cover[v]:
            gain[u if in_cover[u] else v] -= weight[edge]
