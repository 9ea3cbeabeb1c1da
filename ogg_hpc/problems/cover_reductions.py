"""Exact reductions for minimum vertex cover: the hard part of a graph is its kernel.

Rules of low degree, unconfined nodes, which include dominating ones, and the linear relaxation
are applied until none of them changes anything. Each takes nodes into the cover, leaves nodes out
of it, or folds three nodes into one; so a cover of the kernel tells one of the whole graph.

The graph changes in place: neighbours are linked lists of entries, each of which knows its
reverse. Folding relinks entries, and those that lead to nodes that have gone are unlinked by who
next comes across them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.bounds import greedy_matching
from ogg_hpc.problems.double_cover import maximum_matching
from ogg_hpc.problems.problem import Reduction
from ogg_hpc.runtime.stop import Stop, never, pieces

_OPEN, _TAKEN, _LEFT_OUT, _FOLDED = 0, 1, 2, 3
_MOST_UNCONFINED = 16  # nodes of a set that is grown to show one node unconfined


def reduce_cover(graph: Graph, stop: Stop = never) -> Reduction:
    """Return the kernel of a graph for minimum vertex cover, exactly.

    Parameters
    ----------
    graph
        An undirected graph. Nodes with a self loop are taken first.
    stop
        Where it holds, the kernel is what is left by then.

    Returns
    -------
    Reduction
        `lift` takes a cover of the kernel to one of the graph that has just `offset` nodes more.

    Notes
    -----
    - A node of degree 0 is left out; of degree 1, its neighbour is taken; of degree 2, both
      neighbours are taken if they are adjacent, else the three are folded into one node [1]_.
    - A node v is taken if it is unconfined [2]_: starting from S = {v}, some neighbour of exactly
      one node of S has all its neighbours in or next to S; S grows by the one neighbour that such
      a node has elsewhere. A node that dominates a neighbour is one.
    - Nodes whose value is 1 in an optimum of the linear relaxation are taken [3]_, until all
      values are a half in its only optimum; so bipartite graphs are solved.

    References
    ----------
    .. [1] J. Chen, I. A. Kanj and W. Jia, "Vertex cover: further observations and further
       improvements", J. Algorithms 41, 280-301, 2001.
    .. [2] M. Xiao and H. Nagamochi, "Confining sets and avoiding bottleneck cases: a simple
       maximum independent set algorithm in degree-3 graphs", Theoretical Computer Science 469,
       92-104, 2013.
    .. [3] G. L. Nemhauser and L. E. Trotter, "Vertex packings: structural properties and
       algorithms", Mathematical Programming 8, 232-248, 1975.
    """
    changing = _ChangingGraph(graph)
    changing.take(graph.looped)
    changing.low_degrees()
    while changing.unconfined(stop) or changing.relaxation(stop):
        pass
    return changing.reduction()


class _ChangingGraph:
    """A graph under reduction.

    Attributes
    ----------
    target, reverse, following : (nnz,) int64
        Of each entry: the node it leads to, the entry of the other direction, and the next entry
        of the same node, -1 after the last.
    first : (n,) int64
        Each node's first entry, -1 without any.
    degree, state : (n,)
        Neighbours still open, and what has become of the node.
    folds : (f, 3) int64
        (v, u, w): v of degree 2 and its neighbour u have gone, w stands for all three.
    """

    def __init__(self, graph: Graph) -> None:
        n = graph.n
        self.n, self.id_type = n, graph.columns.dtype
        self.degree = graph.degrees.copy()
        self.target = graph.columns.astype(np.int64)
        self.reverse = _reverse_entries(graph.row_offsets, graph.columns)
        self.following = np.arange(1, len(self.target) + 1)
        self.following[graph.row_offsets[1:][self.degree > 0] - 1] = -1
        self.first = np.where(self.degree > 0, graph.row_offsets[:-1], -1)
        self.state = np.zeros(n, np.int8)
        self.folds = np.empty((n // 2, 3), np.int64)
        self.counts = np.array([n, 0, 0])  # nodes that wait, folds, and the last value of marks
        self.waiting, self.waits = np.arange(n)[::-1].copy(), np.ones(n, np.bool_)
        self.mark = np.zeros(n, np.int64)
        self.times, self.around = np.empty((2, n), np.int64)

    def _arrays(self, *more: Any) -> list[Any]:
        """Return what all compiled functions take, and more."""
        lists = [self.target, self.following, self.first, self.degree, self.state]
        return [*lists, self.waiting, self.waits, self.counts, *more]

    def take(self, nodes: NDArray[np.int64]) -> None:
        """Take distinct nodes into the cover."""
        _take_all(*self._arrays(nodes))

    def low_degrees(self) -> None:
        """Apply the rules of degrees 0 to 2 to all nodes that wait and all that they change."""
        _low_degrees(*self._arrays(self.reverse, self.folds, self.mark))

    def unconfined(self, stop: Stop) -> bool:
        """Take unconfined nodes in one sweep; return whether there were any."""
        found = False
        arrays = self._arrays(self.reverse, self.folds, self.mark, self.times, self.around)
        for start, end in pieces(self.n, stop):
            found |= _take_unconfined(start, end, *arrays)
        return found

    def relaxation(self, stop: Stop) -> bool:
        """Take the nodes of value 1 in the linear relaxation; return whether there were any."""
        if stop():
            return False
        kernel, ids = self._kernel()
        ones = ids[_ones(kernel, stop)]
        self.take(ones)
        self.low_degrees()
        return len(ones) > 0

    def _kernel(self) -> tuple[Graph, NDArray[np.int64]]:
        """Return the graph that is left and the ids its nodes had."""
        ids = np.flatnonzero(self.state == _OPEN)
        row_offsets = np.zeros(len(ids) + 1, np.int64)
        np.cumsum(self.degree[ids], out=row_offsets[1:])
        columns = np.empty(row_offsets[-1], self.id_type)
        _copy_rows(self.target, self.following, self.first, self.state, ids, row_offsets, columns)
        return Graph(row_offsets, columns), ids

    def reduction(self) -> Reduction:
        """Return what is left and the way back."""
        kernel, ids = self._kernel()
        taken, folds = self.state == _TAKEN, self.folds[: self.counts[1]].copy()

        def lift(nodes: NDArray[np.int64]) -> NDArray[np.int64]:
            in_cover = taken.copy()
            in_cover[ids[nodes]] = True
            _unfold(folds, in_cover)
            return np.flatnonzero(in_cover)

        return Reduction(kernel, int(np.count_nonzero(taken)) + len(folds), lift)


@njit(cache=True)
def _reverse_entries(row_offsets: Any, columns: Any) -> Any:
    """Return the entry of each edge's other direction; columns are sorted, so rows fill in turn."""
    reverse, place = np.empty(len(columns), np.int64), row_offsets[:-1].copy()
    for v in range(len(place)):
        for entry in range(row_offsets[v], row_offsets[v + 1]):
            u = columns[entry]
            reverse[entry] = place[u]
            place[u] += 1
    return reverse


