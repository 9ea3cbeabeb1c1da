"""Unions of random planar graphs."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.generators.adjacency import undirected
from ogg_hpc.graphs.generators.checks import check_nodes
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.runtime.random import hash64, permutation, stream
from ogg_hpc.runtime.random_compiled import absorb, to_integer


def planar_union(n: int, d: int, seed: int) -> Graph:
    """Return the union of d random maximal planar graphs on the same nodes.

    Each is a random Apollonian network [1]_, whose nodes are in a random order: each new node is
    joined to the corners of a face chosen uniformly.

    Parameters
    ----------
    n
        Number of nodes, at least 3.
    d
        Number of planar graphs, at least 1.
    seed
        Any integer.

    Raises
    ------
    SettingsError
        A parameter out of range.

    References
    ----------
    .. [1] T. Zhou, G. Yan and B.-H. Wang, "Maximal planar networks with large clustering
       coefficient and power-law degree distribution", Physical Review E 71, 046141, 2005.
    """
    check_nodes(n)
    if n < 3 or d < 1:
        raise SettingsError(f"a planar graph needs n >= 3 and d >= 1, not n = {n} and d = {d}")
    name = stream("planar-union")
    pairs = []
    for layer in range(d):
        ends = _apollonian_ends(n, np.uint64(hash64(seed, name, layer)))
        ids = permutation(n, seed, name, layer)[ends].reshape(-1, 2)
        pairs.append(ids.min(axis=1) * n + ids.max(axis=1))
    u, v = np.divmod(np.unique(np.concatenate(pairs)), n)
    return undirected(n, u.astype(np.int32), v.astype(np.int32))


@numba.njit(cache=True)
def _apollonian_ends(n: Any, state: Any) -> Any:
    """Return the edges of a random Apollonian network as pairs in one array."""
    faces = np.empty((2 * n, 3), np.int32)
    faces[:2] = np.arange(3)  # the inside and the outside of a triangle
    ends = np.empty(6 * n - 12, np.int32)
    ends[:6] = np.array([0, 1, 0, 2, 1, 2])
    filled = 6
    for v in range(3, n):
        corners = faces[to_integer(absorb(state, v), 2 * v - 4)]
        for i in range(3):
            ends[filled], ends[filled + 1] = corners[i], v
            filled += 2
        # v takes the place of one corner in each of the three faces that there now are.
        for i in range(2):
            faces[2 * v - 4 + i] = corners
            faces[2 * v - 4 + i, i] = v
        corners[2] = v
    return ends
