"""The neighbours of a rank's rows of some unweighted graphs, held once.

4 bytes an entry and 8 a row. Nothing changes them: graphs with nodes taken out are masks on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.row_block import RowBlock
from ogg_hpc.runtime.communicator import Communicator


class NeighbourLists:
    """The rows of all graphs, one after another (collective).

    A single graph is not copied: its lists are those of its block.

    Parameters
    ----------
    comm
        The ranks that share the graphs.
    blocks
        This rank's rows of each graph.

    Attributes
    ----------
    comm : Communicator
        The ranks.
    starts : (rows + 1,) int64
        The neighbours of a row are ``columns[starts[row]:starts[row + 1]]``.
    columns : (entries,) int32
        Ids within their graph; int64 where a graph has 2^31 nodes or more.
    first_row : (graphs + 1,) int64
        Where each graph's rows start.
    offsets : (graphs, P + 1) int64
        Node ids at which each rank's rows of each graph start.
    sizes : (graphs,) int64
        Nodes of each whole graph.
    mean_degrees : (graphs,) float64
        Mean degree of each whole graph.
    most : int
        The largest degree in any of them.
    """

    def __init__(self, comm: Communicator, blocks: Sequence[RowBlock]) -> None:
        self.comm = comm
        self.offsets = np.array([block.partition.offsets for block in blocks], np.int64)
        self.sizes = self.offsets[:, -1]
        self.mean_degrees = np.array([block.mean_degree for block in blocks])
        self.first_row = np.cumsum([0, *(block.rows for block in blocks)])
        id_type = np.int32 if self.sizes.max() < 2**31 else np.int64
        if len(blocks) == 1:
            self.starts = blocks[0].row_offsets
            self.columns = blocks[0].columns.astype(id_type, copy=False)
        else:
            degrees = [np.diff(block.row_offsets) for block in blocks]
            self.starts = np.cumsum(np.concatenate([[0], *degrees]))
            self.columns = np.concatenate([block.columns for block in blocks], dtype=id_type)
        most = np.diff(self.starts).max(initial=0)
        self.most = int(comm.allreduce(np.array([most]), "max")[0])

    @property
    def nbytes(self) -> int:
        """Bytes of the lists on this rank."""
        return self.starts.nbytes + self.columns.nbytes

    def neighbours(
        self, graphs: NDArray[np.int64], nodes: NDArray[np.int64]
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return the neighbours of some nodes, whoever holds them (collective).

        Parameters
        ----------
        graphs, nodes
            (k,) graph of each node and its id there.

        Returns
        -------
        neighbours, lengths
            Ids, one node's after another's, and (k,) how many each node has.
        """
        rank, size = self.comm.rank, self.comm.size
        owner = (nodes[:, None] >= self.offsets[graphs, 1:]).sum(axis=1)
        mine = np.flatnonzero(owner == rank)
        row = self.first_row[graphs[mine]] + nodes[mine] - self.offsets[graphs[mine], rank]
        lengths = np.zeros(len(nodes), np.int64)
        lengths[mine] = self.starts[row + 1] - self.starts[row]
        neighbours = self.columns[ranges(self.starts[row], lengths[mine])]
        if size == 1:
            return neighbours, lengths
        lengths = self.comm.allreduce(lengths)
        order = np.argsort(owner, kind="stable")  # the ranks' lists come one after another
        counts = np.bincount(owner, lengths, size).astype(np.int64)
        gathered = self.comm.allgatherv(neighbours, counts)
        starts = np.empty_like(lengths)
        starts[order] = np.cumsum(lengths[order]) - lengths[order]
        return gathered[ranges(starts, lengths)], lengths


def ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return ``start, start + 1, …`` of each length, one after another."""
    before = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) + (starts - before).repeat(lengths)
