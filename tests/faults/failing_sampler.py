"""A sampler of a user's own with a mistake that shows on one rank, after a while."""

import numpy as np

from ogg_hpc.embedding.sampling.pairs import Pairs
from ogg_hpc.embedding.sampling.sampler import Sampler


class Failing(Sampler):
    """Pairs each node with itself, until the last node's turn comes."""

    pairs_per_item = 1.0

    @property
    def items(self):
        return self.graph.n

    def sample(self, epoch, items):
        if epoch == 2 and self.graph.n - 1 in items:
            raise ZeroDivisionError("a mistake")
        return Pairs(items, items, np.ones(len(items), np.int64))
