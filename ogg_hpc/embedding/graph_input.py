"""Opening the graph that is embedded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ogg_hpc.embedding.edge_weights import refuse_weights
from ogg_hpc.embedding.row_block_graph import RowBlockGraph
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.embedding.shared_graph import SharedGraph
from ogg_hpc.embedding.walk_graph import WalkGraph
from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.families import parse_family
from ogg_hpc.graphs.graph import Graph, Labels
from ogg_hpc.graphs.members import is_family, is_store, split_index
from ogg_hpc.graphs.readers import read_graph
from ogg_hpc.graphs.row_block import scatter_rows
from ogg_hpc.graphs.shards import GraphStore
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.on_root import OnRoot
from ogg_hpc.runtime.resources import usable_memory_bytes
from ogg_hpc.runtime.shared_memory import free_shared_bytes
from ogg_hpc.training.rows import StoredRows

# A copy of the graph on each node may take this part of its memory: vectors need the rest.
_SHARE = 0.25


@dataclass(frozen=True, eq=False)
class OpenedGraph:
    """A graph that walks can start on, and what is known of it.

    Attributes
    ----------
    graph : WalkGraph
    m : int
        Number of edges, arcs of a directed graph.
    labels : (n,) int64 or str, optional
        The user's names of the nodes, on rank 0 alone; None means 0, 1, …, n - 1.
    self_loops, duplicates : int
        Entries that were dropped as self loops, and merged as repeated edges.
    warnings : tuple of str
        What the user should know.
    """

    graph: WalkGraph
    m: int
    labels: Labels | None
    self_loops: int
    duplicates: int
    warnings: tuple[str, ...] = ()


def open_walk_graph(comm: Communicator, source: str, settings: EmbedSettings) -> OpenedGraph:
    """Open a graph for walks (collective).

    A graph that ranks share by rows is read so from a store, by each rank its own part. Others are
    read, or generated, by rank 0.

    Parameters
    ----------
    comm
        The ranks.
    source
        A graph file, a store of graphs or ``STORE:INDEX``, or the text of a generator family.
    settings
        ``format``, ``directed``, ``undirected``, ``weighted`` and ``graph_memory`` count.

    Raises
    ------
    OggError
        A graph that cannot be read, weights that are not positive, or too little memory.
    """
    stored = comm.on_root(lambda: _size_in_store(source, settings))
    if stored is not None and _is_by_rows(comm, settings, stored):
        return _open_store(comm, source, settings)
    whole = OnRoot(comm, lambda: _read(source, settings))
    return place_graph(comm, whole.value, settings)


def place_graph(comm: Communicator, graph: Graph | None, settings: EmbedSettings) -> OpenedGraph:
    """Make a graph that rank 0 holds one that all can walk on (collective).

    Parameters
    ----------
    comm
        The ranks.
    graph
        The graph on rank 0; ignored elsewhere.
    settings
        ``weighted`` and ``graph_memory`` count.

    Raises
    ------
    OggError
        Weights that are not positive, or too little memory.
    """
    if graph is not None and not settings.weighted:
        graph = graph.unweighted()
    known: tuple[Any, ...] = ()
    if graph is not None:
        size = _Size(graph.n, len(graph.columns), graph.weights is not None)
        dropped = graph.self_loops, graph.duplicates, graph.warnings
        known = graph.directed, graph.m, size, dropped
    directed, m, size, dropped = comm.broadcast_object(known)
    placed: WalkGraph
    if _is_by_rows(comm, settings, size):
        block = scatter_rows(comm, graph, "edges")
        refuse_weights(comm, block, lambda ids: graph.labels_of(ids) if graph else ids)
        placed = RowBlockGraph(comm, block, directed)
    else:
        placed = SharedGraph(comm, graph)
    return OpenedGraph(placed, m, None if graph is None else graph.labels, *dropped)


def _read(source: str, settings: EmbedSettings) -> Graph:
    if not is_family(source):
        return read_graph(
            source,
            format=settings.format or None,
            directed=settings.directed,
            undirected=settings.undirected,
        )
    family = parse_family(source)
    if family.count != 1:
        raise SettingsError(f"{source}: one graph is embedded, and these are {family.count}")
    return family.graph(0)


class _Size(NamedTuple):
    """What decides where a graph is kept."""

    n: int
    entries: int
    weighted: bool

    @property
    def shared_bytes(self) -> int:
        """What a copy of the graph takes on a node, about."""
        entry = (4 if self.n < 2**31 else 8) + (8 if self.weighted else 0)
        return 32 * self.n + entry * self.entries


def _is_by_rows(comm: Communicator, settings: EmbedSettings, size: _Size) -> bool:
    """Return whether ranks share a graph by rows, the same on all of them (collective)."""
    if settings.graph_memory != "auto":
        return settings.graph_memory == "rows"
    if comm.size == 1:
        return False
    needed, room = size.shared_bytes, free_shared_bytes()
    too_large = needed > _SHARE * usable_memory_bytes() or (room is not None and needed > room)
    return bool(comm.agree(np.array([too_large], np.int64))[0])


def _size_in_store(source: str, settings: EmbedSettings) -> _Size | None:
    """Return the size of a graph in a store of which any rows can be read, else None."""
    path, index = split_index(source)
    if is_family(source) or settings.format not in ("", "hdf5") or not is_store(path):
        return None
    with GraphStore(path) as store:
        as_it_is = not (settings.undirected if store.directed else settings.directed)
        one = index or 0
        if not as_it_is or one >= len(store) or (index is None and len(store) > 1):
            return None  # made undirected, or complained about, by what reads it whole
        weighted = store.weighted and settings.weighted
        return _Size(int(store.nodes[one]), int(store.nnz[one]), weighted)


def _open_store(comm: Communicator, source: str, settings: EmbedSettings) -> OpenedGraph:
    path, index = split_index(source)
    with comm.on_all(lambda: GraphStore(path)) as store:
        index = index or 0
        block = comm.on_all(lambda: StoredRows(comm, store, "edges").read(index))
        if not settings.weighted:
            block = replace(block, weights=None)
        labels = OnRoot(comm, lambda: store.labels(index)).value
        refuse_weights(comm, block, lambda ids: ids if labels is None else labels[ids].tolist())
        graph = RowBlockGraph(comm, block, store.directed)
        m = block.entries if store.directed else block.entries // 2
        dropped = comm.on_root(lambda: store.dropped(index))
    return OpenedGraph(graph, m, labels, dropped.self_loops, dropped.duplicates)
