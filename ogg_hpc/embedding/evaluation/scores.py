"""Scores of pairs of nodes: the products of vectors that tell how likely an edge is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ogg_hpc.graphs.graph import Graph

BASELINE = "preferential-attachment"
_BLOCK = 1 << 16  # pairs whose rows are gathered at once


@dataclass(frozen=True, eq=False)
class Score:
    """A score of pairs (u, v): the product of row u of one matrix and row v of another.

    Products are summed in float64 and rounded to float32, so that pairs with the same vectors have
    the same score wherever it is computed.

    Attributes
    ----------
    name : str
    left, right : (n, D) arrays
        Rows of sources and of targets.
    unit : bool
        Whether rows are taken at length 1.
    """

    name: str
    left: NDArray[Any]
    right: NDArray[Any]
    unit: bool = False

    def sources(self, nodes: ArrayLike) -> NDArray[np.float64]:
        """Return the (k, D) rows of sources."""
        return self._rows(self.left, nodes)

    def targets(self, nodes: ArrayLike) -> NDArray[np.float64]:
        """Return the (k, D) rows of targets."""
        return self._rows(self.right, nodes)

    def of_pairs(self, sources: ArrayLike, targets: ArrayLike) -> NDArray[np.float32]:
        """Return the (k,) scores of pairs."""
        u, v = np.asarray(sources), np.asarray(targets)
        scores = np.empty(len(u), np.float32)
        for start in range(0, len(u), _BLOCK):
            part = slice(start, start + _BLOCK)
            scores[part] = np.einsum("ij,ij->i", self.sources(u[part]), self.targets(v[part]))
        return scores

    def reversed(self) -> Score:
        """Return the score of (v, u) as one of (u, v)."""
        return replace(self, left=self.right, right=self.left)

    def _rows(self, matrix: NDArray[Any], nodes: ArrayLike) -> NDArray[np.float64]:
        rows: NDArray[np.float64] = matrix[np.asarray(nodes)].astype(np.float64)
        if self.unit:
            lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, np.newaxis]
            np.divide(rows, lengths, out=rows, where=lengths > 0)
        return rows


def scores_of(vectors: NDArray[Any], context: NDArray[Any] | None, graph: Graph) -> list[Score]:
    """Return the scores that an embedding offers, and the baseline that knows degrees alone.

    Parameters
    ----------
    vectors, context
        (n, D) vectors of sources and of targets; None where there are no latter ones.
    graph
        The graph that was trained on; nodes are numbered as the rows.

    Returns
    -------
    list of Score
        ``dot`` X·X, ``cosine``, ``source-target`` X·Y, and preferential attachment: the
        out-degree of u times the in-degree of v.
    """
    scores = [Score("dot", vectors, vectors), Score("cosine", vectors, vectors, unit=True)]
    if context is not None:
        scores.append(Score("source-target", vectors, context))
    out_degrees = graph.degrees.astype(np.float64)[:, np.newaxis]
    in_degrees = np.bincount(graph.columns, minlength=graph.n).astype(np.float64)[:, np.newaxis]
    return [*scores, Score(BASELINE, out_degrees, in_degrees)]
