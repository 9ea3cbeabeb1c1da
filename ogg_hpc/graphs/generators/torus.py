"""Grids on a torus."""

from __future__ import annotations

import math

import numpy as np

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.generators.adjacency import undirected
from ogg_hpc.graphs.generators.checks import check_nodes
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.runtime.random import permutation, stream


def toroidal_grid(n: int, seed: int) -> Graph:
    """Return a grid on a torus, each node with four neighbours, its ids at random places.

    The grid is as square as the divisors of n allow.

    Parameters
    ----------
    n
        Number of nodes, a product of two numbers that are at least 3.
    seed
        Any integer.

    Raises
    ------
    SettingsError
        A parameter out of range.
    """
    check_nodes(n)
    height = next((h for h in range(math.isqrt(n), 2, -1) if n % h == 0), 0)
    if height == 0:
        raise SettingsError(f"a toroidal grid needs n = r c with r, c >= 3, not n = {n}")
    grid = permutation(n, seed, stream("toroidal-grid")).astype(np.int32).reshape(height, -1)
    u = np.tile(grid.reshape(-1), 2)
    v = np.concatenate([np.roll(grid, 1, axis).reshape(-1) for axis in (0, 1)])
    return undirected(n, u, v)
