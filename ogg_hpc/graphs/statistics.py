"""What a graph looks like, in a few numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph


@dataclass(frozen=True)
class WeightStatistics:
    """Weights of edges or of nodes; `distinct` counts the values that occur."""

    min: float
    mean: float
    max: float
    negative: int
    distinct: int


@dataclass(frozen=True)
class GraphStatistics:
    """Summary of one graph.

    Degrees of a directed graph are out-degrees; its components are the weakly connected ones.
    An isolated node has no edge in either direction. Of the empty graph all is zero.
    """

    nodes: int
    edges: int
    directed: bool
    density: float
    degree_min: int
    degree_median: float
    degree_mean: float
    degree_max: int
    isolated: int
    components: int
    largest_component: int
    self_loops: int
    duplicates: int
    weights: WeightStatistics | None
    node_weights: WeightStatistics | None


def graph_statistics(graph: Graph) -> GraphStatistics:
    """Summarise a graph in O(n + m) steps, but for a sort of the weights."""
    from scipy.sparse.csgraph import connected_components

    n, degrees = graph.n, graph.degrees
    touched = degrees > 0
    if graph.directed:
        touched[graph.columns] = True
    components, member_of = (
        connected_components(graph.to_scipy(), directed=graph.directed, connection="weak")
        if n
        else (0, np.empty(0, np.int64))
    )
    pairs = n * (n - 1) if graph.directed else n * (n - 1) // 2
    return GraphStatistics(
        nodes=n,
        edges=graph.m,
        directed=graph.directed,
        density=graph.m / pairs if pairs else 0.0,
        degree_min=int(degrees.min()) if n else 0,
        degree_median=float(np.median(degrees)) if n else 0.0,
        degree_mean=float(degrees.mean()) if n else 0.0,
        degree_max=int(degrees.max(initial=0)),
        isolated=int(n - np.count_nonzero(touched)),
        components=int(components),
        largest_component=int(np.bincount(member_of).max(initial=0)),
        self_loops=graph.self_loops,
        duplicates=graph.duplicates,
        weights=_weight_statistics(graph.edges()[2]),
        node_weights=_weight_statistics(graph.node_weights),
    )


def _weight_statistics(weights: NDArray[np.float64] | None) -> WeightStatistics | None:
    if weights is None or not len(weights):
        return None
    return WeightStatistics(
        min=float(weights.min()),
        mean=float(weights.mean()),
        max=float(weights.max()),
        negative=int(np.count_nonzero(weights < 0)),
        distinct=len(np.unique(weights)),
    )
