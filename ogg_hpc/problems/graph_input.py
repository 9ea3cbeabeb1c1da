"""Reading the graph of an optimisation problem."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.readers import read_graph
from ogg_hpc.graphs.readers.node_weights import read_node_weights
from ogg_hpc.problems.problem import Problem


def read_undirected(
    path: str | Path,
    file_format: str | None = None,
    undirected: bool = False,
    node_weights: str | Path | None = None,
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
    node_weights
        A file of weights of the nodes; see `read_node_weights`.
    """
    graph = read_graph(path, format=file_format, undirected=undirected)
    if graph.directed:
        raise SettingsError(
            f"{path}: the graph is directed, the problem is not; "
            "--undirected takes every arc as an edge"
        )
    return graph if node_weights is None else read_node_weights(node_weights, graph)


def without_unused_weights(graph: Graph, problem: Problem) -> Graph:
    """Return the graph without weights that do not belong to a problem.

    Weights of nodes that are dropped so are a warning of the graph: the weighted problem may be
    meant.

    Raises
    ------
    SettingsError
        Weights that do belong to it and could not be read, or of which a sum may be infinite.
    """
    if problem.uses_node_weights and graph.unread_node_weights:
        raise SettingsError(
            f"{graph.unread_node_weights}; {problem.name} takes one positive weight of each node, "
            "which --node-weights gives in a file of their own"
        )
    if not problem.uses_weights:
        graph = graph.unweighted()
    if graph.node_weights is not None and not problem.uses_node_weights:
        unused = f"{problem.name} does not use the weights of the nodes"
        graph = replace(graph.with_node_weights(None), warnings=(*graph.warnings, unused))
    for what, weights in (("edges", graph.weights), ("nodes", graph.node_weights)):
        with np.errstate(over="ignore"):
            if weights is not None and not np.isfinite(np.abs(weights).sum()):
                raise SettingsError(
                    f"the weights of the {what} are so large that their sum is no float64; "
                    "divide all of them by the same number"
                )
    return graph
