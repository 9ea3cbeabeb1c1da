"""Nodes that pairs are weighed against."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.runtime.random import stream, uniform

_OF_PAIRS, _OF_BATCH = stream("negatives of pairs"), stream("negatives of batches")


class NegativeSampler:
    """Draws negatives in proportion to a power of the nodes' weights.

    A draw is keyed by what it is for, never by who asks. One that happens to be a pair's own
    context is kept, as the theory of the objective has it (Levy and Goldberg, NeurIPS 2014).

    Parameters
    ----------
    weights : (n,) float
        Such as degrees; not all 0.
    power
        0.75 in word2vec.
    seed
        Of the run.
    """

    def __init__(self, weights: NDArray[Any], power: float, seed: int) -> None:
        powers = np.where(weights > 0, np.asarray(weights, np.float64) ** power, 0.0)
        self._cumulative = np.cumsum(powers)
        self._cumulative /= self._cumulative[-1]
        self._seed = seed

    def of_pairs(
        self, epoch: int, items: NDArray[np.int64], places: NDArray[np.int64], negative: int
    ) -> NDArray[Any]:
        """Return (k, K) negatives, K of each pair.

        Parameters
        ----------
        epoch
            Counted from 0.
        items, places : (k,) int64
            The item that a pair is of, and its place among the item's pairs.
        negative
            K.
        """
        coordinates = (np.asarray(items)[:, None], np.asarray(places)[:, None])
        draws = uniform(self._seed, _OF_PAIRS, epoch, *coordinates, np.arange(negative))
        return self._nodes(draws)

    def of_batch(self, epoch: int, batch: int, shared: int) -> NDArray[Any]:
        """Return (S,) negatives that all pairs of a batch share."""
        return self._nodes(uniform(self._seed, _OF_BATCH, epoch, batch, np.arange(shared)))

    def _nodes(self, draws: NDArray[np.float64]) -> NDArray[Any]:
        return np.searchsorted(self._cumulative, draws, side="right").astype(np.int32)
