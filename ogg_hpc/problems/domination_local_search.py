"""Local search for small dominating sets, by exchanges of two nodes under node weights.

From a dominating set of k nodes one is removed, and nodes are exchanged until the k - 1 that
remain dominate every node again; then for k - 2, and so on. To dominate is to cover closed
neighbourhoods: nodes that stay undominated gain weight, so that the search leaves where it is
stuck [1]_, and a node that was removed may come back only after its score has changed [2]_. In
large sets the node to remove is the best of a sample.

References
----------
.. [1] C. Gao, X. Yao, T. Weise and J. Li, "An efficient local search heuristic with row weighting
   for the unicost set covering problem", European J. Operational Research 246, 750-761, 2015.
.. [2] Y. Fan, Y. Lai, C. Li, N. Li, Z. Ma, J. Zhou, L. J. Latecki and K. Su, "Efficient local
   search for minimum dominating sets in large graphs", DASFAA 2019, LNCS 11447, 211-228.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.runtime.random_compiled import absorb, begin, to_integer

# Samples of 2,000 found larger sets in the same time where thousands of nodes are chosen.
_SAMPLE = 300  # nodes looked at for the one to remove
_WORK = 6_000_000  # memory accesses between two answers, roughly


def search_dominating_sets(
    graph: Graph, nodes: NDArray[np.int64], seed: int
) -> Iterator[NDArray[np.int64]]:
    """Yield the smallest dominating set so far, again and again; end when one node is enough.

    Parameters
    ----------
    graph
        An undirected graph.
    nodes
        (k,) ids of a dominating set.
    seed
        Of the random numbers.

    Yields
    ------
    (j,) int64
        Sorted ids of the smallest set so far, after a number of exchanges that depends on the
        graph and `nodes` alone. No set found is larger than `nodes`.
    """
    search = _Search(graph, nodes, seed)
    degree = int(graph.degrees[nodes].sum()) // max(len(nodes), 1)
    exchanges = max(100, _WORK // (20 * (degree + 1) + 2 * min(len(nodes), _SAMPLE)))
    while search.advance(exchanges):
        yield search.best()
    yield search.best()


class _Search:
    """The state of the search, in arrays that the compiled functions share as one tuple.

    Attributes
    ----------
    row_offsets, columns
        The closed neighbourhoods: each node is its own neighbour.
    weight : (n,) int64
    dominators : (n, 2) int64
        How many chosen nodes dominate each node, and the sum of their ids: with one, its id.
    open_nodes, open_place : (n,) int64
        Nodes left undominated, the first `counts[0]`, and the place of each node there, or -1.
    members, member_place : (n,) int64
        The chosen nodes, the first `counts[1]`, and the place of each node there, or -1.
    gain : (n,) int64
        What the weight of undominated nodes would fall by if a node changed sides: not positive
        for chosen nodes.
    changed : (n,) int64
        The exchange at which a node last changed sides.
    may_enter : (n,) bool
        Whether the gain has changed since the node was removed.
    smallest : (n,) bool
        The smallest set so far.
    counts : (4,) int64
        Undominated nodes, chosen nodes, exchanges, and the node added last.
    """

    def __init__(self, graph: Graph, nodes: NDArray[np.int64], seed: int) -> None:
        n = graph.n
        self.seed = np.uint64(seed & 0xFFFFFFFFFFFFFFFF)
        self.row_offsets = graph.row_offsets + np.arange(n + 1)
        self.columns = np.insert(graph.columns, graph.row_offsets[:-1], np.arange(n))
        self.weight = np.ones(n, np.int64)
        self.dominators = np.zeros((n, 2), np.int64)
        self.open_nodes, self.open_place = np.arange(n), np.arange(n)
        self.members, self.member_place = np.empty(n, np.int64), np.full(n, -1)
        self.gain = graph.degrees + 1
        self.changed = np.zeros(n, np.int64)
        self.may_enter = np.ones(n, np.bool_)
        self.smallest = np.zeros(n, np.bool_)
        self.counts = np.array([n, 0, 0, -1])
        _add_all(np.asarray(nodes, np.int64), self._arrays)

    @property
    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return (
            self.row_offsets,
            self.columns,
            self.weight,
            self.dominators,
            self.open_nodes,
            self.open_place,
            self.members,
            self.member_place,
            self.gain,
            self.changed,
            self.may_enter,
            self.smallest,
            self.counts,
        )

    def advance(self, exchanges: int) -> bool:
        """Make so many exchanges; return whether more can be made."""
        return bool(_advance(exchanges, self.seed, self._arrays))

    def best(self) -> NDArray[np.int64]:
        """Return the smallest set so far."""
        return np.flatnonzero(self.smallest)


@njit(cache=True)
def _add_all(nodes: Any, arrays: Any) -> None:
    for v in nodes:
        _add(v, arrays)


@njit(cache=True)
def _advance(exchanges: Any, seed: Any, arrays: Any) -> Any:
    member_place, smallest, counts = arrays[7], arrays[11], arrays[12]
    start = begin(seed)
    for _ in range(exchanges):
        while counts[0] == 0:
            for v in range(len(smallest)):
                smallest[v] = member_place[v] >= 0
            if counts[1] == 0:
                return False  # there are no nodes at all
            _remove(_to_remove(0, counts[1], arrays), arrays)
        if counts[1] == 0:
            return False
        counts[2] += 1
        state = absorb(start, counts[2])
        first, length = to_integer(state, counts[1]), min(counts[1], _SAMPLE)
        _remove(_to_remove(first, length, arrays), arrays)
        _add(_to_add(absorb(state, 1), arrays), arrays)
        _weigh_open_nodes(arrays)
    return True


@njit(cache=True)
def _is_better(v: Any, best: Any, gain: Any, changed: Any) -> Any:
    """Tell whether a node has the larger gain, or an equal one and has not changed for longer."""
    return gain[v] > gain[best] or (gain[v] == gain[best] and changed[v] < changed[best])


@njit(cache=True)
def _to_remove(first: Any, length: Any, arrays: Any) -> Any:
    """Return the node of least loss of a run of the chosen ones, but not the one added last."""
    members, gain, changed, counts = arrays[6], arrays[8], arrays[9], arrays[12]
    best = -1
    for i in range(first, first + length):
        v = members[i if i < counts[1] else i - counts[1]]
        if v != counts[3] and (best < 0 or _is_better(v, best, gain, changed)):
            best = v
    return best if best >= 0 else members[first]


@njit(cache=True)
def _to_add(state: Any, arrays: Any) -> Any:
    """Return the best node that would dominate an undominated node drawn at random."""
    row_offsets, columns, open_nodes = arrays[0], arrays[1], arrays[4]
    gain, changed, may_enter, counts = arrays[8], arrays[9], arrays[10], arrays[12]
    u = open_nodes[to_integer(state, counts[0])]
    best = -1
    for v in columns[row_offsets[u] : row_offsets[u + 1]]:
        if best < 0 or (
            (may_enter[v], gain[v], -changed[v]) > (may_enter[best], gain[best], -changed[best])
        ):
            best = v
    return best


@njit(cache=True)
def _weigh_open_nodes(arrays: Any) -> None:
    row_offsets, columns, weight, open_nodes = arrays[0], arrays[1], arrays[2], arrays[4]
    gain, may_enter, counts = arrays[8], arrays[10], arrays[12]
    for u in open_nodes[: counts[0]]:
        weight[u] += 1
        for v in columns[row_offsets[u] : row_offsets[u + 1]]:
            gain[v] += 1
            may_enter[v] = True


@njit(cache=True)
def _add(v: Any, arrays: Any) -> None:
    """Choose a node."""
    row_offsets, columns, weight, dominators, open_nodes, open_place = arrays[:6]
    members, member_place, gain, changed, may_enter, _, counts = arrays[6:]
    members[counts[1]], member_place[v] = v, counts[1]
    counts[1] += 1
    counts[3], changed[v] = v, counts[2]
    loss = np.int64(0)
    for u in columns[row_offsets[v] : row_offsets[v + 1]]:
        if dominators[u, 0] == 0:
            loss += weight[u]
            counts[0] -= 1
            last, place = open_nodes[counts[0]], open_place[u]
            open_nodes[place], open_place[last], open_place[u] = last, place, -1
            for w in columns[row_offsets[u] : row_offsets[u + 1]]:
                gain[w] -= weight[u]
                may_enter[w] = True
        elif dominators[u, 0] == 1:
            gain[dominators[u, 1]] += weight[u]
        dominators[u, 0] += 1
        dominators[u, 1] += v
    gain[v] = -loss


@njit(cache=True)
def _remove(v: Any, arrays: Any) -> None:
    """Take a chosen node out."""
    row_offsets, columns, weight, dominators, open_nodes, open_place = arrays[:6]
    members, member_place, gain, changed, may_enter, _, counts = arrays[6:]
    counts[1] -= 1
    last, place = members[counts[1]], member_place[v]
    members[place], member_place[last], member_place[v] = last, place, -1
    changed[v] = counts[2]
    own = np.int64(0)
    for u in columns[row_offsets[v] : row_offsets[v + 1]]:
        dominators[u, 0] -= 1
        dominators[u, 1] -= v
        if dominators[u, 0] == 0:
            own += weight[u]
            open_nodes[counts[0]], open_place[u] = u, counts[0]
            counts[0] += 1
            for w in columns[row_offsets[u] : row_offsets[u + 1]]:
                gain[w] += weight[u]
                may_enter[w] = True
        elif dominators[u, 0] == 1:
            gain[dominators[u, 1]] -= weight[u]
    gain[v] = own
    may_enter[v] = False