@njit(cache=True)
def _wait(v: Any, waiting: Any, waits: Any, counts: Any) -> None:
    """Let a node that has changed wait for the rules of low degree."""
    if not waits[v]:
        waits[v] = True
        waiting[counts[0]] = v
        counts[0] += 1


@njit(cache=True)
def _next_open(
    entry: Any, before: Any, v: Any, target: Any, following: Any, first: Any, state: Any
) -> Any:
    """Return the first entry of v from `entry` on that leads to an open node, -1 for none.

    What comes between it and the entry `before` (-1 for none) is unlinked.
    """
    while entry >= 0 and state[target[entry]] != _OPEN:
        entry = following[entry]
        if before >= 0:
            following[before] = entry
        else:
            first[v] = entry
    return entry


@njit(cache=True)
def _take(
    v: Any, target: Any, following: Any, first: Any, degree: Any, state: Any,
    waiting: Any, waits: Any, counts: Any,
) -> None:  # fmt: skip
    state[v] = _TAKEN
    entry = first[v]
    while entry >= 0:
        u = target[entry]
        if state[u] == _OPEN:
            degree[u] -= 1
            _wait(u, waiting, waits, counts)
        entry = following[entry]


@njit(cache=True)
def _take_all(
    target: Any, following: Any, first: Any, degree: Any, state: Any,
    waiting: Any, waits: Any, counts: Any, nodes: Any,
) -> None:  # fmt: skip
    for v in nodes:
        _take(v, target, following, first, degree, state, waiting, waits, counts)


