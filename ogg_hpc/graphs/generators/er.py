"""Erdős-Rényi graphs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.generators.adjacency import undirected
from ogg_hpc.graphs.generators.blocks import BLOCK, Pairs, RandomEdges
from ogg_hpc.graphs.generators.checks import check_nodes, check_probability
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.runtime.random_compiled import absorb, stream_state, to_uniform


def erdos_renyi(n: int, p: float, seed: int) -> Graph:
    """Return G(n, p): each of the n(n - 1)/2 edges is present with probability p.

    Takes O(n + m) steps by the geometric skips of Batagelj and Brandes [1]_, one chain a row.

    Parameters
    ----------
    n
        Number of nodes.
    p
        Probability of an edge, in [0, 1].
    seed
        Any integer.

    Raises
    ------
    SettingsError
        A parameter out of range.

    References
    ----------
    .. [1] V. Batagelj and U. Brandes, "Efficient generation of large random networks",
       Physical Review E 71, 036113, 2005.
    """
    return undirected(n, *ErdosRenyiEdges(n, p, seed).all_pairs())


@dataclass(frozen=True, eq=False)
class ErdosRenyiEdges(RandomEdges):
    """The edges of `erdos_renyi` in blocks of rows, which take no preparation.

    Parameters are those of `erdos_renyi`; `block_size` counts edges and rows, about.
    """

    n: int
    p: float
    seed: int
    block_size: int = BLOCK

    def __post_init__(self) -> None:
        check_probability(self.p)
        check_nodes(self.n)

    @property
    def count(self) -> int:
        """Number of blocks."""
        return len(self._bounds) - 1

    @cached_property
    def _bounds(self) -> NDArray[np.int64]:
        """Return where blocks begin: p v(v - 1)/2 + v edges and rows lie before row v."""
        linear = 1 - self.p / 2
        size = self.p / 2 * self.n**2 + linear * self.n
        before = self.block_size * np.arange(math.ceil(size / self.block_size) + 1)
        roots = 2 * before / (linear + np.sqrt(linear**2 + 2 * self.p * before))
        return np.append(roots[:-1].astype(np.int64), self.n)

    def pairs(self, block: int) -> Pairs:
        """Return the rows and the columns of a block's entries in the lower triangle."""
        lo, hi = self._bounds[block : block + 2].tolist()
        counts, columns = erdos_renyi_rows(self.n, self.p, self.seed, lo, hi)
        return np.repeat(np.arange(lo, hi, dtype=np.int32), counts), columns


def erdos_renyi_rows(
    n: int, p: float, seed: int, lo: int, hi: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return rows lo … hi - 1 of the strictly lower triangle of `erdos_renyi`'s matrix.

    The rows are the same whatever range they are asked in.

    Returns
    -------
    counts : (hi - lo,) int64
        Entries of each row.
    columns : int32
        Sorted columns, all below the row's id, row after row.
    """
    slots = (hi * (hi - 1) - lo * (lo - 1)) / 2
    expected = int(slots * p + 4 * math.sqrt(slots * p * (1 - p))) + 16
    return _er_rows(float(p), stream_state(seed, "erdos-renyi"), lo, hi, expected)  # type: ignore[no-any-return]


@numba.njit(cache=True)
def _er_rows(p: Any, state: Any, lo: Any, hi: Any, expected: Any) -> Any:
    counts = np.zeros(hi - lo, np.int64)
    columns = np.empty(expected, np.int32)
    filled = 0
    scale = np.log1p(-p) if p < 1.0 else -np.inf
    for v in range(lo, hi):
        row = absorb(state, v)
        start = filled
        u = np.int64(-1)
        draw = 0
        while p > 0.0:
            # The gap to the next edge of the row is geometric.
            gap = np.floor(np.log1p(-to_uniform(absorb(row, draw))) / scale)
            draw += 1
            # Compared as floats: a gap may exceed any integer.
            if not gap < v - u - 1:
                break
            u += 1 + np.int64(gap)
            if filled == len(columns):
                columns = np.concatenate((columns, np.empty(len(columns), np.int32)))
            columns[filled] = u
            filled += 1
        counts[v - lo] = filled - start
    return counts, columns[:filled].copy()
