"""Watts-Strogatz graphs."""

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
from ogg_hpc.graphs.generators.checks import check_nodes, check_probability
from ogg_hpc.graphs.generators.edge_set import ROOM, add, empty_set, has
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.runtime.random_compiled import absorb, stream_state, to_integer, to_uniform


def watts_strogatz(n: int, d: int, p: float, seed: int) -> Graph:
    """Return a ring of n nodes, each joined to its d nearest, with edges rewired at random.

    Each edge keeps its first end and, with probability p, gets a new second end, uniform among
    the nodes not yet adjacent [1]_. The graph has exactly nd/2 edges.

    Parameters
    ----------
    n
        Number of nodes.
    d
        Even degree of the ring lattice, 0 ≤ d < n (the paper's k).
    p
        Probability of rewiring, in [0, 1].
    seed
        Any integer.

    Raises
    ------
    SettingsError
        A parameter out of range.

    References
    ----------
    .. [1] D. J. Watts and S. H. Strogatz, "Collective dynamics of 'small-world' networks",
       Nature 393, 440-442, 1998.
    """
    return undirected(n, *WattsStrogatzEdges(n, d, p, seed).all_pairs())


@dataclass(frozen=True, eq=False)
class WattsStrogatzEdges(RandomEdges):
    """The edges of `watts_strogatz` in blocks, in the order in which they are rewired.

    Each choice depends on all before: who makes a block replays them. While it does, it holds
    about 18 bytes for each rewired edge and 1 for each other, thereafter 4 for each rewired one.
    Parameters are those of `watts_strogatz`, and the number of edges of a block.
    """

    n: int
    d: int
    p: float
    seed: int
    block_size: int = BLOCK

    def __post_init__(self) -> None:
        check_nodes(self.n)
        check_probability(self.p)
        if self.d % 2 or not 0 <= self.d < max(self.n, 1):
            raise SettingsError(
                "a Watts-Strogatz graph needs an even d with 0 <= d < n, "
                f"not d = {self.d} and n = {self.n}"
            )

    @property
    def edges(self) -> int:
        """Number of edges."""
        return self.n * self.d // 2

    @property
    def count(self) -> int:
        """Number of blocks."""
        return -(-self.edges // self.block_size)

    @property
    def held_bytes(self) -> int:
        """Bytes of the targets of rewired edges, about."""
        return int(4 * self.p * self.edges)

    @property
    def working_bytes(self) -> int:
        """Bytes of these, of a set of the edges that there are, and of the degrees, about."""
        table = int(8 * ROOM * self.p * self.edges)
        return self.held_bytes + table + self.edges + 4 * self.n

    def pairs(self, block: int) -> Pairs:
        """Return the ends of a block's edges."""
        first, targets = self._rewired
        lo, hi = self._range(block)
        return _block(self.n, self._p, self._state, lo, hi, targets[first[block] :])  # type: ignore[no-any-return]

    def _range(self, block: int) -> tuple[int, int]:
        lo = block * self.block_size
        return lo, min(lo + self.block_size, self.edges)

    @cached_property
    def _rewired(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return where each block's rewired edges begin, and the target of each."""
        ranges = map(self._range, range(self.count))
        counts = [_count_rewired(self._p, self._state, lo, hi) for lo, hi in ranges]
        first = np.cumsum([0, *counts])
        return first, _replay(self.n, self.d, self._p, self._state, first[-1])

    @property
    def _p(self) -> float:
        return float(self.p)

    @property
    def _state(self) -> np.uint64:
        return stream_state(self.seed, "watts-strogatz")


@numba.njit(cache=True)
def _is_rewired(p: Any, state: Any, e: Any) -> Any:
    return to_uniform(absorb(absorb(state, e), 0)) < p


@numba.njit(cache=True)
def _count_rewired(p: Any, state: Any, lo: Any, hi: Any) -> Any:
    count = 0
    for e in range(lo, hi):
        count += _is_rewired(p, state, e)
    return count


@numba.njit(cache=True)
def _ring_edge(n: Any, e: Any) -> Any:
    """Return the ends of an edge of the lattice; edges are numbered by their lengths first."""
    source = e % n
    return source, (source + e // n + 1) % n


@numba.njit(cache=True)
def _is_ring_edge(n: Any, d: Any, gone: Any, a: Any, b: Any) -> Any:
    """Return whether {a, b} is an edge of the lattice that has not been rewired."""
    length = (b - a) % n
    if 2 * length > n:
        a, length = b, n - length
    return 2 * length <= d and not gone[(length - 1) * n + a]


@numba.njit(cache=True)
def _replay(n: Any, d: Any, p: Any, state: Any, rewired: Any) -> Any:
    """Return the new targets of the rewired edges."""
    targets = np.empty(rewired, np.int32)
    filled = 0
    added = empty_set(rewired)
    gone = np.zeros(n * d // 2, np.bool_)
    degrees = np.full(n, d, np.int32)
    for e in range(n * d // 2):
        if not _is_rewired(p, state, e):
            continue
        source, target = _ring_edge(n, e)
        # An end that is adjacent to all others keeps its edge.
        if degrees[source] < n - 1:
            degrees[target] -= 1
            edge = absorb(state, e)
            draw = 1
            while True:
                target = to_integer(absorb(edge, draw), n)
                draw += 1
                if (
                    target != source
                    and not _is_ring_edge(n, d, gone, source, target)
                    and not has(added, n, source, target)
                ):
                    break
            gone[e] = True
            add(added, n, source, target)
            degrees[target] += 1
        targets[filled] = target
        filled += 1
    return targets


@numba.njit(cache=True)
def _block(n: Any, p: Any, state: Any, lo: Any, hi: Any, targets: Any) -> Any:
    """Return the ends of edges lo … hi - 1, of which the rewired ones get these targets."""
    u = np.empty(hi - lo, np.int32)
    v = np.empty(hi - lo, np.int32)
    taken = 0
    for e in range(lo, hi):
        u[e - lo], v[e - lo] = _ring_edge(n, e)
        if _is_rewired(p, state, e):
            v[e - lo] = targets[taken]
            taken += 1
    return u, v