@njit(cache=True)
def _low_degrees(
    target: Any, following: Any, first: Any, degree: Any, state: Any,
    waiting: Any, waits: Any, counts: Any, reverse: Any, folds: Any, mark: Any,
) -> None:  # fmt: skip
    while counts[0] > 0:
        counts[0] -= 1
        v = waiting[counts[0]]
        waits[v] = False
        if state[v] != _OPEN or degree[v] > 2:
            continue
        if degree[v] == 0:
            state[v] = _LEFT_OUT
            continue
        entry = _next_open(first[v], -1, v, target, following, first, state)
        u = target[entry]
        if degree[v] == 1:
            _take(u, target, following, first, degree, state, waiting, waits, counts)
            continue
        w = target[_next_open(following[entry], entry, v, target, following, first, state)]
        if degree[u] > degree[w]:
            u, w = w, u
        if _adjacent(u, w, target, following, first, state):
            _take(u, target, following, first, degree, state, waiting, waits, counts)
            _take(w, target, following, first, degree, state, waiting, waits, counts)
        else:
            folds[counts[1], 0], folds[counts[1], 1], folds[counts[1], 2] = v, u, w
            counts[1] += 1
            _fold(
                v, u, w, target, following, first, degree, state, waiting, waits, counts, reverse,
                mark,
            )  # fmt: skip


@njit(cache=True)
def _adjacent(u: Any, w: Any, target: Any, following: Any, first: Any, state: Any) -> Any:
    before, entry = -1, _next_open(first[u], -1, u, target, following, first, state)
    while entry >= 0 and target[entry] != w:
        before = entry
        entry = _next_open(following[entry], before, u, target, following, first, state)
    return entry >= 0


@njit(cache=True)
def _fold(
    v: Any, u: Any, w: Any, target: Any, following: Any, first: Any, degree: Any, state: Any,
    waiting: Any, waits: Any, counts: Any, reverse: Any, mark: Any,
) -> None:  # fmt: skip
    """Let w stand for v, u and w: give it the entries of u that lead where it has none."""
    state[v] = state[u] = _FOLDED
    degree[w] -= 1
    counts[2] += 1
    entry = first[w]
    while entry >= 0:
        mark[target[entry]] = counts[2]
        entry = following[entry]
    entry = first[u]
    while entry >= 0:
        after, x = following[entry], target[entry]
        if state[x] == _OPEN:
            if mark[x] == counts[2]:
                degree[x] -= 1
            else:
                target[reverse[entry]] = w
                following[entry] = first[w]
                first[w] = entry
                degree[w] += 1
            _wait(x, waiting, waits, counts)
        entry = after
    _wait(w, waiting, waits, counts)


@njit(cache=True)
def _take_unconfined(
    start: Any, end: Any,
    target: Any, following: Any, first: Any, degree: Any, state: Any,
    waiting: Any, waits: Any, counts: Any, reverse: Any, folds: Any, mark: Any, times: Any,
    around: Any,
) -> Any:  # fmt: skip
    found = False
    for v in range(start, end):
        if state[v] == _OPEN and _is_unconfined(
            v, target, following, first, state, counts, mark, times, around
        ):
            found = True
            _take(v, target, following, first, degree, state, waiting, waits, counts)
            _low_degrees(
                target, following, first, degree, state, waiting, waits, counts, reverse, folds,
                mark,
            )  # fmt: skip
    return found


@njit(cache=True)
def _is_unconfined(
    v: Any, target: Any, following: Any, first: Any, state: Any,
    counts: Any, mark: Any, times: Any, around: Any,
) -> Any:  # fmt: skip
    counts[2] += 1
    stamp = counts[2]  # marks S and all that is next to it
    size = 0  # of what is next to it, which `around` lists; `times` counts neighbours in S
    joins = v
    for _ in range(_MOST_UNCONFINED):
        mark[joins] = stamp
        entry = _next_open(first[joins], -1, joins, target, following, first, state)
        while entry >= 0:
            u = target[entry]
            if mark[u] != stamp:
                mark[u] = stamp
                times[u] = 0
                around[size] = u
                size += 1
            times[u] += 1
            entry = _next_open(following[entry], entry, joins, target, following, first, state)
        joins = -1
        for u in around[:size]:
            if times[u] != 1:
                continue
            outside, only = 0, -1
            entry = _next_open(first[u], -1, u, target, following, first, state)
            while entry >= 0 and outside < 2:
                if mark[target[entry]] != stamp:
                    outside += 1
                    only = target[entry]
                entry = _next_open(following[entry], entry, u, target, following, first, state)
            if outside == 0:
                return True
            if outside == 1:
                joins = only
        if joins < 0:
            return False
    return False


