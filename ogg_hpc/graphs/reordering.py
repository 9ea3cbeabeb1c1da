"""A graph renumbered for the ranks that are to share it by rows, and what they gain by it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.ordering import node_order
from ogg_hpc.graphs.partition_quality import PartitionQuality, partition_quality
from ogg_hpc.graphs.renumbering import renumbered
from ogg_hpc.graphs.row_block import partition_rows


@dataclass(frozen=True, eq=False)
class Reordering:
    """A renumbered graph.

    Attributes
    ----------
    graph : Graph
        The graph in its new order, with the labels of the one given.
    order : (n,) int64
        The old id of each node.
    before, after : PartitionQuality
        What ranks share by rows in the old order and in the new one.
    """

    graph: Graph
    order: NDArray[np.int64]
    before: PartitionQuality
    after: PartitionQuality


def reorder(graph: Graph, by: str, ranks: int, balance: str) -> Reordering:
    """Renumber a graph for a number of ranks.

    Parameters
    ----------
    graph
        Directed or undirected.
    by
        An order of `node_order`. Only ``metis`` depends on the ranks.
    ranks
        How many will share the graph.
    balance
        What they hold the same number of: ``rows`` or ``edges``.

    Raises
    ------
    SettingsError, MissingExtraError
        As `node_order` does.
    """
    order = node_order(graph, by, ranks, balance)
    new = renumbered(graph, order)
    before, after = (
        partition_quality(each, partition_rows(each.degrees, ranks, balance))
        for each in (graph, new)
    )
    return Reordering(new, order, before, after)
