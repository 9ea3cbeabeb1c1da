"""APP (Zhou et al., AAAI 2017): the start and the end of walks that may stop after any step.

Ends are distributed as a rooted PageRank says: from node u, node v is reached with probability
``sum over k >= 1 of a (1 - a)^(k - 1) P^k [u, v]``, where a is the rate of stopping and P the
matrix of the steps. A walk takes one step at least, for a pair of a node with itself says nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.embedding.sampling.pairs import Pairs
from ogg_hpc.embedding.sampling.sampler import Sampler
from ogg_hpc.embedding.sampling.starts import starts
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.embedding.walk_graph import WalkGraph
from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.random import stream

# From each node, where the settings leave it open.
_WALKS = 400
_LEAST_STOP_RATE = 0.001


class APP(Sampler):
    """Walks that start at each node, whose ends are the contexts; an item is a walk.

    See `Sampler`. Directions of edges are kept: of a pair, the context can be reached from the
    source.
    """

    def __init__(self, graph: WalkGraph, settings: EmbedSettings) -> None:
        super().__init__(graph, settings)
        if settings.stop_rate < _LEAST_STOP_RATE:
            raise SettingsError(
                f"stop_rate {settings.stop_rate:g}: walks would take {1 / settings.stop_rate:g} "
                f"steps; use at least {_LEAST_STOP_RATE:g}"
            )
        self.items = (settings.walks or _WALKS) * graph.n
        self.pairs_per_item = np.count_nonzero(graph.degrees) / max(graph.n, 1)

    def sample(self, epoch: int, items: NDArray[np.int64]) -> Pairs:
        """See `Sampler.sample`."""
        nodes = starts(self.graph.n, self.settings.seed, epoch, items)
        ends = self.graph.ends(nodes, self.keys(epoch, items), self._steps(epoch, items))
        moved = self.graph.degrees[nodes] > 0
        sources = nodes[moved].astype(ends.dtype)
        return Pairs(sources, ends[moved], moved.astype(np.int64))

    def _steps(self, epoch: int, items: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the (k,) numbers of steps of walks, which have a geometric distribution."""
        bits = self.keys(epoch, items, stream("steps")) >> np.uint64(11)
        uniform = (bits.astype(np.float64) + 1) * 2.0**-53  # in (0, 1]
        with np.errstate(divide="ignore"):
            more = np.log(uniform) / np.log1p(-self.settings.stop_rate)
        return np.asarray(1 + more, np.int64)
