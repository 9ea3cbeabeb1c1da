"""An embedding in memory, and how one is handed on in blocks that are never there together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Labels

MATRICES = ("vectors", "context")
# Rows are handed on in blocks of about this size.
BLOCK_BYTES = 1 << 24


@dataclass(frozen=True)
class EmbeddingHeader:
    """What is known of an embedding before its rows are.

    Attributes
    ----------
    nodes, dim : int
        Numbers of rows and of columns of each matrix.
    directed : bool
        Whether that of its graph is: then vectors stand for sources and context for targets.
    matrices : tuple of str
        Of `MATRICES`, those that there are.
    settings : mapping
        What it was trained with, by name; plain values.
    provenance : mapping
        Where it comes from: the graph, the version of the program, …; plain values.
    """

    nodes: int
    dim: int
    directed: bool = False
    matrices: tuple[str, ...] = MATRICES
    settings: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def block_rows(self) -> int:
        """Rows of a block of about `BLOCK_BYTES`."""
        return max(1, BLOCK_BYTES // (4 * max(1, self.dim)))


@dataclass(frozen=True, eq=False)
class Embedding:
    """The vectors of all nodes of a graph, in the order of its nodes.

    Attributes
    ----------
    vectors : (N, D) float32
        Vectors of nodes; of a directed graph, as sources.
    context : (N, D) float32, optional
        Vectors as context of others; of a directed graph, as targets. None where the file has none.
    labels : (N,) int64 or str
        The user's names of the nodes.
    settings, provenance : mapping
        As in `EmbeddingHeader`; empty where the file has none.
    directed : bool
        Whether the graph is.
    """

    vectors: NDArray[np.float32]
    context: NDArray[np.float32] | None
    labels: Labels
    settings: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    directed: bool = False


class EmbeddingWriter(ABC):
    """A file of an embedding under way.

    Attributes
    ----------
    matrices : tuple of str
        Those that the file takes, one after the other, each in the order of the nodes.
    block_rows : int
        How many rows are best handed over at a time.
    """

    def __init__(self, header: EmbeddingHeader, matrices: tuple[str, ...]) -> None:
        self.matrices = matrices
        self.block_rows = header.block_rows
        self._header = header
        self._written = dict.fromkeys(matrices, 0)

    def append(self, matrix: str, rows: NDArray[np.float32]) -> None:
        """Append the next (k, D) rows of a matrix."""
        first = self._written[matrix]
        self._written[matrix] += len(rows)
        assert self._written[matrix] <= self._header.nodes
        self._append(matrix, first, np.ascontiguousarray(rows, dtype=np.float32))

    def close(self) -> None:
        """Find out that all rows are there."""
        assert all(count == self._header.nodes for count in self._written.values()), self._written

    @abstractmethod
    def _append(self, matrix: str, first: int, rows: NDArray[np.float32]) -> None:
        """Write rows first … first + k - 1 of a matrix."""


def node_labels(labels: Labels | None, nodes: int) -> Labels:
    """Return the labels of all nodes: 0, 1, … where a graph has none."""
    return np.arange(nodes, dtype=np.int64) if labels is None else labels
