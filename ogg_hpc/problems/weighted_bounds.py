"""Proven lower bounds on the weight of a vertex cover.

A node with a self loop is in every cover, so it counts its weight and leaves the graph with its
edges before either bound is taken on the rest. Weights that are not whole are rounded down, which
only lowers a bound.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.node_sets import mask_of
from ogg_hpc.problems.node_weights import whole_weights
from ogg_hpc.runtime.stop import Stop, never

# Flows are 32-bit integers.
FLOW_BITS = 30
# Entries of a graph from where a maximum flow takes more than a few seconds.
MOST_ENTRIES = 400_000


def weighted_cover_bound(graph: Graph, stop: Stop = never) -> float:
    """Return the value of the linear relaxation, or of an edge packing.

    The packing for large graphs, and where `stop` holds.

    Rounded up to a whole number of units where the weights are whole.
    """
    if len(graph.columns) <= MOST_ENTRIES and not stop():
        weights = whole_weights(graph, FLOW_BITS)
        bound = float(weights.values @ relaxed_cover(graph, weights.values)) / 2
    else:
        weights = whole_weights(graph)
        bound = float(edge_packing(graph, weights.values))
    finest = whole_weights(graph)
    value = bound * weights.unit
    return math.ceil(value / finest.unit) * finest.unit if finest.exact else value


def relaxed_cover(graph: Graph, weights: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (n,) twice the values of nodes in an optimum of the linear relaxation: 0, 1 or 2.

    Some optimum has values of a half alone [1]_, that of a minimum cut in the bipartite double
    cover, in which every edge {u, v} becomes (u, v') and (v, u'). Some lightest cover holds all
    nodes of value 1 and none of value 0.

    Parameters
    ----------
    graph
        An undirected graph.
    weights
        (n,) weights of the nodes, whose sum is below 2^30.

    References
    ----------
    .. [1] G. L. Nemhauser and L. E. Trotter, "Vertex packings: structural properties and
       algorithms", Mathematical Programming 8, 232-248, 1975.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    n, nodes = graph.n, np.arange(graph.n)
    looped = mask_of(graph, graph.looped)
    source, sink = np.full(n, 2 * n), np.full(n, 2 * n + 1)
    kept = ~(looped[graph.rows] | looped[graph.columns])
    rows, columns = graph.rows[kept].astype(np.int64), graph.columns[kept].astype(np.int64)
    capacities = csr_array(
        (
            np.concatenate([weights, np.full(len(rows), 1 << FLOW_BITS), weights]).astype(np.int32),
            (np.concatenate([source, rows, nodes + n]), np.concatenate([nodes, columns + n, sink])),
        ),
        (2 * n + 2, 2 * n + 2),
    )
    residual = capacities - maximum_flow(capacities, 2 * n, 2 * n + 1).flow
    residual.eliminate_zeros()
    reached = np.zeros(2 * n + 2, np.bool_)
    reached[breadth_first_order(residual, 2 * n, return_predecessors=False)] = True
    # The cut goes through the left copies that are not reached and the right ones that are.
    halves = (~reached[:n]).astype(np.int64) + reached[n : 2 * n]
    halves[looped] = 2
    return halves


def edge_packing(graph: Graph, weights: NDArray[np.int64]) -> int:
    """Return the sum of a maximal packing of edges: payments, of a node at most its weight.

    Each cover pays for all of them. Edges are packed by ascending ends. O(n + m), compiled [1]_.

    References
    ----------
    .. [1] R. Bar-Yehuda and S. Even, "A linear-time approximation algorithm for the weighted vertex
       cover problem", J. Algorithms 2, 198-203, 1981.
    """
    left = weights.copy()
    left[graph.looped] = 0
    return int(weights[graph.looped].sum()) + int(
        pack_edges(graph.row_offsets, graph.columns, left)
    )


@njit(cache=True)
def pack_edges(row_offsets: Any, columns: Any, left: Any) -> Any:
    """Pay for each edge what both of its ends have left; return the sum of the payments."""
    total = left[:0].sum()
    for v in range(len(left)):
        for u in columns[row_offsets[v] : row_offsets[v + 1]]:
            if u > v:
                payment = min(left[u], left[v])
                left[u] -= payment
                left[v] -= payment
                total += payment
    return total
