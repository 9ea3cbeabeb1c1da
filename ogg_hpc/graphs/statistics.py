"""What a graph looks like, in a few numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph

if TYPE_CHECKING:
    from ogg_hpc.graphs.shards import GraphStore


@dataclass(frozen=True)
class WeightStatistics:
    """Weights of edges or of nodes; `distinct` counts the values that occur."""

    min: float
    mean: float
    max: float
    negative: int
    distinct: int


@dataclass(frozen=True)
class GraphOutline:
    """What numbers of neighbours tell of one graph.

    Degrees of a directed graph are out-degrees. An isolated node has no edge in either direction;
    where incoming arcs are not known, neither is the number of isolated nodes. Of the empty graph
    all is zero.
    """

    nodes: int
    edges: int
    directed: bool
    density: float
    degree_min: int
    degree_median: float
    degree_mean: float
    degree_max: int
    isolated: int | None
    self_loops: int
    duplicates: int
    reversed_pairs: int


@dataclass(frozen=True)
class GraphStatistics(GraphOutline):
    """Summary of one graph; the components of a directed one are the weakly connected ones."""

    components: int
    largest_component: int
    weights: WeightStatistics | None
    node_weights: WeightStatistics | None


def graph_statistics(graph: Graph) -> GraphStatistics:
    """Summarise a graph in O(n + m) steps, but for sorts of degrees and weights."""
    from scipy.sparse.csgraph import connected_components

    outline = _outline([graph.degrees], graph.directed, graph)
    if graph.directed:
        touched = graph.degrees > 0
        touched[graph.columns] = True
        outline = replace(outline, isolated=int(graph.n - np.count_nonzero(touched)))
    components, member_of = (
        connected_components(graph.to_scipy(), directed=graph.directed, connection="weak")
        if graph.n
        else (0, np.empty(0, np.int64))
    )
    return GraphStatistics(
        **vars(outline),
        components=int(components),
        largest_component=int(np.bincount(member_of).max(initial=0)),
        weights=_weight_statistics(graph.edges()[2]),
        node_weights=_weight_statistics(graph.node_weights),
    )


def stored_outline(store: GraphStore, index: int) -> GraphOutline:
    """Outline one graph of a store, of which only offsets are read, some at a time."""
    return _outline(store.degree_blocks(index), store.kind.directed, store.dropped(index))


def _outline(blocks: Iterable[NDArray[np.int64]], directed: bool, dropped: Any) -> GraphOutline:
    """Outline a graph by the degrees of its nodes and what was dropped on the way in."""
    # A graph with m edges has at most some 2 sqrt(m) different degrees.
    times: Counter[int] = Counter()
    for block in blocks:
        values, counts = np.unique(block, return_counts=True)
        times.update(dict(zip(values.tolist(), counts.tolist(), strict=True)))
    degrees = np.array(sorted(times), np.int64)
    counts = np.array([times[degree] for degree in degrees.tolist()], np.int64)
    n, entries = int(counts.sum()), int(degrees @ counts)
    ends = np.cumsum(counts)
    middle = degrees[np.searchsorted(ends, [(n - 1) // 2, n // 2], side="right")] if n else [0]
    pairs = n * (n - 1) if directed else n * (n - 1) // 2
    edges = entries if directed else entries // 2
    return GraphOutline(
        nodes=n,
        edges=edges,
        directed=directed,
        density=edges / pairs if pairs else 0.0,
        degree_min=int(degrees[0]) if n else 0,
        degree_median=float(np.mean(middle)),
        degree_mean=entries / n if n else 0.0,
        degree_max=int(degrees.max(initial=0)),
        isolated=None if directed and entries else times[0],
        self_loops=dropped.self_loops,
        duplicates=dropped.duplicates,
        reversed_pairs=dropped.reversed_pairs,
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
