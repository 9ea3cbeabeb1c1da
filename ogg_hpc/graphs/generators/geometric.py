"""Random geometric graphs."""

from __future__ import annotations

import math
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
from ogg_hpc.runtime.random_compiled import absorb, stream_state, to_uniform


def random_geometric(n: int, d: float, seed: int) -> Graph:
    """Return a graph of n random points on a torus, with edges between those that are near.

    The torus is the unit square whose opposite sides are one. Two points are joined if they are
    closer than the radius at which the expected mean degree is d [1]_. Takes O(n + m) steps.

    Parameters
    ----------
    n
        Number of nodes.
    d
        Expected mean degree, 0 ≤ d ≤ (π/4)(n - 1): the radius is 1/2 at most.
    seed
        Any integer.

    Raises
    ------
    SettingsError
        A parameter out of range.

    References
    ----------
    .. [1] M. Penrose, "Random Geometric Graphs", Oxford University Press, 2003.
    """
    return undirected(n, *GeometricEdges(n, d, seed).all_pairs())


@dataclass(frozen=True, eq=False)
class GeometricEdges(RandomEdges):
    """The edges of `random_geometric` in blocks of points.

    The square is cut into cells as wide as the radius, or wider, so that a point's neighbours
    are in its own cell and the eight around. Who makes a block sorts all points by their cells,
    row after row, and holds 4 bytes a point and 8 a cell; there are no more cells than points. A
    block joins some consecutive points to those after them in their cell and to those of four of
    the cells around. Parameters are those of `random_geometric`, and the number of edges of a
    block, about.
    """

    n: int
    d: float
    seed: int
    block_size: int = BLOCK

    def __post_init__(self) -> None:
        check_nodes(self.n)
        most = math.pi / 4 * max(self.n - 1, 0)
        if not 0 <= self.d <= most:
            raise SettingsError(
                "a geometric graph needs a mean degree d with 0 <= d <= (pi / 4)(n - 1), "
                f"{most:.6g} here, not {self.d}"
            )

    @property
    def radius(self) -> float:
        """Distance below which points are joined."""
        return math.sqrt(self.d / (math.pi * max(self.n - 1, 1)))

    @property
    def count(self) -> int:
        """Number of blocks."""
        return -(-self.n // self._points)

    @property
    def held_bytes(self) -> int:
        """Bytes of the points in the order of their cells, and of where cells begin."""
        return 4 * self.n + 8 * (self._side**2 + 1)

    @property
    def working_bytes(self) -> int:
        """Bytes of these, and of how many points of each cell have their places."""
        return self.held_bytes + 8 * self._side**2

    def pairs(self, block: int) -> Pairs:
        """Return the ends of a block's edges."""
        lo = block * self._points
        hi = min(lo + self._points, self.n)
        starts, order = self._cells
        ends = _edges(self._state, self.radius, self._side, starts, order, lo, hi, self.block_size)
        return ends[0::2], ends[1::2]

    @property
    def _points(self) -> int:
        """Number of points of a block; each has d/2 edges to points after it."""
        return max(1, int(2 * self.block_size / max(self.d, 1)))

    @property
    def _side(self) -> int:
        """Number of cells in a row: with fewer than three, one would be next to itself."""
        # A little wider than the radius, so that rounding puts no neighbour two cells away.
        side = int(min(0.999999 / max(self.radius, 1e-9), math.sqrt(self.n)))
        return side if side >= 3 else 1

    @property
    def _state(self) -> np.uint64:
        return stream_state(self.seed, "geometric")

    @cached_property
    def _cells(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        return _sort_by_cells(self._state, self.n, self._side)  # type: ignore[no-any-return]


@numba.njit(cache=True)
def _position(state: Any, node: Any) -> Any:
    point = absorb(state, node)
    return to_uniform(absorb(point, 0)), to_uniform(absorb(point, 1))


@numba.njit(cache=True)
def _cell(state: Any, node: Any, side: Any) -> Any:
    x, y = _position(state, node)
    # A product with a number just below 1 can be rounded up.
    column, row = min(np.int64(x * side), side - 1), min(np.int64(y * side), side - 1)
    return row * side + column


@numba.njit(cache=True)
def _sort_by_cells(state: Any, n: Any, side: Any) -> Any:
    """Return where each cell begins among the nodes sorted by cells, and these nodes."""
    starts = np.zeros(side * side + 1, np.int64)
    for node in range(n):
        starts[_cell(state, node, side) + 1] += 1
    for cell in range(side * side):
        starts[cell + 1] += starts[cell]
    free = starts[:-1].copy()
    order = np.empty(n, np.int32)
    for node in range(n):
        cell = _cell(state, node, side)
        order[free[cell]] = node
        free[cell] += 1
    return starts, order


@numba.njit(cache=True)
def _edges(
    state: Any, radius: Any, side: Any, starts: Any, order: Any, lo: Any, hi: Any, expected: Any
) -> Any:
    """Return the edges of points lo … hi - 1, in the order of cells, to points after them."""
    first = np.searchsorted(starts, lo, side="right") - 1
    last = np.searchsorted(starts, hi - 1, side="right") - 1
    # Positions of the points in the rows of these cells and in the row below, cyclically.
    rows = min(last // side + 2 - first // side, side)
    base = starts[first // side * side]
    end = (first // side + rows) * side
    length = starts[min(end, side * side)] - base + starts[max(end - side * side, 0)]
    nodes = np.empty(length, np.int32)
    x, y = np.empty(length), np.empty(length)
    for i in range(length):
        nodes[i] = order[(base + i) % len(order)]
        x[i], y[i] = _position(state, nodes[i])
    ends = np.empty(2 * expected + 1024, np.int32)
    filled = 0
    for cell in range(first, last + 1):
        row, column = cell // side, cell % side
        for neighbour in range(5 if side > 1 else 1):
            if neighbour == 0:
                other = cell
            elif neighbour == 1:
                other = row * side + (column + 1) % side
            else:
                other = (row + 1) % side * side + (column + neighbour - 3) % side
            begin = (starts[other] - base) % len(order)
            size = starts[other + 1] - starts[other]
            for i in range(max(starts[cell], lo) - base, min(starts[cell + 1], hi) - base):
                # Within a cell, each pair once.
                for j in range(i + 1 if other == cell else begin, begin + size):
                    across, down = abs(x[i] - x[j]), abs(y[i] - y[j])
                    across, down = min(across, 1.0 - across), min(down, 1.0 - down)
                    if across * across + down * down < radius * radius:
                        if filled == len(ends):
                            ends = np.concatenate((ends, np.empty(len(ends), np.int32)))
                        ends[filled], ends[filled + 1] = nodes[i], nodes[j]
                        filled += 2
    return ends[:filled]
