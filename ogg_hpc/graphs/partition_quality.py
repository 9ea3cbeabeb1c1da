"""What ranks that share a graph by rows have to exchange, and how evenly they share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.partition import RowPartition


@dataclass(frozen=True, eq=False)
class PartitionQuality:
    """What each of P ranks holds and needs.

    Attributes
    ----------
    rows : (P,) int64
        Rows of each rank.
    entries : (P,) int64
        Stored entries of these rows.
    halo : (P,) int64
        Nodes of other ranks that are neighbours of these rows: what a rank has to be told of.
    cut_edges : int
        Edges (arcs of a directed graph) whose ends different ranks hold.
    """

    rows: NDArray[np.int64]
    entries: NDArray[np.int64]
    halo: NDArray[np.int64]
    cut_edges: int

    def summary(self) -> dict[str, Any]:
        """Return a few numbers; an imbalance is the largest share over the mean."""
        return {
            "halo_max": int(self.halo.max()),
            "halo_mean": float(self.halo.mean()),
            "cut_edges": self.cut_edges,
            "row_imbalance": _imbalance(self.rows),
            "entry_imbalance": _imbalance(self.entries),
        }

    def record(self) -> dict[str, Any]:
        """Return the summary and what each rank holds and needs."""
        of_ranks = {"rows": self.rows, "entries": self.entries, "halo": self.halo}
        return {**self.summary(), **{name: share.tolist() for name, share in of_ranks.items()}}


def partition_quality(graph: Graph, partition: RowPartition) -> PartitionQuality:
    """Measure a partition of the rows of a graph, exactly, in O(n + m) steps."""
    halo, cut = _halo(graph.row_offsets, graph.columns, partition.offsets)
    return PartitionQuality(
        rows=partition.counts,
        entries=np.diff(graph.row_offsets[partition.offsets]),
        halo=halo,
        cut_edges=int(cut if graph.directed else cut // 2),
    )


def _imbalance(shares: NDArray[np.int64]) -> float:
    return float(shares.max() / shares.mean()) if shares.any() else 1.0


@njit(cache=True)
def _halo(row_offsets: Any, columns: Any, offsets: Any) -> Any:
    ranks = len(offsets) - 1
    halo, cut = np.zeros(ranks, np.int64), 0
    seen_by = np.full(len(row_offsets) - 1, -1)
    for rank in range(ranks):
        lo, hi = offsets[rank], offsets[rank + 1]
        for column in columns[row_offsets[lo] : row_offsets[hi]]:
            if lo <= column < hi:
                continue
            cut += 1
            if seen_by[column] != rank:
                seen_by[column] = rank
                halo[rank] += 1
    return halo, cut
