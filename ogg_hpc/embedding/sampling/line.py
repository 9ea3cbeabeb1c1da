"""LINE (Tang et al., WWW 2015): edges in proportion to their weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.embedding.alias import alias_table
from ogg_hpc.embedding.sampling.pairs import Pairs
from ogg_hpc.embedding.sampling.sampler import Sampler
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.embedding.walk_graph import WalkGraph
from ogg_hpc.runtime.random import stream

# Where the settings leave it to the graph.
_SAMPLES_PER_NODE = 3000


class LINE(Sampler):
    """The ends of edges, an undirected edge in either direction; an item is an edge.

    See `Sampler`. Both orders of proximity take the same pairs: of the first, both ends have
    vectors of one kind. An edge is drawn as a node, by the sum of the weights of its edges, and
    one of its neighbours.
    """

    def __init__(self, graph: WalkGraph, settings: EmbedSettings) -> None:
        super().__init__(graph, settings)
        self.items = settings.samples or _SAMPLES_PER_NODE * int(np.count_nonzero(graph.degrees))
        self.pairs_per_item = 1.0
        self._nodes = alias_table(graph.strengths)

    def sample(self, epoch: int, items: NDArray[np.int64]) -> Pairs:
        """See `Sampler.sample`."""
        sources = self._nodes.draw(self.keys(epoch, items, stream("source")))
        one = np.ones(len(items), np.int64)
        contexts = self.graph.ends(sources, self.keys(epoch, items), one)
        return Pairs(sources.astype(contexts.dtype), contexts, one)
