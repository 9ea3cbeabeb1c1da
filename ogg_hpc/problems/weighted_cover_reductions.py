"""Exact reductions for minimum weight vertex cover: the hard part of a graph is its kernel.

They are stated for the independent set, the complement of the cover: a node is put into it, is left
out of it, or gives its weight up, to be decided on when all others are. No rule adds an edge, so
that the graph stays as it is and nodes are closed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.node_sets import others
from ogg_hpc.problems.node_weights import WholeWeights, whole_weights
from ogg_hpc.problems.problem import Reduction
from ogg_hpc.problems.weighted_bounds import FLOW_BITS, MOST_ENTRIES, relaxed_cover
from ogg_hpc.runtime.stop import Stop, amounts, never

_OPEN, _INSIDE, _OUTSIDE, _LATER = 0, 1, 2, 3
# The rules that look at neighbours of neighbours are left out at larger degrees.
_MOST_NEIGHBOURS = 64


def reduce_weighted_cover(graph: Graph, stop: Stop = never) -> Reduction | None:
    """Return the kernel of a graph for minimum weight vertex cover, exactly.

    Parameters
    ----------
    graph
        An undirected graph. Nodes with a self loop are taken first.
    stop
        Where it holds, the kernel is what is left by then.

    Returns
    -------
    Reduction or None
        `lift` takes a cover of the kernel to one of the graph that weighs just `offset` more. None
        where weights are not whole (`whole_weights`), so that sums of them are not exact.

    Notes
    -----
    With I the independent set, w the weights and N(v) the open neighbours of v [1]_:

    - v is in I if w(v) is at least the weight of all of N(v); so are nodes of degree 0.
    - If N(v) is a clique, as in degree 1, nodes of N(v) that are not heavier than v are outside I;
      v gives its weight up, which is taken from the others, and is in I if none of these is.
    - A node is outside I if a neighbour that is no lighter has no other neighbours than it has.
    - Of two nodes with the same neighbours, one gives its weight to the other and follows it.
    - A node is in I if its value is 0 in an optimum of the linear relaxation, and outside if it is
      1 [2]_.

    References
    ----------
    .. [1] S. Lamm, C. Schulz, D. Strash, R. Williger and H. Zhang, "Exactly solving the maximum
       weight independent set problem on large real-world graphs", ALENEX 2019, 144-158.
    .. [2] G. L. Nemhauser and L. E. Trotter, "Vertex packings: structural properties and
       algorithms", Mathematical Programming 8, 232-248, 1975.
    """
    weights = whole_weights(graph)
    if not weights.exact:
        return None
    changing = _ChangingGraph(graph, weights)
    changing.leave_out(graph.looped)
    changing.local_rules(stop)
    while not stop() and (changing.twins() or changing.relaxation(stop)):
        changing.local_rules(stop)
    return changing.reduction()


class _ChangingGraph:
    """A graph under reduction.

    Attributes
    ----------
    weights, state : (n,) int64
        What is left of each node's weight, and what has become of the node.
    degrees, beside, told : (n,) int64
        Open neighbours, their weight in all as they have told it, and what each node has told:
        neighbours of a node that gets lighter often, as a hub does, hear of it once in a while.
    steps : (n, 2) int64
        Nodes that are decided on later, in the order in which they gave their weight up, and each
        one's twin, or -1.
    counts : (4,) int64
        Nodes that wait, steps, the weight of I beside that of the kernel, and the place of the
        first that waits, in a ring.
    """

    def __init__(self, graph: Graph, weights: WholeWeights) -> None:
        n = graph.n
        self._graph, self._unit = graph, weights.unit
        self._all = int(weights.values.sum())
        self.weights, self.state = weights.values.copy(), np.zeros(n, np.int64)
        self.degrees, self.told = graph.degrees.copy(), weights.values.copy()
        of_neighbours = self.weights[graph.columns]
        self.beside = np.bincount(graph.rows, of_neighbours, graph.n).astype(np.int64)
        self.steps = np.empty((n, 2), np.int64)
        self.counts = np.array([n, 0, 0, 0])
        self._waiting, self._waits = np.arange(n), np.ones(n, np.bool_)

    def _arrays(self) -> tuple[Any, ...]:
        """Return what all compiled functions share."""
        graph = (self._graph.row_offsets, self._graph.columns)
        return (
            *graph,
            self.weights,
            self.state,
            self.steps,
            self._waiting,
            self._waits,
            self.counts,
            self.degrees,
            self.beside,
            self.told,
        )

    def leave_out(self, nodes: NDArray[np.int64]) -> None:
        """Put nodes outside I."""
        _leave_all_out(nodes, self._arrays())

    def local_rules(self, stop: Stop) -> None:
        """Apply the first three rules to all nodes that wait and all that they change."""
        for most in amounts(stop):
            _local_rules(most, self._arrays())
            if not self.counts[0]:
                break

    def twins(self) -> bool:
        """Let nodes follow twins; return whether there were any."""
        before = self.counts[1]
        hashes = np.zeros((self._graph.n, 2), np.int64)
        keys = np.random.default_rng(0).integers(1 << 62, size=self._graph.n)
        _hash_neighbours(keys, hashes, self._arrays())
        nodes = np.flatnonzero(hashes[:, 0])
        order = nodes[np.lexsort((hashes[nodes, 1], hashes[nodes, 0]))]
        _join_twins(order, hashes, self._arrays())
        return bool(self.counts[1] > before)

    def relaxation(self, stop: Stop) -> bool:
        """Decide on the nodes whose relaxed value is whole; return whether there were any."""
        if stop():
            return False
        kernel, ids = self._kernel()
        if len(kernel.columns) > MOST_ENTRIES or self.weights[ids].sum() >= 1 << FLOW_BITS:
            return False
        halves = relaxed_cover(kernel, self.weights[ids])
        self.leave_out(ids[halves == 2])
        _take_all(ids[halves == 0], self._arrays())
        return bool((halves != 1).any())

    def _kernel(self) -> tuple[Graph, NDArray[np.int64]]:
        """Return the graph that is left, with the weights that are, and the ids its nodes had."""
        graph, is_open = self._graph, self.state == _OPEN
        ids = np.flatnonzero(is_open)
        number = np.cumsum(is_open) - 1
        kept = is_open[graph.rows] & is_open[graph.columns]
        row_offsets = np.zeros(len(ids) + 1, np.int64)
        degrees = np.bincount(number[graph.rows[kept]], minlength=len(ids))
        np.cumsum(degrees, out=row_offsets[1:])
        columns = number[graph.columns[kept]].astype(graph.columns.dtype)
        kernel = Graph(row_offsets, columns)
        return kernel.with_node_weights(self.weights[ids] * self._unit), ids

    def reduction(self) -> Reduction:
        """Return what is left and the way back."""
        kernel, ids = self._kernel()
        graph, state, steps = self._graph, self.state.copy(), self.steps[: self.counts[1]].copy()
        offset = self._all - int(self.weights[ids].sum()) - int(self.counts[2])

        def lift(nodes: NDArray[np.int64]) -> NDArray[np.int64]:
            inside = state == _INSIDE
            inside[ids] = True
            inside[ids[nodes]] = False
            _decide_later(graph.row_offsets, graph.columns, steps, inside)
            return others(graph, np.flatnonzero(inside))

        return Reduction(kernel, offset * self._unit, lift)


# The compiled functions below share one tuple, `arrays`:
# (row_offsets, columns, weights, state, steps, waiting, waits, counts, degrees, beside, told).


@njit(cache=True)
def _wait(v: Any, arrays: Any) -> None:
    """Let a node wait for the rules, unless it is closed or waits already."""
    state, waiting, waits, counts = arrays[3], arrays[5], arrays[6], arrays[7]
    if state[v] == _OPEN and not waits[v]:
        waits[v] = True
        waiting[(counts[3] + counts[0]) % len(waiting)] = v
        counts[0] += 1


@njit(cache=True)
def _tell(v: Any, arrays: Any) -> None:
    """Let the neighbours know what a node weighs; they wait for the rules again if it is new."""
    row_offsets, columns, weights = arrays[:3]
    beside, told = arrays[9:]
    change = weights[v] - told[v]
    if change != 0:
        told[v] = weights[v]
        for u in columns[row_offsets[v] : row_offsets[v + 1]]:
            beside[u] += change
            _wait(u, arrays)


@njit(cache=True)
def _close(v: Any, becomes: Any, arrays: Any) -> None:
    """Close a node; its neighbours wait for the rules again."""
    row_offsets, columns, _, state = arrays[:4]
    degrees, beside, told = arrays[8:]
    state[v] = becomes
    for u in columns[row_offsets[v] : row_offsets[v + 1]]:
        degrees[u] -= 1
        beside[u] -= told[v]
        _wait(u, arrays)


@njit(cache=True)
def _take(v: Any, arrays: Any) -> None:
    """Put a node into I, and its neighbours outside."""
    row_offsets, columns, weights, state = arrays[:4]
    arrays[7][2] += weights[v]
    _close(v, _INSIDE, arrays)
    for u in columns[row_offsets[v] : row_offsets[v + 1]]:
        if state[u] == _OPEN:
            _close(u, _OUTSIDE, arrays)


@njit(cache=True)
def _decide(v: Any, twin: Any, arrays: Any) -> None:
    """Close a node that is decided on later."""
    steps, counts = arrays[4], arrays[7]
    steps[counts[1], 0], steps[counts[1], 1] = v, twin
    counts[1] += 1
    _close(v, _LATER, arrays)


@njit(cache=True)
def _leave_all_out(nodes: Any, arrays: Any) -> None:
    for v in nodes:
        _close(v, _OUTSIDE, arrays)


@njit(cache=True)
def _take_all(nodes: Any, arrays: Any) -> None:
    for v in nodes:
        _take(v, arrays)


@njit(cache=True)
def _local_rules(most: Any, arrays: Any) -> None:
    """Apply the rules to nodes that wait, up to `most`."""
    row_offsets, columns, weights, state, _, waiting, waits, counts, degrees, beside, _ = arrays
    around = np.empty(_MOST_NEIGHBOURS, np.int64)
    for _ in range(min(most, counts[0])):
        v = waiting[counts[3]]
        counts[3] = (counts[3] + 1) % len(waiting)
        counts[0] -= 1
        waits[v] = False
        if state[v] != _OPEN:
            continue
        _tell(v, arrays)
        if weights[v] >= beside[v]:
            _take(v, arrays)
        elif degrees[v] <= _MOST_NEIGHBOURS:
            size = 0
            for u in columns[row_offsets[v] : row_offsets[v + 1]]:
                if state[u] == _OPEN:
                    around[size] = u
                    size += 1
            _look_around(v, around[:size], arrays)


@njit(cache=True)
def _are_adjacent(u: Any, v: Any, row_offsets: Any, columns: Any) -> Any:
    if row_offsets[u + 1] - row_offsets[u] > row_offsets[v + 1] - row_offsets[v]:
        u, v = v, u
    row = columns[row_offsets[u] : row_offsets[u + 1]]
    place = np.searchsorted(row, v)
    return place < len(row) and row[place] == v


@njit(cache=True)
def _look_around(v: Any, around: Any, arrays: Any) -> None:
    """Apply the rules of cliques and of domination to a node and its open neighbours."""
    row_offsets, columns, weights, counts = arrays[0], arrays[1], arrays[2], arrays[7]
    full, dominating = 0, -1
    for u in around:
        of_all = True
        for x in around:
            of_all = of_all and (x == u or _are_adjacent(u, x, row_offsets, columns))
        if of_all:
            full += 1
            if weights[u] <= weights[v]:
                dominating = u
    if full == len(around):
        counts[2] += weights[v]
        _decide(v, -1, arrays)
        for u in around:
            if weights[u] <= weights[v]:
                _close(u, _OUTSIDE, arrays)
            else:
                weights[u] -= weights[v]
                _wait(u, arrays)  # to tell
    elif dominating >= 0:
        _close(dominating, _OUTSIDE, arrays)


@njit(cache=True)
def _hash_neighbours(keys: Any, hashes: Any, arrays: Any) -> None:
    """Write degree and hash of the open neighbours of each open node."""
    row_offsets, columns, _, state = arrays[:4]
    for v in range(len(state)):
        if state[v] == _OPEN:
            for u in columns[row_offsets[v] : row_offsets[v + 1]]:
                if state[u] == _OPEN:
                    hashes[v, 0] += 1
                    hashes[v, 1] ^= keys[u]


@njit(cache=True)
def _join_twins(order: Any, hashes: Any, arrays: Any) -> None:
    """Let nodes follow the one before them in an order by hashes where that is their twin."""
    row_offsets, columns, weights, state = arrays[:4]
    mark = np.full(len(state), -1)
    first = -1
    for v in order:
        same = first >= 0 and hashes[v, 0] == hashes[first, 0] and hashes[v, 1] == hashes[first, 1]
        if same:
            for u in columns[row_offsets[v] : row_offsets[v + 1]]:
                # Nodes that have just closed were neighbours of neither, or twins.
                same = same and (state[u] != _OPEN or mark[u] == first)
        if same:
            weights[first] += weights[v]
            _tell(first, arrays)
            _wait(first, arrays)
            _decide(v, first, arrays)
        else:
            first = v
            for u in columns[row_offsets[v] : row_offsets[v + 1]]:
                mark[u] = v


@njit(cache=True)
def _decide_later(row_offsets: Any, columns: Any, steps: Any, inside: Any) -> None:
    """Decide on nodes in turn, the last first: by the twin, else by the neighbours."""
    for k in range(len(steps) - 1, -1, -1):
        v, twin = steps[k]
        if twin >= 0:
            inside[v] = inside[twin]
        else:
            free = True
            for u in columns[row_offsets[v] : row_offsets[v + 1]]:
                free = free and not inside[u]
            inside[v] = free
