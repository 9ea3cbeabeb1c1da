"""Proven upper bounds on the weight of a cut."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.greedy_cut import entry_weights
from ogg_hpc.runtime.stop import Stop, never, pieces

_DENSE = 1000  # nodes up to which all eigenvalues cost a tenth of a second
_LOOKS = 512  # entries of the graph that one search for a cycle may look at
_LENGTHS = (3, 4, 5, 7, 12, 20, 50)  # most edges of a cycle, in one sweep after another


def cut_bound(graph: Graph, stop: Stop = never) -> float:
    """Return the best of the bounds here, rounded down where all weights are whole numbers."""
    bound = cycle_bound(graph, stop)
    if 0 < graph.n <= _DENSE:
        bound = min(bound, spectral_bound(graph))
    whole = graph.weights is None or bool((graph.weights == np.rint(graph.weights)).all())
    return float(np.floor(bound)) if whole else bound


def cycle_bound(graph: Graph, stop: Stop = never) -> float:
    """Return the positive weight less what cycles must lose.

    At best all edges of positive weight cross and no others. A cycle with an odd number of
    positive edges cannot have that, since every cut crosses a cycle an even number of times: one
    of its edges is on the wrong side of this. So a packing of such cycles, each of which takes
    a part d of the absolute weights of its edges, proves a loss of the sum of d [1]_.

    Cycles are packed greedily, short ones first: fundamental cycles of breadth-first trees from
    each node, which look at no more than 512 entries. O(n + m), compiled. Where `stop` holds,
    those packed so far count.

    References
    ----------
    .. [1] F. Barahona and A. R. Mahjoub, "On the cut polytope", Mathematical Programming 36,
       157-173, 1986.
    """
    weights = entry_weights(graph)
    _, _, once = graph.edges()
    positive = float(graph.m) if once is None else float(np.sum(once * (once > 0)))
    # Both entries of an edge share what is left of it.
    edge_of = np.empty(len(graph.columns), np.int64)
    forward = graph.rows < graph.columns
    edge_of[forward] = np.arange(graph.m)
    back = np.flatnonzero(~forward)
    edge_of[back[np.lexsort((graph.rows[back], graph.columns[back]))]] = np.arange(graph.m)
    left = np.empty(graph.m)
    left[edge_of] = np.abs(weights)
    lost, searches = np.zeros(1), np.zeros(1, np.int64)
    seen, odd = np.full(graph.n, -1), np.zeros(graph.n, np.bool_)
    room = np.empty((4, graph.n), np.int64)
    arrays = (graph.row_offsets, graph.columns, weights, edge_of)
    work = (left, lost, searches, seen, odd, *room)
    for longest in _LENGTHS:
        for start, end in pieces(graph.n, stop):
            _pack_cycles(longest, start, end, *arrays, *work)
    return positive - float(lost[0])


def spectral_bound(graph: Graph) -> float:
    """Return n / 4 times the mean weighted degree less the smallest eigenvalue of the weights.

    With x = 1 on one side and -1 on the other the cut is x' (D - A) x / 4, and x' D x is the sum
    of the weighted degrees whatever x: the bound of Mohar and Poljak [1]_ with the degrees
    levelled. All eigenvalues are computed, O(n³), since an iteration proves no extreme one.

    References
    ----------
    .. [1] B. Mohar and S. Poljak, "Eigenvalues and the max-cut problem", Czechoslovak Math. J.
       40, 343-352, 1990.
    """
    adjacency = graph.to_scipy().toarray()
    # The error of the eigenvalues is a few units in the last place of the norm.
    error = 1e-12 * float(np.abs(adjacency).sum(axis=1).max())
    smallest = float(np.linalg.eigvalsh(adjacency)[0])
    return (float(adjacency.sum()) + graph.n * (error - smallest)) / 4


@njit(cache=True)
def _pack_cycles(
    longest: Any, first: Any, last: Any,
    row_offsets: Any, columns: Any, weights: Any, edge_of: Any,
    left: Any, lost: Any, searches: Any, seen: Any, odd: Any,
    depth: Any, parent: Any, up: Any, queue: Any,
) -> None:  # fmt: skip
    """Pack cycles of up to `longest` edges around the nodes from `first` to before `last`."""
    for root in range(first, last):
        found = True
        while found:
            found = False
            searches[0] += 1
            search = searches[0]
            seen[root], odd[root], depth[root], parent[root] = search, False, 0, -1
            queue[0] = root
            head, tail = 0, 1
            looks = 0
            while head < tail and not found and looks < _LOOKS:
                u = queue[head]
                head += 1
                end = min(row_offsets[u + 1], row_offsets[u] + _LOOKS - looks)
                looks += end - row_offsets[u]
                for entry in range(row_offsets[u], end):
                    edge = edge_of[entry]
                    v = columns[entry]
                    if left[edge] <= 0.0 or v == parent[u]:
                        continue
                    parity = odd[u] != (weights[entry] > 0)
                    if seen[v] != search:
                        if 2 * depth[u] + 2 <= longest:
                            seen[v], odd[v], depth[v] = search, parity, depth[u] + 1
                            parent[v], up[v] = u, edge
                            queue[tail] = v
                            tail += 1
                    elif odd[v] != parity:
                        lost[0] += _take(left, edge, u, v, depth, parent, up)
                        found = True
                        break


@njit(cache=True)
def _take(
    left: NDArray[np.float64],
    edge: int,
    u: int,
    v: int,
    depth: NDArray[np.int64],
    parent: NDArray[np.int64],
    up: NDArray[np.int64],
) -> float:
    """Take as much as there is from the cycle of an edge and the tree paths between its ends."""
    part: float = left[edge]
    a, b = u, v
    while a != b:
        if depth[a] < depth[b]:
            a, b = b, a
        part = min(part, left[up[a]])
        a = parent[a]
    left[edge] -= part
    a, b = u, v
    while a != b:
        if depth[a] < depth[b]:
            a, b = b, a
        left[up[a]] -= part
        a = parent[a]
    return part
