"""The complement of a graph: the edges that it has not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.graph import Graph

MOST_BYTES = 2**30


def complement(graph: Graph, most_bytes: int = MOST_BYTES) -> Graph:
    """Return the graph of all pairs of distinct nodes that are not adjacent.

    Parameters
    ----------
    graph
        An undirected graph; weights and loops do not matter.
    most_bytes
        What the ids of neighbours may take. The default is enough for any graph of 16,000 nodes.

    Raises
    ------
    SettingsError
        The complement takes more.

    Notes
    -----
    O(n²), compiled.
    """
    needed = (graph.n * (graph.n - 1) - len(graph.columns)) * graph.columns.itemsize
    if needed > most_bytes:
        raise SettingsError(
            f"the complement of the graph takes {needed / 2**30:.1f} GiB, more than the "
            f"{most_bytes / 2**30:.1f} GiB allowed ({graph.n} nodes, {graph.m} edges)"
        )
    row_offsets = np.zeros(graph.n + 1, dtype=np.int64)
    np.cumsum(graph.n - 1 - graph.degrees, out=row_offsets[1:])
    columns = np.empty(row_offsets[-1], dtype=graph.columns.dtype)
    _fill(graph.row_offsets, graph.columns, columns)
    return replace(
        graph,
        row_offsets=row_offsets,
        columns=columns,
        weights=None,
        looped=np.empty(0, np.int64),
        self_loops=0,
        duplicates=0,
        reversed_pairs=0,
    )


@njit(cache=True)
def _fill(row_offsets: NDArray[np.int64], columns: NDArray[Any], result: NDArray[Any]) -> None:
    n = len(row_offsets) - 1
    place = 0
    for v in range(n):
        entry, end = row_offsets[v], row_offsets[v + 1]
        for u in range(n):
            if entry < end and columns[entry] == u:
                entry += 1
            elif u != v:
                result[place] = u
                place += 1
