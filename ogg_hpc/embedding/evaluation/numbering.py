"""Graphs and labels in the numbering of an embedding's rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.graph import Graph, Labels


class RowLabels:
    """The labels of the rows of an embedding.

    Parameters
    ----------
    labels
        (n,) integers or text.
    """

    def __init__(self, labels: Labels) -> None:
        self._labels: NDArray[Any] = labels
        self._order = np.argsort(self._labels, kind="stable")

    def __len__(self) -> int:
        return len(self._labels)

    def rows_of(self, labels: ArrayLike) -> NDArray[np.int64]:
        """Return the (k,) row of each label, -1 where there is none.

        Labels that are integers on one side alone are compared as text.
        """
        known, asked = self._labels, np.asarray(labels)
        order = self._order
        if (known.dtype.kind == "U") != (asked.dtype.kind == "U"):
            known, asked = known.astype(np.str_), asked.astype(np.str_)
            order = np.argsort(known, kind="stable")
        if not len(known):
            return np.full(len(asked), -1)
        places = np.minimum(np.searchsorted(known, asked, sorter=order), len(known) - 1)
        rows: NDArray[np.int64] = order[places]
        return np.where(known[rows] == asked, rows, -1)

    def renumber(self, graph: Graph, path: str | Path) -> Graph:
        """Return a graph with its nodes numbered as the rows; nodes it lacks have no edges.

        Parameters
        ----------
        graph
            The graph.
        path
            Its file, for messages.

        Raises
        ------
        InputError
            The graph has a node that the embedding has not.
        """
        names = np.arange(graph.n) if graph.labels is None else graph.labels
        rows = self.rows_of(names)
        missing = np.flatnonzero(rows < 0)
        if missing.size:
            raise InputError(
                path,
                f"node {graph.labels_of(missing[:1])[0]} has no vector, as {missing.size} of "
                f"{graph.n} nodes; give the graph that was embedded",
            )
        n = len(self)
        if n == graph.n and np.array_equal(rows, np.arange(n)):
            return graph
        u, v, weights = graph.edges()
        return Graph.from_edges(n, rows[u], rows[v], weights, directed=graph.directed)
