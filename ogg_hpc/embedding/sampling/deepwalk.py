"""Nodes that random walks visit near each other.

Walks go by the weights of edges alone (DeepWalk: Perozzi, Al-Rfou and Skiena, KDD 2014), or by the
node before as well (node2vec: Grover and Leskovec, KDD 2016).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.embedding.sampling.pairs import Pairs
from ogg_hpc.embedding.sampling.sampler import Sampler
from ogg_hpc.embedding.sampling.starts import starts
from ogg_hpc.embedding.sampling.window_pairs import expected_pairs, window_pairs
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.embedding.walk_graph import WalkGraph
from ogg_hpc.errors import SettingsError

# From each node, where the settings leave it open.
_WALKS = 10
_MOST_ATTEMPTS = 1000
# Walks on a directed graph that tell how soon they come to a dead end.
_TRIED = 1000


class DeepWalk(Sampler):
    """Walks that start at each node; an item is a walk. See `Sampler`.

    Creation is collective where ranks share the graph by rows.
    """

    def __init__(self, graph: WalkGraph, settings: EmbedSettings) -> None:
        super().__init__(graph, settings)
        if settings.walk_length < 2:
            raise SettingsError("walk_length must be at least 2: a walk of one node has no pairs")
        self._p, self._q = self._biases(settings)
        self._reduced = settings.window_rule == "reduced"
        self.items = (settings.walks or _WALKS) * graph.n
        self.pairs_per_item = self._pairs_of_a_walk()

    def _biases(self, settings: EmbedSettings) -> tuple[float, float]:
        return 1.0, 1.0

    def _pairs_of_a_walk(self) -> float:
        settings = self.settings
        moving = np.count_nonzero(self.graph.degrees) / max(self.graph.n, 1)
        if self.graph.directed and moving:
            tried = np.arange(min(self.items, _TRIED))
            # A walk that moves has two pairs at least.
            return max(2 * moving, len(self.sample(0, tried)) / len(tried))
        return moving * expected_pairs(settings.walk_length, settings.window, self._reduced)

    def sample(self, epoch: int, items: NDArray[np.int64]) -> Pairs:
        """See `Sampler.sample`."""
        walks, keys = self.walks(epoch, items), self.keys(epoch, items)
        return window_pairs(walks, keys, self.settings.window, self._reduced)

    def walks(self, epoch: int, items: NDArray[np.int64]) -> NDArray[Any]:
        """Return the (k, walk_length) nodes of walks, -1 after the end; collective as `sample`."""
        nodes = starts(self.graph.n, self.settings.seed, epoch, items)
        steps = self.settings.walk_length - 1
        return self.graph.walks(nodes, self.keys(epoch, items), steps, p=self._p, q=self._q)


class Node2Vec(DeepWalk):
    """DeepWalk whose walks prefer to stay near or to leave, by `p` and `q`. See `Sampler`."""

    def _biases(self, settings: EmbedSettings) -> tuple[float, float]:
        p, q = settings.p, settings.q
        # Each step takes as many attempts as this, if all its neighbours weigh least.
        biases = (1.0, 1 / p, 1 / q)
        if max(biases) / min(biases) > _MOST_ATTEMPTS:
            raise SettingsError(
                f"p {p:g} and q {q:g}: 1, 1/p and 1/q must be within a factor of "
                f"{_MOST_ATTEMPTS:,}; choose milder ones"
            )
        return p, q
