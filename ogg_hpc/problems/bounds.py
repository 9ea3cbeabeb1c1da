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


def matching_bound(graph: Graph) -> int:
    """Return the size of a greedy maximal matching: each of its edges needs a node of its own.

    Nodes of small degree are matched first, each to its free neighbour of smallest degree.
    At least half of a maximum matching. O(n log n + m), compiled.
    """
    matched = np.zeros(graph.n, dtype=np.bool_)
    matched[graph.looped] = True
    order = np.argsort(graph.degrees, kind="stable")
    size = _greedy_matching(graph.row_offsets, graph.columns, graph.degrees, order, matched)
    return len(graph.looped) + int(size)


@njit(cache=True)
def _greedy_matching(
    row_offsets: NDArray[np.int64],
    columns: NDArray[Any],
    degrees: NDArray[np.int64],
    order: NDArray[np.int64],
    matched: NDArray[np.bool_],
) -> int:
    size = 0
    for v in order:
        if matched[v]:
            continue
        partner = -1
        for entry in range(row_offsets[v], row_offsets[v + 1]):
            u = columns[entry]
            if not matched[u] and (partner < 0 or degrees[u] < degrees[partner]):
                partner = u
        if partner >= 0:
            matched[v] = matched[partner] = True
            size += 1
    return size


def double_cover_bound(graph: Graph) -> int:
    """Return the value of the linear relaxation of vertex cover, rounded up.

    The relaxation has a half-integral optimum, equal to half of a maximum matching of the
    bipartite double cover, in which every edge {u, v} becomes (u, v') and (v, u') [1]_. At
    least as strong as any matching of the graph itself. O(m sqrt(n)) by Hopcroft and Karp.

    References
    ----------
    .. [1] G. L. Nemhauser and L. E. Trotter, "Vertex packings: structural properties and
       algorithms", Mathematical Programming 8, 232-248, 1975.
    """
    if len(graph.columns) >= 2**31:
        return matching_bound(graph)  # SciPy's matching takes 32-bit indices
    import scipy.sparse
    from scipy.sparse.csgraph import maximum_bipartite_matching

    # The adjacency matrix is itself the biadjacency matrix of the double cover.
    rows, columns = graph.rows, graph.columns
    row_offsets = graph.row_offsets
    if graph.looped.size:
        stays = np.ones(graph.n, dtype=np.bool_)
        stays[graph.looped] = False
        kept = stays[rows] & stays[columns]
        columns = columns[kept]
        row_offsets = np.concatenate([[0], np.cumsum(kept)])[row_offsets]
    matrix = scipy.sparse.csr_array(
        (np.ones(len(columns), np.int8), columns.astype(np.int32), row_offsets.astype(np.int32)),
        shape=(graph.n, graph.n),
    )
    matching = int(np.count_nonzero(maximum_bipartite_matching(matrix) >= 0))
    return len(graph.looped) + (matching + 1) // 2
