"""Opening the graph that is embedded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ogg_hpc.embedding.alias import AliasTables, alias_rows
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.embedding.shared_graph import SharedGraph
from ogg_hpc.embedding.walk_graph import WalkGraph
from ogg_hpc.embedding.walk_rows import WalkRows
from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.graph import Graph, Labels
from ogg_hpc.graphs.readers import read_graph
from ogg_hpc.runtime.communicator import Communicator


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
        Entries dropped as self loops, and merged as repeated edges.
    warnings : tuple of str
        What the user should know.
    """

    graph: WalkGraph
    m: int
    labels: Labels | None
    self_loops: int
    duplicates: int
    warnings: tuple[str, ...]


def open_walk_graph(comm: Communicator, source: str, settings: EmbedSettings) -> OpenedGraph:
    """Open a graph for walks (collective).

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
        A graph that cannot be read, weights that cannot be drawn by, or too little memory.
    """
    graph = comm.on_all(
        lambda: read_graph(
            source,
            format=settings.format or None,
            directed=settings.directed,
            undirected=settings.undirected,
        )
    )
    if not settings.weighted:
        graph = graph.unweighted()
    return OpenedGraph(
        comm.on_all(lambda: walk_graph(graph)),
        graph.m,
        graph.labels,
        graph.self_loops,
        graph.duplicates,
        graph.warnings,
    )


def walk_graph(graph: Graph) -> SharedGraph:
    """Return a whole graph as one that this rank can walk on alone.

    Raises
    ------
    SettingsError
        A weight that is not positive.
    """
    tables = AliasTables(np.empty(0, np.float32), np.empty(0, np.int32))
    strengths = graph.degrees.astype(np.float64)
    in_strengths = np.bincount(graph.columns, graph.weights, graph.n).astype(np.float64)
    if graph.weights is not None:
        if not graph.weights.min(initial=1) > 0:
            raise SettingsError("weights of edges must be positive")
        tables = alias_rows(graph.row_offsets, graph.weights)
        strengths = np.bincount(graph.rows, graph.weights, graph.n).astype(np.float64)
    rows = WalkRows(graph.row_offsets, graph.columns, *tables)
    return SharedGraph(
        rows,
        graph.directed,
        graph.degrees,
        strengths,
        in_strengths if graph.directed else strengths,
    )
