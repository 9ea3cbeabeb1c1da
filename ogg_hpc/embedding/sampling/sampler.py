"""What draws pairs of nodes from a graph: the base of all samplers, and of a user's own."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.embedding.sampling.pairs import Pairs
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.embedding.walk_graph import WalkGraph
from ogg_hpc.runtime.random import hash64, stream


class Sampler(ABC):
    """Draws pairs, item by item.

    An *item* is what has a random stream of its own: a walk or an edge. The items of an epoch are
    numbered from 0, and ranks share them. What an item yields is a function of the seed, the epoch
    and its number alone, never of the rank that asks or of the items it asks for together.

    Parameters
    ----------
    graph
        The graph.
    settings
        How it is sampled.

    Attributes
    ----------
    items : int
        Items of an epoch.
    pairs_per_item : float
        About how many pairs an item yields, from which the size of batches is chosen.
    options : dict of str to str
        What ``--option KEY=VALUE`` gives to a user's own sampler.
    """

    items: int
    pairs_per_item: float

    def __init__(self, graph: WalkGraph, settings: EmbedSettings) -> None:
        self.graph = graph
        self.settings = settings
        self.options = dict(text.split("=", 1) for text in settings.option)

    @abstractmethod
    def sample(self, epoch: int, items: NDArray[np.int64]) -> Pairs:
        """Draw the pairs of some items (collective where ranks share the graph by rows).

        Parameters
        ----------
        epoch
            From 0.
        items
            (k,) numbers of items, perhaps none.
        """

    def negative_weights(self) -> NDArray[np.float64]:
        """Return the (n,) weights that negatives are drawn by, before their power is taken.

        Those are degrees, of weights where there are any; of directed graphs, in and out together.
        """
        if self.graph.directed:
            return self.graph.strengths + self.graph.in_strengths
        return self.graph.strengths

    def keys(self, epoch: int, items: NDArray[np.int64], *coordinates: int) -> NDArray[np.uint64]:
        """Return (k,) keys of the random streams of items, which are random bits themselves.

        Parameters
        ----------
        epoch, items
            As for `sample`.
        *coordinates
            Further integers, for other random bits of the same items; best those of
            `runtime.random.stream`, for walks take small ones as numbers of their steps.
        """
        return hash64(self.settings.seed, stream("embedding items"), epoch, items, *coordinates)
