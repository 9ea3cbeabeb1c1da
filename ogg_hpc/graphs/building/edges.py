"""Edges in ids, as those who read or generate a graph hand them over."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError


class Edges(NamedTuple):
    """Some edges of a graph; self loops and repetitions are among them.

    Attributes
    ----------
    sources, targets : (e,) integers
        Ids of the end points, 0 … n - 1.
    weights : (e,) float64, optional
        Finite numbers.
    """

    sources: NDArray[Any]
    targets: NDArray[Any]
    weights: NDArray[np.float64] | None = None

    @staticmethod
    def none() -> Edges:
        """Return no edges: what a rank reads when it has no block left."""
        empty = np.empty(0, np.int64)
        return Edges(empty, empty)


class EdgeBlocks(Protocol):
    """The edges of a graph in numbered blocks, of about a million edges each.

    Attributes
    ----------
    count : int
        Number of blocks; neither it nor their content depends on the number of ranks.
    """

    @property
    def count(self) -> int:
        """Number of blocks."""

    def read(self, block: int | None) -> Edges:
        """Return the edges of one block (collective).

        In each round every rank calls it with a block of its own, in rising order, or with None
        when it has none left, for which it gets `Edges.none()`. Blocks whose work was done
        before an interruption are left out.

        Raises
        ------
        OggError
            On all ranks alike.
        """


class ConflictingEdgesError(SettingsError):
    """One edge that is given with different weights.

    Raised on every rank. Who knows labels and lines finds the edge by its ids.

    Attributes
    ----------
    source, target : int
        Ids of its end points; the lower first in an undirected graph.
    weights : tuple of float
        The least and the largest of its weights.
    """

    def __init__(self, source: int, target: int, weights: tuple[float, float]) -> None:
        super().__init__(source, target, weights)
        self.source, self.target, self.weights = source, target, weights

    def __str__(self) -> str:
        return (
            f"edge ({self.source}, {self.target}) appears with two weights, "
            f"{self.weights[0]:g} and {self.weights[1]:g}; keep one of them"
        )