def _ones(kernel: Graph, stop: Stop) -> NDArray[np.int64]:
    """Return the nodes of value 1 in an optimum of the linear relaxation that has such nodes.

    Where the optimum from alternating paths is a half everywhere, others remain if there are
    independent sets with as many neighbours as nodes. None are returned where `stop` holds.
    """
    offsets, columns = kernel.row_offsets, kernel.columns
    right_of, left_of = maximum_matching(offsets, columns, greedy_matching(kernel), stop)
    if stop():  # the matching may not be maximum
        return np.empty(0, np.int64)
    ones = _beside_free_nodes(offsets, columns, right_of, left_of)
    return ones if len(ones) or not kernel.n else _beside_tight_sets(kernel, left_of)


@njit(cache=True)
def _beside_free_nodes(row_offsets: Any, columns: Any, right_of: Any, left_of: Any) -> Any:
    """Return the nodes of value 1 by König's theorem.

    A minimum cover of the double cover is what alternating paths from free left nodes reach on
    the right and do not reach on the left; a node's value is half the number of its copies there.
    """
    n = len(right_of)
    left, right = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    stack, size = np.empty(n, np.int64), 0
    for v in range(n):
        if right_of[v] < 0:
            left[v] = True
            stack[size] = v
            size += 1
    while size > 0:
        size -= 1
        v = stack[size]
        for u in columns[row_offsets[v] : row_offsets[v + 1]]:
            right[u] = True
            if not left[left_of[u]]:  # u is matched: the matching is maximum
                left[left_of[u]] = True
                stack[size] = left_of[u]
                size += 1
    return np.flatnonzero(right & ~left)


def _beside_tight_sets(kernel: Graph, left_of: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the neighbours of independent sets that have as many neighbours as nodes [1]_.

    Under a perfect matching these are the strong components, of arcs from each node to the left
    partners of its neighbours, that no arc leaves and no edge is inside of. Of two that meet, the
    one numbered first counts.

    References
    ----------
    .. [1] Y. Iwata, K. Oka and Y. Yoshida, "Linear-time FPT algorithms via network flow",
       SODA 2014, 1749-1761.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    arcs = csr_array(
        (np.ones(len(kernel.columns), np.int8), left_of[kernel.columns], kernel.row_offsets),
        (kernel.n, kernel.n),
    )
    number, component = connected_components(arcs, directed=True, connection="strong")
    tight = np.ones(number, np.bool_)
    own = component[kernel.rows]
    tight[own[component[left_of[kernel.columns]] != own]] = False
    tight[own[component[kernel.columns] == own]] = False
    order = np.argsort(component)
    ones: NDArray[np.int64] = _choose_tight(
        kernel.row_offsets, kernel.columns, order, component, tight
    )
    return ones


@njit(cache=True)
def _choose_tight(row_offsets: Any, columns: Any, order: Any, component: Any, tight: Any) -> Any:
    """Return the neighbours of tight sets, leaving out each set that meets an earlier one."""
    taken = np.zeros(len(order), np.bool_)
    start = 0
    while start < len(order):
        end = start
        while end < len(order) and component[order[end]] == component[order[start]]:
            end += 1
        nodes = order[start:end]
        start = end
        free = tight[component[nodes[0]]]
        for v in nodes:
            free = free and not taken[v]
        if free:
            for v in nodes:
                taken[columns[row_offsets[v] : row_offsets[v + 1]]] = True
    return np.flatnonzero(taken)


@njit(cache=True)
def _copy_rows(
    target: Any, following: Any, first: Any, state: Any,
    ids: Any, row_offsets: Any, columns: Any,
) -> None:  # fmt: skip
    """Copy the rows that are left, as columns, so that these are sorted, with ids anew."""
    number = np.empty(len(state), np.int64)
    number[ids] = np.arange(len(ids))
    place = row_offsets[:-1].copy()
    for v in range(len(ids)):
        entry = first[ids[v]]
        while entry >= 0:
            if state[target[entry]] == _OPEN:
                u = number[target[entry]]
                columns[place[u]] = v
                place[u] += 1
            entry = following[entry]


@njit(cache=True)
def _unfold(folds: Any, in_cover: Any) -> None:
    """Undo folds, the last one first: u and w are in the cover if w was, else v."""
    for k in range(len(folds) - 1, -1, -1):
        v, u, w = folds[k]
        in_cover[v], in_cover[u] = not in_cover[w], in_cover[w]
