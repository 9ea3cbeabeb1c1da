"""The edges of stored pieces in ids, as a store is built from them."""

from __future__ import annotations

import numpy as np

from ogg_hpc.graphs.building.edges import Edges
from ogg_hpc.graphs.conversion.dictionary import Dictionary
from ogg_hpc.graphs.conversion.stored_pieces import StoredPieces


class PieceBlocks:
    """A block of edges for each piece; see `EdgeBlocks`.

    Parameters
    ----------
    stored
        The pieces.
    count
        How many there are.
    dictionary
        Numbers of their labels; None where their edges are in ids.
    weighted
        Whether edges have weights.
    """

    def __init__(
        self, stored: StoredPieces, count: int, dictionary: Dictionary | None, weighted: bool
    ) -> None:
        self.count = count
        self._stored, self._dictionary, self._weighted = stored, dictionary, weighted

    def read(self, block: int | None) -> Edges:
        """Return the edges of one block (collective)."""
        if self._dictionary is not None:
            ids = self._dictionary.ids_of(None if block is None else self._stored.labels(block))
            ids = ids.astype(np.int32 if self._dictionary.nodes < 2**31 else np.int64)
        if block is None:
            return Edges.none()
        sources, targets, weights, _ = self._stored.edges(block)
        if self._dictionary is not None:
            sources, targets = ids[sources], ids[targets]
        if self._weighted and weights is None:
            weights = np.ones(len(sources))
        return Edges(sources, targets, weights)
