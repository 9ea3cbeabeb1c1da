"""Reading the graph of an optimisation problem."""

from __future__ import annotations

from pathlib import Path

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.readers import read_graph


def read_undirected(
    path: str | Path, file_format: str | None = None, undirected: bool = False
) -> Graph:
    """Read a graph and refuse a directed one, unless its arcs are to be taken as edges.

    Parameters
    ----------
    path
        A graph file; ``STORE:INDEX`` names one graph of a store.
    file_format
        Name of the format; found by content when None.
    undirected
        Take every arc of a directed graph as an edge.
    """
    graph = read_graph(path, format=file_format, undirected=undirected)
    if graph.directed:
        raise SettingsError(
            f"{path}: the graph is directed, the problem is not; "
            "--undirected takes every arc as an edge"
        )
    return graph
