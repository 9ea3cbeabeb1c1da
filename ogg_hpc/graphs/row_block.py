"""One rank's rows of one graph, and how they get there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.partition import RowPartition
from ogg_hpc.runtime.communicator import Communicator

BALANCE = ("rows", "edges")


@dataclass(frozen=True, eq=False)
class RowBlock:
    """The rows that one rank owns.

    Attributes
    ----------
    partition : RowPartition
        Who owns which rows.
    rank : int
        The owner of this block.
    row_offsets : (rows + 1,) int64
        Row i of the block is ``columns[row_offsets[i]:row_offsets[i + 1]]``.
    columns : (nnz,) int32 or int64
        Neighbour ids in the whole graph, sorted within a row.
    weights : (nnz,) float64, optional
        Edge weights.
    entries : int
        Stored entries of the whole graph: twice its edges.
    node_weights : (n,) float64, optional
        Weights of all nodes of the whole graph.
    """

    partition: RowPartition
    rank: int
    row_offsets: NDArray[np.int64]
    columns: NDArray[Any]
    weights: NDArray[np.float64] | None
    entries: int
    node_weights: NDArray[np.float64] | None = None

    @property
    def n(self) -> int:
        """Number of nodes of the whole graph."""
        return int(self.partition.offsets[-1])

    @property
    def rows(self) -> int:
        """Number of rows of this block."""
        return len(self.row_offsets) - 1

    @property
    def mean_degree(self) -> float:
        """Mean degree of the whole graph, 0 without nodes."""
        return self.entries / max(self.n, 1)


def check_balance(balance: str) -> None:
    """Raise a SettingsError unless ranks can share rows so."""
    if balance not in BALANCE:
        raise SettingsError(f"balance {balance!r} is unknown; use one of {', '.join(BALANCE)}")


def partition_rows(degrees: NDArray[np.int64], size: int, balance: str) -> RowPartition:
    """Partition the rows of a graph over `size` ranks by ``rows`` or by ``edges``."""
    check_balance(balance)
    if balance == "rows":
        return RowPartition.by_rows(len(degrees), size)
    return RowPartition.by_edges(degrees, size)


def row_block(graph: Graph, rank: int, size: int, balance: str = "rows") -> RowBlock:
    """Cut one rank's rows out of a whole graph."""
    partition = partition_rows(graph.degrees, size, balance)
    lo, hi = partition.range(rank)
    part = slice(int(graph.row_offsets[lo]), int(graph.row_offsets[hi]))

    def cut(values: NDArray[Any]) -> NDArray[Any]:
        # A view would keep the whole graph in memory.
        return values[part] if size == 1 else values[part].copy()

    return RowBlock(
        partition,
        rank,
        graph.row_offsets[lo : hi + 1] - graph.row_offsets[lo],
        cut(graph.columns),
        None if graph.weights is None else cut(graph.weights),
        len(graph.columns),
        graph.node_weights,
    )


def scatter_rows(comm: Communicator, graph: Graph | None, balance: str = "rows") -> RowBlock:
    """Give each rank its rows of a graph that only the root holds (collective).

    Parameters
    ----------
    comm
        The ranks.
    graph
        The whole graph on rank 0; ignored elsewhere.
    balance
        ``rows`` or ``edges``.

    Returns
    -------
    RowBlock
        This rank's rows.
    """
    root = graph if comm.rank == 0 else None
    header: tuple[Any, ...] = ()
    if root is not None:
        partition = partition_rows(root.degrees, comm.size, balance)
        header = (partition, root.columns.dtype, root.weights is not None, len(root.columns))
    partition, id_type, weighted, total = comm.broadcast_object(header)
    rows = entries = np.zeros(comm.size, np.int64)
    if root is not None:
        rows, entries = partition.counts, np.diff(root.row_offsets[partition.offsets])

    def scatter(values: NDArray[Any] | None, counts: NDArray[np.int64], dtype: Any) -> Any:
        return comm.alltoallv(np.empty(0, dtype) if values is None else values, counts)[0]

    degrees = scatter(None if root is None else root.degrees, rows, np.int64)
    columns = scatter(None if root is None else root.columns, entries, id_type)
    weights = (
        scatter(None if root is None else root.weights, entries, np.float64) if weighted else None
    )
    row_offsets = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
    node_weights = comm.broadcast_object(None if root is None else root.node_weights)
    return RowBlock(partition, comm.rank, row_offsets, columns, weights, total, node_weights)
