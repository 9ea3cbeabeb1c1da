"""Pairs of nodes that are no edges, to tell edges from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.runtime.random import integers, stream

#: How ends of pairs are drawn: each node alike, or in proportion to its degree.
DRAWS = ("uniform", "degree")
_TRIES = 100

Ids = NDArray[np.int64]


def are_edges(graph: Graph, sources: ArrayLike, targets: ArrayLike) -> NDArray[np.bool_]:
    """Return the (k,) mask of the pairs (u, v) that are arcs of a graph."""
    u, v = np.asarray(sources, np.int64), np.asarray(targets, np.int64)
    return _are_edges(graph.row_offsets, graph.columns, u, v)  # type: ignore[no-any-return]


def draw_targets(graph: Graph, draw: str, count: int, seed: int, *items: int) -> Ids:
    """Draw nodes with replacement: uniformly, or by in-degree as the targets of random arcs.

    Returns
    -------
    (count,) int64
        A function of the graph, the seed and the items.
    """
    key = stream(f"{draw} targets")
    if draw == "degree":
        arcs = integers(len(graph.columns), seed, key, *items, np.arange(count))
        return graph.columns[arcs].astype(np.int64)
    return integers(graph.n, seed, key, *items, np.arange(count))


def draw_non_edges(
    trained: Graph, known: Graph, draw: str, count: int, seed: int
) -> tuple[Ids, Ids]:
    """Draw pairs (u, v) of two nodes that are no arcs.

    Parameters
    ----------
    trained
        The graph whose degrees count: by ``degree``, u is drawn by out-degree, v by in-degree.
    known
        All arcs there are.
    draw
        One of `DRAWS`.
    count
        How many pairs; fewer where a hundred tries in a row find none.
    seed
        The pairs are a function of the graphs and of it.
    """
    u, v = np.empty(count, np.int64), np.empty(count, np.int64)
    missing = np.arange(count)
    for attempt in range(_TRIES):
        u[missing], v[missing] = _pairs(trained, draw, seed, attempt, missing)
        bad = (u[missing] == v[missing]) | are_edges(known, u[missing], v[missing])
        missing = missing[bad]
        if not missing.size:
            break
    return np.delete(u, missing), np.delete(v, missing)


def _pairs(trained: Graph, draw: str, seed: int, attempt: int, items: Ids) -> tuple[Ids, Ids]:
    bound = len(trained.columns) if draw == "degree" else trained.n
    first, second = (
        integers(bound, seed, stream(f"{draw} pairs"), items, attempt, end) for end in (0, 1)
    )
    if draw == "uniform":
        return first, second
    sources = np.searchsorted(trained.row_offsets, first, side="right") - 1
    return sources, trained.columns[second].astype(np.int64)


def reversed_non_arcs(held_out: Graph, known: Graph) -> tuple[Ids, Ids]:
    """Return the pairs (v, u) of the arcs u to v of a graph whose reverse is no arc."""
    sources, targets, _ = held_out.edges()
    one_way = ~are_edges(known, targets, sources)
    return targets[one_way].astype(np.int64), sources[one_way].astype(np.int64)


@njit(cache=True)
def _are_edges(offsets: Any, columns: Any, sources: Any, targets: Any) -> Any:
    found = np.empty(len(sources), np.bool_)
    for i in range(len(sources)):
        low, high = offsets[sources[i]], offsets[sources[i] + 1]
        end = high
        while low < high:
            middle = (low + high) // 2
            if columns[middle] < targets[i]:
                low = middle + 1
            else:
                high = middle
        found[i] = low < end and columns[low] == targets[i]
    return found
