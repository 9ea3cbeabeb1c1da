"""Barabási-Albert graphs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.generators.adjacency import undirected
from ogg_hpc.graphs.generators.blocks import BLOCK, Pairs, RandomEdges
from ogg_hpc.graphs.generators.checks import check_nodes
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.runtime.random_compiled import absorb, stream_state, to_integer


def barabasi_albert(n: int, d: int, seed: int) -> Graph:
    """Return a graph of n nodes where each new node attaches to d distinct earlier ones.

    A node is chosen in proportion to its degree. The start is a star of d + 1 nodes, so the
    graph is connected and has exactly d(n - d) edges, as NetworkX has it [1]_.

    Parameters
    ----------
    n
        Number of nodes.
    d
        Edges of each new node, 1 ≤ d < n.
    seed
        Any integer.

    Raises
    ------
    SettingsError
        A parameter out of range.

    References
    ----------
    .. [1] A.-L. Barabási and R. Albert, "Emergence of scaling in random networks",
       Science 286, 509-512, 1999.
    """
    return undirected(n, *BarabasiAlbertEdges(n, d, seed).all_pairs())


@dataclass(frozen=True, eq=False)
class BarabasiAlbertEdges(RandomEdges):
    """The edges of `barabasi_albert` in blocks, in order of creation.

    Each choice depends on all before: who makes a block replays them and holds 4 bytes an edge.
    Parameters are those of `barabasi_albert`, and the number of edges of a block.
    """

    n: int
    d: int
    seed: int
    block_size: int = BLOCK

    def __post_init__(self) -> None:
        check_nodes(self.n)
        if not 1 <= self.d < self.n:
            raise SettingsError(
                f"a Barabási-Albert graph needs 1 <= d < n, not d = {self.d} and n = {self.n}"
            )

    @property
    def edges(self) -> int:
        """Number of edges."""
        return self.d * (self.n - self.d)

    @property
    def count(self) -> int:
        """Number of blocks."""
        return -(-self.edges // self.block_size)

    @property
    def held_bytes(self) -> int:
        """Bytes of the targets."""
        return 4 * self.edges

    @property
    def working_bytes(self) -> int:
        """Bytes of the targets and of who has chosen each node last."""
        return self.held_bytes + 4 * self.n

    def pairs(self, block: int) -> Pairs:
        """Return the new nodes of a block's edges and the earlier ones that they are joined to."""
        lo = block * self.block_size
        hi = min(lo + self.block_size, self.edges)
        return _sources(lo, hi, self.d), self._targets[lo:hi]

    @cached_property
    def _targets(self) -> NDArray[np.int32]:
        targets: NDArray[np.int32] = _replay(
            self.n, self.d, stream_state(self.seed, "barabasi-albert")
        )
        return targets


@numba.njit(cache=True)
def _replay(n: Any, d: Any, state: Any) -> Any:
    """Return the target of each edge in order of creation.

    A uniform choice among the ends so far is a choice in proportion to degree.
    """
    targets = np.empty(d * (n - d), np.int32)
    targets[:d] = 0
    filled = d
    chosen_by = np.full(n, -1, np.int32)
    for v in range(d + 1, n):
        node = absorb(state, v)
        existing = filled
        attempt = 0
        while filled < existing + d:
            end = to_integer(absorb(node, attempt), 2 * existing)
            attempt += 1
            edge = end >> 1
            target = targets[edge] if end & 1 else _source(edge, d)
            if chosen_by[target] != v:
                chosen_by[target] = v
                targets[filled] = target
                filled += 1
    return targets


@numba.njit(cache=True)
def _sources(lo: Any, hi: Any, d: Any) -> Any:
    sources = np.empty(hi - lo, np.int32)
    for edge in range(lo, hi):
        sources[edge - lo] = _source(edge, d)
    return sources


@numba.njit(cache=True)
def _source(edge: Any, d: Any) -> Any:
    """Return the node that an edge is created with: a leaf of the star, or one of d each."""
    return edge + 1 if edge < d else edge // d + d
