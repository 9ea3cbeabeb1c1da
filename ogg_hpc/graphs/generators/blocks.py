"""Random graphs as blocks of edges, each of which any rank can make."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.building.edges import Edges

BLOCK = 1 << 20
"""Edges of a block, about; where blocks are cut does not depend on the number of ranks."""

Pairs = tuple[NDArray[Any], NDArray[Any]]


class RandomEdges(ABC):
    """The edges of one random graph in numbered blocks; those of `EdgeBlocks`.

    The graph in memory is made of the same blocks, so that the two forms cannot differ.

    Attributes
    ----------
    n : int
        Number of nodes.
    held_bytes : int
        What a rank holds, beside the blocks, from the first one that it makes on.
    working_bytes : int
        Most that it holds at a time, while it makes the first one.
    """

    n: int

    @property
    @abstractmethod
    def count(self) -> int:
        """Number of blocks."""

    @abstractmethod
    def pairs(self, block: int) -> Pairs:
        """Return the sources and the targets of a block's edges."""

    @property
    def held_bytes(self) -> int:
        """See the class."""
        return 0

    @property
    def working_bytes(self) -> int:
        """See the class."""
        return self.held_bytes

    def read(self, block: int | None) -> Edges:
        """Return the edges of one block, or none; see `EdgeBlocks`."""
        return Edges.none() if block is None else Edges(*self.pairs(block))

    def all_pairs(self) -> Pairs:
        """Return the sources and the targets of all edges, both int32."""
        none = np.empty(0, np.int32)
        sources, targets = zip((none, none), *map(self.pairs, range(self.count)), strict=True)
        return np.concatenate(sources), np.concatenate(targets)
