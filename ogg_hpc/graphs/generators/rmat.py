"""R-MAT graphs: the recursive matrices of Graph500."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.generators.blocks import BLOCK, Pairs, RandomEdges
from ogg_hpc.graphs.generators.checks import check_nodes
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.runtime.random import hash64, stream
from ogg_hpc.runtime.random_compiled import absorb, stream_state

# Rounds of the scrambling of ids; each mixes high bits from low ones and low ones from high ones.
_ROUNDS = 4


def recursive_matrix(
    n: int, d: int, seed: int, a: float = 0.57, b: float = 0.19, c: float = 0.19
) -> Graph:
    """Return the graph of dn edges that each fall into the adjacency matrix by R-MAT [1]_.

    An edge chooses one of the four quadrants of the matrix, then one of the four of that, and so
    on, down to one entry. Ids are then scrambled by a permutation. Defaults are those of Graph500
    [2]_, with d = 16. Self loops are dropped and repeated edges merged, as from a list of edges,
    and the graph says how many of each: fewer edges are left, the fewer the smaller the graph.

    Parameters
    ----------
    n
        Number of nodes, a power of two.
    d
        Edges drawn for each node, at least 0.
    seed
        Any integer.
    a, b, c
        Probabilities of the quadrants: upper left, upper right and lower left.

    Raises
    ------
    SettingsError
        A parameter out of range.

    References
    ----------
    .. [1] D. Chakrabarti, Y. Zhan and C. Faloutsos, "R-MAT: A recursive model for graph mining",
       SIAM Data Mining, 442-446, 2004.
    .. [2] R. C. Murphy, K. B. Wheeler, B. W. Barrett and J. A. Ang, "Introducing the Graph 500",
       Cray Users Group, 2010.
    """
    return Graph.from_edges(n, *RecursiveMatrixEdges(n, d, seed, a, b, c).all_pairs())


@dataclass(frozen=True, eq=False)
class RecursiveMatrixEdges(RandomEdges):
    """The edges of `recursive_matrix` in blocks, which take no preparation.

    Parameters are those of `recursive_matrix`, and the number of edges of a block.
    """

    n: int
    d: int
    seed: int
    a: float = 0.57
    b: float = 0.19
    c: float = 0.19
    block_size: int = BLOCK

    def __post_init__(self) -> None:
        check_nodes(self.n)
        if self.n < 1 or self.n & (self.n - 1):
            below = 1 << max(self.n.bit_length() - 1, 0)
            raise SettingsError(
                f"the number of nodes of an R-MAT graph is a power of two, such as {below} or "
                f"{2 * below}, not {self.n}"
            )
        if self.d < 0:
            raise SettingsError(f"an R-MAT graph needs d >= 0 edges for each node, not {self.d}")
        if not (min(self.a, self.b, self.c) >= 0 and self.a + self.b + self.c <= 1 + 1e-9):
            raise SettingsError(
                "an R-MAT graph needs probabilities a, b, c >= 0 with a + b + c <= 1, "
                f"not {self.a}, {self.b} and {self.c}"
            )

    @property
    def count(self) -> int:
        """Number of blocks."""
        return -(-self.n * self.d // self.block_size)

    def pairs(self, block: int) -> Pairs:
        """Return the sources and targets of a block's edges, loops and repetitions included."""
        lo = block * self.block_size
        hi = min(lo + self.block_size, self.n * self.d)
        # Where quadrants end among the numbers of 32 bits.
        ends = np.rint(np.cumsum([self.a, self.b, self.c]) * 2.0**32).astype(np.int64)
        levels = self.n.bit_length() - 1
        return _edges(stream_state(self.seed, "rmat"), self._keys, levels, ends, lo, hi)  # type: ignore[no-any-return]

    @cached_property
    def _keys(self) -> NDArray[np.uint64]:
        """Return the numbers, two a round, that choose the permutation of ids."""
        return hash64(self.seed, stream("rmat ids"), np.arange(2 * _ROUNDS))


@numba.njit(cache=True)
def _edges(state: Any, keys: Any, levels: Any, ends: Any, lo: Any, hi: Any) -> Any:
    u = np.empty(hi - lo, np.int32)
    v = np.empty(hi - lo, np.int32)
    first, second, third = ends
    for e in range(lo, hi):
        edge = absorb(state, e)
        row, column = np.int64(0), np.int64(0)
        for level in range(levels):
            # One hash has the numbers of two levels.
            if level % 2 == 0:
                bits = absorb(edge, level)
                number = np.int64(bits >> np.uint64(32))
            else:
                number = np.int64(bits & np.uint64(0xFFFFFFFF))
            row = 2 * row + (number >= second)
            column = 2 * column + ((number >= first) != (number >= second)) + (number >= third)
        u[e - lo] = _scrambled(row, keys, levels)
        v[e - lo] = _scrambled(column, keys, levels)
    return u, v


@numba.njit(cache=True)
def _scrambled(node: Any, keys: Any, bits: Any) -> Any:
    """Return the image of a number of so many bits under a random permutation of them all.

    A sum, a product with an odd number and a shifted exclusive or can each be undone.
    """
    mask = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
    shift = np.uint64(bits // 2 + 1)
    x = np.uint64(node)
    for i in range(0, len(keys), 2):
        x = ((x + keys[i]) * (keys[i + 1] | np.uint64(1))) & mask
        x ^= x >> shift
    return x
