"""Largest independent sets of small graphs, by branching over bit sets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.node_weights import whole_weights

MOST_NODES = 63


def independence_number(graph: Graph) -> int:
    """Return the size of a largest set of nodes without an edge or a loop among them.

    Parameters
    ----------
    graph
        An undirected graph of at most 63 nodes.

    Notes
    -----
    A node of degree at most one, no lighter than its neighbour, is taken at once; else the search
    branches on a node of largest degree (Tarjan and Trojanowski, SIAM J. Comput. 6, 1977, without
    their case analysis). A sparse graph of 40 nodes takes well under a millisecond.
    """
    weight = _heaviest(graph, np.ones(graph.n, np.int64))
    return int(weight)


def independence_weight(graph: Graph) -> float | None:
    """Return the largest weight of such a set, None where weights are not whole.

    Parameters
    ----------
    graph
        An undirected graph of at most 63 nodes; see `whole_weights`.
    """
    weights = whole_weights(graph)
    return _heaviest(graph, weights.values) * weights.unit if weights.exact else None


def heaviest_independent_set(graph: Graph) -> NDArray[np.int64]:
    """Return the sorted nodes of an independent set of the largest weight, by lowest ids first.

    Parameters
    ----------
    graph
        An undirected graph of at most 63 nodes, whose weights are whole; see `whole_weights`.
    """
    weights = whole_weights(graph).values
    free, neighbours = _bit_sets(graph)
    left = _largest(free, neighbours, weights)
    chosen = []
    for node in range(graph.n):
        if (free >> node) & 1:
            rest = free & ~(neighbours[node] | (1 << node))
            if weights[node] + _largest(rest, neighbours, weights) == left:
                chosen.append(node)
                free, left = rest, left - weights[node]
            else:
                free &= ~(1 << node)
    return np.array(chosen, np.int64)


def _heaviest(graph: Graph, weights: NDArray[np.int64]) -> int:
    return int(_largest(*_bit_sets(graph), weights))


def _bit_sets(graph: Graph) -> tuple[np.int64, NDArray[np.int64]]:
    """Return the set of nodes without a loop, and the set of each node's neighbours."""
    if graph.n > MOST_NODES:
        raise ValueError(f"{graph.n} nodes are more than {MOST_NODES}")
    neighbours = np.zeros(graph.n, np.int64)
    np.bitwise_or.at(neighbours, graph.rows, np.int64(1) << graph.columns.astype(np.int64))
    free = (1 << graph.n) - 1
    for node in graph.looped.tolist():
        free &= ~(1 << node)
    return np.int64(free), neighbours


@njit(cache=True)
def _bits(x: Any) -> Any:
    count = 0
    while x:
        x &= x - 1
        count += 1
    return count


@njit("int64(int64, int64[:], int64[:])", cache=True)
def _largest(free: Any, neighbours: Any, weights: Any) -> Any:
    taken = 0
    while free:
        widest, widest_degree, leaf = -1, -1, -1
        for v in range(len(neighbours)):
            if (free >> v) & 1:
                around = neighbours[v] & free
                degree = _bits(around)
                if degree == 0 or (degree == 1 and weights[v] >= weights[_bits(around - 1)]):
                    leaf = v
                    break
                if degree > widest_degree:
                    widest, widest_degree = v, degree
        if leaf < 0:
            without = _largest(free & ~(1 << widest), neighbours, weights)
            rest = free & ~(neighbours[widest] | (1 << widest))
            inside = weights[widest] + _largest(rest, neighbours, weights)
            return taken + max(without, inside)
        taken += weights[leaf]
        free &= ~(neighbours[leaf] | (1 << leaf))
    return taken
