"""Nodes that pairs are weighed against."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.embedding.alias import alias_table, draw_alias
from ogg_hpc.runtime.random import hash64, stream
from ogg_hpc.runtime.random_compiled import absorb, stream_state


class NegativeSampler:
    """Draws negatives in proportion to a power of the nodes' weights.

    A draw is keyed by what it is for, never by who asks. One that happens to be a pair's own
    context is kept, as the theory of the objective has it (Levy and Goldberg, NeurIPS 2014).

    Parameters
    ----------
    weights : (n,) float
        Such as degrees; nodes of weight 0 are not drawn.
    power
        0.75 in word2vec.
    seed
        Of the run.

    Raises
    ------
    SettingsError
        A weight that is negative or not finite, or none that is positive.
    """

    def __init__(self, weights: NDArray[Any], power: float, seed: int) -> None:
        weights = np.asarray(weights, np.float64)
        # 0 to the power 0 would be 1.
        self._table = alias_table(np.where(weights == 0, 0, weights**power))
        self._seed = seed
        self._id_type = np.int32 if len(weights) < 2**31 else np.int64

    def probabilities(self) -> NDArray[np.float64]:
        """Return the (n,) probabilities of the nodes, as far as float32 tells them."""
        thresholds, aliases = self._table
        n = len(thresholds)
        return (thresholds + np.bincount(aliases, 1.0 - thresholds, minlength=n)) / n

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
        drawn = np.empty((len(items), negative), self._id_type)
        state = np.uint64(absorb(stream_state(self._seed, "negatives of pairs"), epoch))
        _draw(*self._table, state, items, places, drawn)
        return drawn

    def of_batch(self, epoch: int, batch: int, shared: int) -> NDArray[Any]:
        """Return (S,) negatives that all pairs of a batch share."""
        bits = hash64(self._seed, stream("negatives of batches"), epoch, batch, np.arange(shared))
        return self._table.draw(bits).astype(self._id_type)


@njit(cache=True, nogil=True)
def _draw(thresholds: Any, aliases: Any, state: Any, items: Any, places: Any, drawn: Any) -> None:
    for p in range(drawn.shape[0]):
        of_pair = absorb(absorb(state, items[p]), places[p])
        for i in range(drawn.shape[1]):
            of_draw = absorb(of_pair, i)
            drawn[p, i] = draw_alias(thresholds, aliases, 0, len(thresholds), of_draw)
