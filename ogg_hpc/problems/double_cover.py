"""Maximum matching of a graph's bipartite double cover, by Hopcroft and Karp.

The double cover has each node twice, left and right, and every edge {u, v} as (u, v') and (v, u').
Its biadjacency matrix is the graph's own adjacency matrix, so nothing is built. SciPy's function
of the kind takes 32-bit indices only and starts from no matching at all; here a greedy matching of
the graph, taken both ways, leaves few nodes to match.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.runtime.stop import Stop, never


def maximum_matching(
    row_offsets: NDArray[np.int64],
    columns: NDArray[Any],
    partner: NDArray[np.int64],
    stop: Stop = never,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return a maximum matching of the double cover.

    Parameters
    ----------
    row_offsets, columns
        The graph.
    partner
        (n,) the partner of each node in a matching of the graph to start from, -1 for none, -2
        for nodes that are not there.
    stop
        Where it holds, the matching found so far is returned, maximum or not.

    Returns
    -------
    right_of, left_of : (n,) int64
        The right partner of each left node, and the left partner of each right node; -1 for none.

    Notes
    -----
    O(m sqrt(n)), compiled. J. E. Hopcroft and R. M. Karp, SIAM J. Comput. 2, 225-231, 1973.
    """
    right_of, left_of = partner.copy(), partner.copy()
    n = len(partner)
    level, queue = np.empty(n, np.int64), np.empty(n, np.int64)
    while not stop() and _find_levels(row_offsets, columns, right_of, left_of, level, queue):
        _augment(row_offsets, columns, right_of, left_of, level, queue)
    return right_of, left_of


def matching_size(
    row_offsets: NDArray[np.int64],
    columns: NDArray[Any],
    partner: NDArray[np.int64],
    stop: Stop = never,
) -> int:
    """Return the size of a maximum matching, which see."""
    right_of, _ = maximum_matching(row_offsets, columns, partner, stop)
    return int(np.count_nonzero(right_of >= 0))


@njit(cache=True)
def _find_levels(
    row_offsets: Any, columns: Any, right_of: Any, left_of: Any, level: Any, queue: Any
) -> Any:
    """Level left nodes by their distance from free ones; return whether a free right is met."""
    head = tail = 0
    for u in range(len(right_of)):
        level[u] = -1
        if right_of[u] == -1:
            level[u] = 0
            queue[tail] = u
            tail += 1
    last = -1  # level from which a free right node is reached
    while head < tail:
        u = queue[head]
        head += 1
        if 0 <= last < level[u]:
            break
        for k in range(row_offsets[u], row_offsets[u + 1]):
            v = left_of[columns[k]]
            if v == -1:
                last = level[u]
            elif v >= 0 and level[v] < 0:
                level[v] = level[u] + 1
                queue[tail] = v
                tail += 1
    return last >= 0


@njit(cache=True)
def _augment(
    row_offsets: Any, columns: Any, right_of: Any, left_of: Any, level: Any, stack: Any
) -> None:
    """Augment along disjoint shortest paths until there is none."""
    following = row_offsets[:-1].copy()
    for root in range(len(right_of)):
        if right_of[root] != -1:
            continue
        depth = 1
        stack[0] = root
        while depth > 0:
            u = stack[depth - 1]
            if following[u] == row_offsets[u + 1]:
                depth -= 1  # a dead end: its entries are used up for good
                continue
            w = columns[following[u]]
            following[u] += 1
            v = left_of[w]
            if v == -1:
                for place in range(depth - 1, -1, -1):
                    left_of[w] = stack[place]
                    w, right_of[stack[place]] = right_of[stack[place]], w
                break
            if v >= 0 and level[v] == level[u] + 1:
                stack[depth] = v
                depth += 1
