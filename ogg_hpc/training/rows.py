"""A rank's rows of training graphs: held in memory, or read from stores when they are needed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.members import is_store
from ogg_hpc.graphs.partition import RowPartition
from ogg_hpc.graphs.row_block import RowBlock, row_block
from ogg_hpc.graphs.shards import GraphStore
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.read_ahead import MEGABYTE, ReadAhead
from ogg_hpc.training.graphs import open_store, whole_graphs
from ogg_hpc.training.settings import GraphSource

# What the objects of a block take beside the content of their arrays.
_BLOCK_BYTES = 1000


class Rows(Protocol):
    """A rank's rows of some graphs.

    Attributes
    ----------
    sizes, entries : (graphs,) int64
        Nodes and stored entries of each whole graph.
    weighted : bool
        Whether edges have weights.
    stored : bool
        Whether graphs are read from disk.
    """

    sizes: NDArray[np.int64]
    entries: NDArray[np.int64]
    weighted: bool
    stored: bool

    def read(self, graph: int) -> RowBlock:
        """Return this rank's rows of a graph."""


class HeldRows:
    """Rows in memory; see `Rows`."""

    stored = False

    def __init__(self, blocks: Sequence[RowBlock]) -> None:
        self._blocks = blocks
        self.sizes = np.array([block.n for block in blocks], np.int64)
        self.entries = np.array([block.entries for block in blocks], np.int64)
        self.weighted = any(block.weights is not None for block in blocks)

    def read(self, graph: int) -> RowBlock:
        """See `Rows.read`."""
        return self._blocks[graph]


class StoredRows:
    """Rows in a store, of which a rank reads its own alone; see `Rows`.

    Parameters
    ----------
    comm
        The ranks that share each graph.
    store
        The graphs; stays open as long as this is there.
    balance
        ``rows`` or ``edges``.
    """

    stored = True

    def __init__(self, comm: Communicator, store: GraphStore, balance: str) -> None:
        self._rank, self._ranks = comm.rank, comm.size
        self._store, self._balance = store, balance
        self.sizes, self.entries = store.nodes, store.nnz
        self.weighted = store.weighted

    @property
    def nbytes(self) -> int:
        """About what all rows of all ranks take in memory."""
        nodes, entries = int(self.sizes.sum()), int(self.entries.sum())
        return 8 * nodes + (12 if self.weighted else 4) * entries + _BLOCK_BYTES * len(self.sizes)

    def held(self) -> HeldRows:
        """Read all rows into memory."""
        return HeldRows([self.read(graph) for graph in range(len(self.sizes))])

    def read(self, graph: int) -> RowBlock:
        """See `Rows.read`."""
        store = self._store
        if self._balance == "edges":
            partition = RowPartition.by_edges(store.degrees(graph), self._ranks)
        else:
            partition = RowPartition.by_rows(int(self.sizes[graph]), self._ranks)
        lo, hi = partition.range(self._rank)
        rows, entries = store.read_rows(graph, lo, hi), int(self.entries[graph])
        return RowBlock(partition, self._rank, *rows, entries, store.node_weights(graph))


class TrainingRows:
    """A rank's rows of all graphs of a run, by number.

    Those that are stored are read when they are asked for, by a thread that reads the next ones
    meanwhile, and the last used are kept. So there may be more of them than memory takes.

    Parameters
    ----------
    parts
        The graphs, numbered through.
    weighted
        Whether weights of edges are taken, where there are any.
    cache
        Megabytes of what is read that this rank keeps.

    Attributes
    ----------
    sizes, entries : (graphs,) int64
        Nodes and stored entries of each whole graph.
    weighted : bool
        Whether edges have weights.
    stored : bool
        Whether some graphs are read when they are asked for.
    """

    def __init__(self, parts: Sequence[Rows], weighted: bool = True, cache: float = 0) -> None:
        self._parts = parts
        self._first = np.cumsum([0, *(len(part.sizes) for part in parts)])
        self.sizes = np.concatenate([part.sizes for part in parts])
        self.entries = np.concatenate([part.entries for part in parts])
        self.weighted = weighted and any(part.weighted for part in parts)
        self.stored = any(part.stored for part in parts)
        self._kept = ReadAhead(self._read, _bytes, cache * MEGABYTE)

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, graph: int) -> RowBlock:
        """Return this rank's rows of a graph."""
        return self._kept[graph] if self._is_stored(graph) else self._read(graph)

    def expect(self, graphs: Iterable[int]) -> None:
        """Say which graphs are to be asked for next, so that they are read meanwhile."""
        self._kept.expect(graph for graph in graphs if self._is_stored(graph))

    @property
    def reading(self) -> dict[str, float]:
        """How many graphs were not there when they were asked for, and the seconds waited."""
        return {"reads": self._kept.reads, "seconds": self._kept.waited}

    def _is_stored(self, graph: int) -> bool:
        return self._locate(graph)[0].stored

    def _read(self, graph: int) -> RowBlock:
        part, number = self._locate(graph)
        block = part.read(number)
        return block if self.weighted else replace(block, weights=None)

    def _locate(self, graph: int) -> tuple[Rows, int]:
        part = int(np.searchsorted(self._first, graph, side="right")) - 1
        return self._parts[part], graph - int(self._first[part])


def training_rows(
    comm: Communicator,
    sources: Iterable[GraphSource],
    balance: str,
    weighted: bool = True,
    cache: float = math.inf,
) -> TrainingRows:
    """Return this rank's rows of the graphs that settings name.

    Graphs of stores are held if they all fit into the cache, else read when they are needed.
    Generated graphs and those of other files are made whole on each rank, one at a time, cut, and
    held.

    Parameters
    ----------
    comm
        The ranks that share each graph.
    sources
        The graphs.
    balance
        ``rows`` or ``edges``.
    weighted, cache
        As for `TrainingRows`.

    Raises
    ------
    OggError
        Graphs that cannot be made or read.
    """
    parts: list[Rows] = []
    for source in sources:
        if source.path and is_store(source.path):
            parts.append(StoredRows(comm, open_store(source.path), balance))
        else:
            graphs = whole_graphs(source)
            blocks = [row_block(graph, comm.rank, comm.size, balance) for graph in graphs]
            parts.append(HeldRows(blocks))
    stored = sum(part.nbytes for part in parts if isinstance(part, StoredRows))
    if stored <= comm.size * cache * MEGABYTE:  # the same on all ranks
        parts = [part.held() if isinstance(part, StoredRows) else part for part in parts]
    return TrainingRows(parts, weighted, cache)


def _bytes(block: RowBlock) -> int:
    arrays = (block.row_offsets, block.columns, block.weights, block.node_weights)
    return _BLOCK_BYTES + sum(array.nbytes for array in arrays if array is not None)
