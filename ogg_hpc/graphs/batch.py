"""A batch of graphs whose rows are spread over ranks: masks and block products.

A batch holds G graphs as one block-diagonal matrix, and `copies` masks on each of them, so that
a batch of different graphs (copies = 1) and a batch of masks on one graph (G = 1, one product
for all masks) are the same thing. The adjacency is never changed: zeroing rows and columns is
the same as masking, A' X = m * (A (m * X)).

Nodes are numbered by *position*: the rows of rank 0 over all graphs, then those of rank 1, and
so on. Rows that the ranks gather therefore concatenate to exactly the order of the columns.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.row_block import RowBlock
from ogg_hpc.runtime.communicator import Communicator

COLLECTIVES = ("allgather", "allreduce")


class GraphBatch:
    """Row blocks of a batch of graphs on one rank's device.

    Parameters
    ----------
    comm
        The ranks that share the graphs.
    blocks
        This rank's rows of each graph; a graph may appear more than once.
    copies
        Number of masks on each graph.
    collective
        How neighbour sums cross ranks: ``allgather`` moves (P-1)/P of a layer's rows,
        ``allreduce`` (as in Alg. 2 of the paper) twice that.

    Attributes
    ----------
    sizes : (G,) int64
        Nodes of each graph, on the host.
    mean_degrees : (G,) float64
        Mean degree of each whole graph, on the host.
    nodes : int
        Nodes of all graphs, once each.
    counts : (P,) int64
        Rows of each rank.
    lo, hi : int
        Positions of this rank's rows.
    node_of, graph_of : (nodes,) int64
        Node id within its graph, and the graph, of each position; on the host.
    node_weights : (nodes,) float64, optional
        Weight of the node at each position, on the host.
    """

    def __init__(
        self,
        comm: Communicator,
        blocks: Sequence[RowBlock],
        copies: int = 1,
        collective: str = "allgather",
    ) -> None:
        if collective not in COLLECTIVES:
            raise SettingsError(
                f"collective {collective!r} is unknown; use one of {', '.join(COLLECTIVES)}"
            )
        self.comm = comm
        self.copies = copies
        self.collective = collective
        self.sizes = np.array([block.n for block in blocks], dtype=np.int64)
        self.mean_degrees = np.array([block.mean_degree for block in blocks])
        self.nodes = int(self.sizes.sum())
        self._first = np.concatenate([[0], np.cumsum(self.sizes)])
        per_rank = np.array([block.partition.counts for block in blocks]).T  # (P, G)
        self.counts = per_rank.sum(axis=1)
        self.lo = int(self.counts[: comm.rank].sum())
        self.hi = self.lo + int(self.counts[comm.rank])

        owner = np.tile(np.arange(comm.size), len(blocks)).repeat(per_rank.T.reshape(-1))
        union = np.argsort(owner, kind="stable")
        self._position = np.empty(self.nodes, np.int64)
        self._position[union] = np.arange(self.nodes)
        self.graph_of = np.arange(len(blocks)).repeat(self.sizes)[union]
        self.node_of = union - self._first[self.graph_of]

        self.node_weights: NDArray[np.float64] | None = None
        if any(block.node_weights is not None for block in blocks):
            self.node_weights = np.concatenate([_node_weights(block) for block in blocks])[union]
        columns = [
            block.columns + first for block, first in zip(blocks, self._first[:-1], strict=True)
        ]
        weighted = any(block.weights is not None for block in blocks)
        self._set_rows(
            np.concatenate([np.diff(block.row_offsets) for block in blocks]),
            self._position[np.concatenate(columns)],
            np.concatenate([_weights(block) for block in blocks]) if weighted else None,
        )

    def _set_rows(
        self,
        degrees: NDArray[np.int64],
        columns: NDArray[np.int64],
        weights: NDArray[np.float64] | None,
    ) -> None:
        """Put this rank's rows on the device."""
        id_type = np.int32 if max(self.nodes, len(columns)) < 2**31 else np.int64
        device = self.comm.device
        self._columns = device.from_host(columns.astype(id_type, copy=False))
        self._rows = device.from_host(np.arange(len(degrees), dtype=id_type).repeat(degrees))
        self._row_offsets = device.from_host(
            np.concatenate([[0], np.cumsum(degrees)]).astype(id_type)
        )
        self._weights = None if weights is None else device.from_host(weights)
        self._ones = device.xp.ones(len(columns), np.float64)
        self._shape = (self.hi - self.lo, self.nodes)

    def restricted(self, keep: NDArray[np.bool_]) -> GraphBatch:
        """Return the batch without the nodes outside a mask and their entries.

        Masking such nodes for ever is the same as dropping them. Ids, sizes and ranks' ownership
        stay what they were.

        Parameters
        ----------
        keep
            (nodes,) replicated mask on the host.
        """
        device = self.comm.device
        batch = copy.copy(self)
        for name, attribute in vars(GraphBatch).items():
            if isinstance(attribute, cached_property):
                batch.__dict__.pop(name, None)
        inside = np.concatenate([[0], np.cumsum(keep)])
        bounds = inside[np.concatenate([[0], np.cumsum(self.counts)])]
        batch.nodes = int(inside[-1])
        batch.counts = np.diff(bounds)
        batch.lo, batch.hi = int(bounds[self.comm.rank]), int(bounds[self.comm.rank + 1])
        batch.graph_of, batch.node_of = self.graph_of[keep], self.node_of[keep]
        if self.node_weights is not None:
            batch.node_weights = self.node_weights[keep]
        batch._position = np.where(keep, inside[:-1], -1)[self._position]

        rows, columns = device.to_host(self._rows), device.to_host(self._columns)
        kept_rows = keep[self.lo : self.hi]
        entries = kept_rows[rows] & keep[columns]
        degrees = np.bincount(rows[entries], minlength=len(kept_rows))[kept_rows]
        weights = None if self._weights is None else device.to_host(self._weights)[entries]
        batch._set_rows(degrees, inside[columns[entries]], weights)
        return batch

    def with_whole_weights(self, exponents: NDArray[np.int64]) -> GraphBatch:
        """Return the batch with weights as whole numbers; without weights each edge counts 1.

        Parameters
        ----------
        exponents
            (G,) power of two that the weights of each graph are multiplied with and then rounded.
        """
        xp = self.comm.device.xp
        batch = copy.copy(self)
        batch.__dict__.pop("_signed_weights", None)
        weights = self._ones if self._weights is None else self._weights
        exponent = self.comm.device.from_host(exponents.astype(np.int32))[self.row_graph]
        batch._weights = xp.rint(xp.ldexp(weights, exponent[self._rows]))
        return batch

    def largest_weights(self) -> NDArray[np.float64]:
        """Return (G,) the largest absolute weight in each graph, 0 without edges (collective).

        On the host; without weights each edge counts 1.
        """
        to_host, largest = self.comm.device.to_host, np.zeros(len(self.sizes))
        weights = self._ones if self._weights is None else self._weights
        graphs = self.graph_of[self.lo : self.hi][to_host(self._rows)]
        np.maximum.at(largest, graphs, np.abs(to_host(weights)))
        all_ranks: NDArray[np.float64] = self.comm.allreduce(largest, "max")
        return all_ranks

    # Layout.

    @property
    def groups(self) -> int:
        """Number of masks on all graphs: ``len(sizes) * copies``."""
        return len(self.sizes) * self.copies

    @cached_property
    def matrix(self) -> Any:
        """Row-sorted COO of this rank's adjacency block, ones of float64."""
        return self.comm.device.sparse.coo_matrix(
            (self._ones, (self._rows, self._columns)), shape=self._shape
        )

    @cached_property
    def _product(self) -> Any:
        """The block as CSR on the very same column and data arrays."""
        return self._csr(self._ones)

    def _csr(self, data: Any) -> Any:
        return self.comm.device.sparse.csr_matrix(
            (data, self._columns, self._row_offsets), shape=self._shape
        )

    @cached_property
    def _signed_weights(self) -> tuple[Any, Any]:
        """The positive and the negated negative weights as two matrices like `matrix`."""
        weights = self._weights
        assert weights is not None
        return self._csr(weights * (weights > 0)), self._csr(-weights * (weights < 0))

    @cached_property
    def by_column(self) -> tuple[Any, Any]:
        """Starts and rows: ``rows[starts[v]:starts[v + 1]]`` of this rank touch position v."""
        if self.comm.size == 1:  # the whole matrix, which is symmetric
            return self._row_offsets, self._columns
        columns = self._product.tocsc()
        return columns.indptr, columns.indices

    @cached_property
    def row_graph(self) -> Any:
        """(rows,) the graph of each of this rank's rows, on the device."""
        return self.comm.device.from_host(self.graph_of[self.lo : self.hi])

    @cached_property
    def _graph_of(self) -> Any:
        """`graph_of` on the device."""
        return self.comm.device.from_host(self.graph_of)

    @cached_property
    def group_of(self) -> NDArray[np.int64]:
        """(nodes, copies) group, ``graph * copies + copy``, of each position; on the host."""
        return self.graph_of[:, None] * self.copies + np.arange(self.copies)

    @property
    def entries(self) -> int:
        """Stored entries of this rank's block."""
        return len(self._columns)

    @property
    def adjacency_bytes(self) -> int:
        """Bytes of this rank's block: COO, row offsets of the CSR view on it, columns if used."""
        parts = [self._rows, self._columns, self._ones, self._row_offsets]
        if "by_column" in vars(self) and self.comm.size > 1:
            parts += self.by_column
        return sum(int(part.nbytes) for part in parts)

    def positions(self, graphs: NDArray[np.int64], nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the positions of nodes given by graph and id within the graph, on the host."""
        return self._position[self._first[graphs] + nodes]

    def mask(
        self, graphs: NDArray[np.int64], nodes: NDArray[np.int64], copies: NDArray[np.int64] | int
    ) -> Any:
        """Return the (nodes, copies) mask of nodes given by graph, id and copy."""
        mask = np.zeros((self.nodes, self.copies), bool)
        mask[self.positions(graphs, nodes), copies] = True
        return self.comm.device.from_host(mask)

    def local(self, array: Any) -> Any:
        """Return this rank's rows of a replicated array."""
        return array[self.lo : self.hi]

    def gathered(self, rows: Any) -> Any:
        """Return the replicated array of all ranks' rows (collective)."""
        return self.comm.allgatherv(rows, self.counts)

    def count(self, mask: Any) -> Any:
        """Return the (G, copies) numbers of nodes inside a replicated (nodes, copies) mask."""
        return self.comm.device.from_host(
            np.bincount(
                self.group_of[self.comm.device.to_host(mask)], minlength=self.groups
            ).reshape(-1, self.copies)
        )

    def weight(self, mask: Any) -> Any:
        """Return the (G, copies) weights of the nodes inside a replicated (nodes, copies) mask.

        Added up in the order of the nodes, so that rounding does not depend on the ranks.
        """
        if self.node_weights is None:
            return self.count(mask)
        inside = self.comm.device.to_host(mask)
        weights = np.broadcast_to(self.node_weights[:, None], inside.shape)[inside]
        sums = np.bincount(self.group_of[inside], weights, self.groups)
        return self.comm.device.from_host(sums.reshape(-1, self.copies))

    def weights_of_graph(self, graph: int) -> NDArray[np.float64] | None:
        """Return the weights of one graph's nodes by id, None without; on the host.

        Of a batch from which no node has been dropped.
        """
        if self.node_weights is None:
            return None
        first = self._first[graph]
        return self.node_weights[self._position[first : first + self.sizes[graph]]]

    def spread(self, values: Any) -> Any:
        """Return the (nodes, copies) array that has each graph's row of (G, copies) values."""
        return values[self._graph_of]

    def total(self, values: Any) -> Any:
        """Return the (G, copies) sums of all ranks' (rows, copies) values (collective).

        Added up in the order of the nodes, so that rounding does not depend on the ranks.
        """
        everywhere = self.comm.device.to_host(self.comm.allgatherv(values, self.counts))
        sums = np.bincount(self.group_of.reshape(-1), everywhere.reshape(-1), self.groups)
        return self.comm.device.from_host(sums.reshape(-1, self.copies))

    # Sums over neighbours of masks: exact, being sums of small integers.

    def degrees(self, active: Any) -> Any:
        """Return the (rows, copies) numbers of neighbours inside a replicated mask, float64."""
        return self._product @ active.astype(np.float64)

    def edge_sums(self, active: Any, degrees: Any | None = None) -> tuple[Any, Any]:
        """Return W+ and W-: sums of positive and of negated negative weights to a mask.

        Without weights they are the degrees (computed here unless given) and zeros. For a
        replicated (nodes, copies) array of numbers they are sums of weights times these.
        """
        if self._weights is None:
            degrees = self.degrees(active) if degrees is None else degrees
            return degrees, self.comm.device.xp.zeros_like(degrees)
        positive, negative = self._signed_weights
        inside = active.astype(np.float64)
        return positive @ inside, negative @ inside

    def edge_sums_at(self, row: Any, copy: Any, active: Any, degrees: Any) -> tuple[Any, Any]:
        """Return W+ and W-, (k,) each, of some of this rank's rows and copies alone."""
        if self._weights is None:
            degrees = degrees[row, copy]
            return degrees, self.comm.device.xp.zeros_like(degrees)
        inside = active.astype(np.float64)
        each = self.comm.device.xp.arange(len(row))
        positive, negative = ((signed[row] @ inside)[each, copy] for signed in self._signed_weights)
        return positive, negative

    def adjacent(self, mask: Any) -> Any:
        """Return the replicated mask of nodes with a neighbour inside a mask (collective)."""
        return self.gathered(self.degrees(mask) > 0)

    # Sums over neighbours of rows, and their adjoints (all collective).

    def gather_multiply(self, rows: Any) -> Any:
        """Gather all ranks' (rows, width) arrays and multiply this rank's block with them."""
        return self._product @ self.comm.allgatherv(rows, self.counts)

    def multiply_reduce_scatter(self, rows: Any) -> Any:
        """Multiply the transposed block with this rank's rows, sum over ranks, keep own rows."""
        return self.comm.reduce_scatter(self._product.T @ rows, self.counts)

    def multiply_allreduce(self, rows: Any) -> Any:
        """Do the same by an Allreduce of all rows, as in Alg. 2, line 12 of the paper."""
        return self.local(self.comm.allreduce(self._product.T @ rows))


def _node_weights(block: RowBlock) -> NDArray[np.float64]:
    return np.ones(block.n) if block.node_weights is None else block.node_weights


def _weights(block: RowBlock) -> NDArray[np.float64]:
    return np.ones(len(block.columns)) if block.weights is None else block.weights
