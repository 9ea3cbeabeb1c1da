"""A sampler of your own: pairs of nodes that have a neighbour in common.

Use: ogg-hpc embed GRAPH --method examples/neighbours_of_neighbours.py:NeighboursOfNeighbours
     [--option walks=100] --output EMB.h5
"""

import numpy as np

from ogg_hpc.embedding.sampling import Pairs, Sampler


class NeighboursOfNeighbours(Sampler):
    """Walks of two steps from each node; those that come back yield no pair."""

    def __init__(self, graph, settings):
        super().__init__(graph, settings)
        self.items = int(self.options.get("walks", 100)) * graph.n
        self.pairs_per_item = 1.0

    def sample(self, epoch, items):
        """Pair the first and the last node of each walk."""
        walks = self.graph.walks(items % self.graph.n, self.keys(epoch, items), steps=2)
        first, last = walks[:, 0], walks[:, 2]
        paired = (last >= 0) & (last != first)
        return Pairs(first[paired], last[paired], paired.astype(np.int64))
