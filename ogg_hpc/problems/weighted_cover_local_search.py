"""Local search for light vertex covers, by exchanges under edge weights.

Two nodes leave a cover, those whose edges that open weigh least for what the nodes weigh; others
enter for the opposite reason until every edge is covered again, and what has become redundant
leaves [1]_. Edges that were open gain weight, so that the search leaves where it is stuck, and a
node that left may enter only after a neighbour has changed. See `cover_local_search` for the rest.

References
----------
.. [1] S. Cai, Y. Li, W. Hou and H. Wang, "Towards faster local search for minimum weight vertex
   cover on massive graphs", Information Sciences 471, 64-79, 2019.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.cover_local_search import CoverSearch, add, forget, remove
from ogg_hpc.problems.node_weights import node_weights, weight_of
from ogg_hpc.problems.redundancy import without_redundant_nodes
from ogg_hpc.runtime.random_compiled import absorb, begin, to_integer

_SAMPLE = 200  # nodes looked at for the one to remove
# Open edges looked at for the node to add, and made heavier: a hub that leaves opens all of its,
# and as many nodes may enter for it.
_MOST_OPEN = 1_000
_LEAVE = 2  # nodes that leave in an exchange
_MEAN_WEIGHT = 0.5  # times the nodes: from there on weights of edges are forgotten
_WORK = 5_000_000  # memory accesses between two answers, roughly


def search_weighted_covers(
    graph: Graph, cover: NDArray[np.int64], seed: int
) -> Iterator[NDArray[np.int64]]:
    """Yield the lightest cover so far, again and again; ends only when no node can be spared.

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
        Sorted ids of the lightest cover so far, after about as much work as for the one before. No
        cover found is heavier than `cover`.
    """
    lightest = np.sort(without_redundant_nodes(graph, cover))
    weights = node_weights(graph)
    search = CoverSearch(graph, lightest, seed)
    going_on = True
    while going_on:
        going_on = _advance(search.seed, weights, *search.arrays)
        # Sums of weights that are not whole are rounded in the search.
        found = search.best()
        if weight_of(graph, found) < weight_of(graph, lightest):
            lightest = found
        yield lightest


@njit(cache=True)
def _advance(
    seed: Any, weights: Any, row_offsets: Any, columns: Any, edge_of: Any,
    ends: Any, weight: Any, open_edges: Any, open_place: Any, in_cover: Any, members: Any,
    member_place: Any, gain: Any, changed: Any, may_enter: Any, lightest: Any, counts: Any,
) -> Any:  # fmt: skip
    """Make exchanges for a while; return whether more can be made."""
    n = len(gain)
    left = np.int64(_WORK)
    limit = np.int64(_MEAN_WEIGHT * n * len(weight))
    total, least = weights[in_cover].sum(), weights[lightest].sum()
    entered = np.empty(n, np.int64)
    start = begin(seed)
    while left > 0:
        if counts[1] == 0:
            return False
        counts[2] += 1
        state = absorb(start, counts[2])
        for i in range(min(_LEAVE, counts[1])):
            left -= 2 * min(_SAMPLE, counts[1])
            v = _to_remove(absorb(state, i), weights, members, gain, changed, counts)
            remove(
                v, row_offsets, columns, edge_of, weight, open_edges, open_place, in_cover,
                members, member_place, gain, changed, may_enter, counts,
            )  # fmt: skip
            total -= weights[v]
        size = 0
        while counts[0] > 0:
            v = _to_add(weights, ends, open_edges, gain, changed, may_enter, counts)
            add(
                v, row_offsets, columns, edge_of, weight, open_edges, open_place, in_cover,
                members, member_place, gain, changed, may_enter, counts,
            )  # fmt: skip
            total += weights[v]
            entered[size] = v
            size += 1
            heavier = min(_MOST_OPEN, counts[0])
            for edge in open_edges[:heavier]:
                weight[edge] += 1
                gain[ends[edge, 0]] += 1
                gain[ends[edge, 1]] += 1
            counts[3] += heavier
            left -= 4 * heavier + 4 * (row_offsets[v + 1] - row_offsets[v]) + 10
        for v in entered[:size]:
            # Only what is next to nodes that entered can have become redundant, or these.
            for k in range(row_offsets[v], row_offsets[v + 1] + 1):
                u = columns[k] if k < row_offsets[v + 1] else v
                if member_place[u] >= 0 and _is_redundant(u, row_offsets, columns, in_cover, gain):
                    remove(
                        u, row_offsets, columns, edge_of, weight, open_edges, open_place, in_cover,
                        members, member_place, gain, changed, may_enter, counts,
                    )  # fmt: skip
                    total -= weights[u]
        if total < least:
            least = total
            lightest[:] = in_cover
        if counts[3] > limit:
            forget(ends, weight, open_place, in_cover, gain, counts)
    return True


@njit(cache=True)
def _is_redundant(v: Any, row_offsets: Any, columns: Any, in_cover: Any, gain: Any) -> Any:
    if gain[v] < 0:
        return False
    covered = True
    for u in columns[row_offsets[v] : row_offsets[v + 1]]:  # weights of edges may be 0
        covered = covered and in_cover[u]
    return covered


@njit(cache=True)
def _to_remove(state: Any, weights: Any, members: Any, gain: Any, changed: Any, counts: Any) -> Any:
    """Return the node of least loss for its weight, the oldest of such, not the one added last."""
    size, best, most = counts[1], -1, 0.0
    place = to_integer(state, size) if size > _SAMPLE else 0
    for _ in range(min(size, _SAMPLE)):
        v = members[place]
        place = place + 1 if place + 1 < size else 0
        worth = gain[v] / weights[v]
        if v != counts[4] and (
            best < 0 or worth > most or (worth == most and changed[v] < changed[best])
        ):
            best, most = v, worth
    return best if best >= 0 else members[0]


@njit(cache=True)
def _to_add(
    weights: Any, ends: Any, open_edges: Any, gain: Any, changed: Any, may_enter: Any, counts: Any
) -> Any:
    """Return the node at an open edge of largest gain for its weight, the oldest of such."""
    best, most = -1, 0.0
    for edge in open_edges[: min(_MOST_OPEN, counts[0])]:
        for side in range(2):
            v = ends[edge, side]
            worth = gain[v] / weights[v]
            if may_enter[v] and (
                best < 0 or worth > most or (worth == most and changed[v] < changed[best])
            ):
                best, most = v, worth
    return best
