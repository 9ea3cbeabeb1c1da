"""The residual graph of a vertex cover in two integers a node, on a device with kernels.

What `ScalarState` is on a CPU, in the same lists or bits. A removal is a few launches that read
from device memory how many nodes leave and how many neighbours these have, so that a lone rank
can submit many of them without waiting for one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.row_block import RowBlock
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.search import scalar_state

_SOURCE = Path(__file__).with_name("scalar_state.cu")
# Threads that share the list of one neighbour, and words of bits that one thread takes.
_LANES, _WORDS = 32, 16


class DeviceScalarState:
    """Degrees, sums, and who touches whom.

    Parameters
    ----------
    comm
        The ranks; their devices have kernels.
    block
        This rank's rows of an unweighted graph.
    messages
        (n,) int64, what a node of each degree adds to its neighbours' sums; the degree by default.
    width
        How many nodes one removal takes at the most.

    Attributes
    ----------
    lo, rows : int
        This rank's first row and the number of its rows.
    degrees : (n,) int32
        Residual degrees, replicated; 0 for nodes that have left.
    sums : (rows,) int64
        Sums over active neighbours of this rank's rows; of no meaning for nodes that have left.
    leaving : (width,) int32
        The nodes of the last removal.
    adjacency_bytes : int
        Bytes of the lists or bits.
    """

    def __init__(
        self,
        comm: Communicator,
        block: RowBlock,
        messages: NDArray[np.int64] | None,
        width: int,
    ) -> None:
        self.comm, self.width, self.rows = comm, width, block.rows
        self._partition = block.partition
        self.lo, _ = block.partition.range(comm.rank)
        device, xp = comm.device, comm.device.xp
        self._kernels = device.kernels(_SOURCE)
        degrees = comm.allgatherv(np.diff(block.row_offsets), block.partition.counts)
        table = np.arange(max(block.n, 1)) if messages is None else messages
        self.degrees = device.from_host(degrees.astype(np.int32))
        self._messages = device.from_host(table)
        self._leaves = xp.full(block.n, np.iinfo(np.int32).max, np.int32)
        self._removals = 0

        self._row_offsets = device.from_host(block.row_offsets)
        self._columns = device.from_host(block.columns.astype(np.int32, copy=False))
        self.sums = xp.zeros(block.rows, np.int64)
        self._kernels.add_neighbours(
            block.rows,
            block.rows,
            self._row_offsets,
            self._columns,
            self._messages[self.degrees],
            self.sums,
        )
        # Bits count neighbours: they serve where all messages fall alike.
        is_dense = block.entries > scalar_state.DENSE * block.n * block.n
        self._words = -(-block.n // 64) if messages is None and is_dense else 0
        if self._words:
            self._hold_bits()
        else:
            self._hold_lists(block)

        self._most_degree = int(degrees.max(initial=0))
        entries = min(block.entries, width * self._most_degree)
        self._neighbours = xp.empty(entries, np.int32)
        self._gains = xp.empty(entries, np.int64)
        self._listed = xp.empty(1, np.int64)
        self.leaving = xp.empty(width, np.int32)
        self._own = xp.empty(width, np.int64)
        self._offsets = xp.empty(width + 1, np.int64)
        self._filled = xp.empty(width, np.int32)
        self._masks = xp.empty((width, self._words), np.uint64)

    def _hold_bits(self) -> None:
        """Turn this rank's rows into bits, word by word so that neighbouring threads read them."""
        self._bits = self.comm.device.xp.zeros((self._words, self.rows), np.uint64)
        self._kernels.set_bits(self.rows, self.rows, self._row_offsets, self._columns, self._bits)
        self.adjacency_bytes = int(self._bits.nbytes)
        del self._row_offsets, self._columns

    def _hold_lists(self, block: RowBlock) -> None:
        """Hold the columns of this rank's block beside its rows: the same where it has all."""
        self._starts, self._touching = self._row_offsets, self._columns
        parts = [self._row_offsets, self._columns]
        if self.comm.size > 1:
            device, xp = self.comm.device, self.comm.device.xp
            self._starts = device.from_host(scalar_state.column_starts(block))
            self._touching = xp.empty_like(self._columns)
            self._kernels.transpose(
                self.rows,
                self.rows,
                self._row_offsets,
                self._columns,
                self._starts,
                xp.zeros(block.n, np.int32),
                self._touching,
            )
            parts += [self._starts, self._touching]
        self.adjacency_bytes = sum(int(part.nbytes) for part in parts)

    def counts(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many active neighbours the nodes of each rank have, (P,) on the host."""
        device = self.comm.device
        lengths = device.to_host(self.degrees[device.from_host(nodes)])
        owner = np.searchsorted(self._partition.offsets, nodes, side="right") - 1
        return np.bincount(owner, lengths, self.comm.size).astype(np.int64)

    def remove(
        self, nodes: Any, count: Any, candidates: Any, counts: NDArray[np.int64] | None = None
    ) -> None:
        """Remove distinct active nodes (collective), without waiting on a lone rank.

        Parameters
        ----------
        nodes
            (k,) int64 ids on the device, k <= `width`, sorted where there are many ranks.
        count
            (1,) int64 on the device: how many of them leave.
        candidates
            (2,) int64 on the device: how many nodes have an edge; the second is written.
        counts
            What `counts` returns for the nodes; only where there are many ranks.
        """
        kernels, leaves, width = self._kernels, self._leaves, len(nodes)
        most = min(len(self._neighbours), width * self._most_degree)
        self._removals += 1
        kernels.leave(
            1,
            self._removals,
            nodes,
            count,
            self._messages,
            self.degrees,
            leaves,
            candidates,
            self.leaving,
            self._own,
            self._offsets,
            self._listed,
            self._filled,
        )
        leaving, rows = (self._removals, self.leaving, count), (self.lo, self.rows)
        found = (leaves, self._offsets, self._filled, self._neighbours)
        if self._words:
            self._masks.fill(0)
            words = (self._words, self._bits)
            kernels.neighbours_in_bits(self._words, *leaving, *rows, *words, *found)
        else:
            lists = (self._row_offsets, self._columns)
            kernels.neighbours_in_lists(self._most_degree, *leaving, *rows, *lists, *found)
        neighbours = self._neighbours
        if counts is not None:
            start = int(counts[: self.comm.rank].sum())
            own = neighbours[start : start + int(counts[self.comm.rank])]
            neighbours = self.comm.allgatherv(own, counts)
        kernels.lower_degrees(
            most,
            self._removals,
            count,
            self._offsets,
            neighbours,
            self._messages,
            leaves,
            self.degrees,
            candidates,
            self._gains,
            self._words,
            self._masks,
        )
        if self._words:
            threads = -(-self._words // _WORDS) * self.rows
            bits = (self._own, self._masks, *rows, self._words, self._bits, leaves, self.sums)
            kernels.lower_by_bits(threads, *leaving, *bits)
        else:
            self.add_to_touching(most, self._listed, neighbours, self._gains, self.sums)
            self.add_to_touching(width, count, self.leaving, self._own, self.sums)

    def add_to_touching(self, most: int, count: Any, nodes: Any, gains: Any, sums: Any) -> None:
        """Add gains of nodes to the sums of the active rows of this rank that touch them.

        Only where there are lists, not bits.

        Parameters
        ----------
        most
            How many nodes there may be.
        count
            (1,) int64 on the device: how many there are.
        nodes, gains
            (count or more,) int32 ids and int64 on the device.
        sums
            (rows,) int64 on the device.
        """
        self._kernels.add_to_touching(
            _LANES * most,
            self._removals,
            count,
            nodes,
            gains,
            self.lo,
            self._starts,
            self._touching,
            self._leaves,
            sums,
        )
