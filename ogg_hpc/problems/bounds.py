"""Proven lower bounds on the size of a vertex cover.

A node with a self loop is in every cover, so it counts 1 and leaves the graph with its edges
before either bound is taken on the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.double_cover import matching_size
from ogg_hpc.runtime.stop import Stop, never


def matching_bound(graph: Graph) -> int:
    """Return the size of a greedy maximal matching: each of its edges needs a node of its own.

    Nodes of small degree are matched first, each to its free neighbour of smallest degree.
    At least half of a maximum matching. O(n log n + m), compiled.
    """
    return len(graph.looped) + int(np.count_nonzero(greedy_matching(graph) >= 0)) // 2


def double_cover_bound(graph: Graph, stop: Stop = never) -> int:
    """Return the value of the linear relaxation of vertex cover, rounded up.

    The relaxation has a half-integral optimum, equal to half of a maximum matching of the
    bipartite double cover, in which every edge {u, v} becomes (u, v') and (v, u') [1]_. At
    least as strong as any matching of the graph itself. O(m sqrt(n)), compiled. Any matching of
    the double cover gives a bound; where `stop` holds, that found so far does.

    References
    ----------
    .. [1] G. L. Nemhauser and L. E. Trotter, "Vertex packings: structural properties and
       algorithms", Mathematical Programming 8, 232-248, 1975.
    """
    size = matching_size(graph.row_offsets, graph.columns, greedy_matching(graph), stop)
    return len(graph.looped) + (size + 1) // 2


def greedy_matching(graph: Graph) -> NDArray[np.int64]:
    """Return the partner of each node, -1 for none, -2 for nodes with a self loop.

    Nodes of small degree are matched first, each to its free neighbour of smallest degree.
    """
    partner = np.full(graph.n, -1)
    partner[graph.looped] = -2
    order = np.argsort(graph.degrees, kind="stable")
    _match(graph.row_offsets, graph.columns, graph.degrees, order, partner)
    return partner


@njit(cache=True)
def _match(
    row_offsets: NDArray[np.int64],
    columns: NDArray[Any],
    degrees: NDArray[np.int64],
    order: NDArray[np.int64],
    partner: NDArray[np.int64],
) -> None:
    for v in order:
        if partner[v] != -1:
            continue
        best = -1
        for entry in range(row_offsets[v], row_offsets[v + 1]):
            u = columns[entry]
            if partner[u] == -1 and (best < 0 or degrees[u] < degrees[best]):
                best = u
        if best >= 0:
            partner[v], partner[best] = best, v
