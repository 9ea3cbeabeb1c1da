"""Graphs of model RB."""

from __future__ import annotations

import math

import numpy as np

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.generators.adjacency import undirected
from ogg_hpc.graphs.generators.checks import check_nodes
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.runtime.random import hash64, integers, stream


def model_rb(n: int, d: int, p: float, seed: int) -> Graph:
    """Return a graph whose largest independent set, of n/d nodes, is hidden and hard to find.

    Model RB of random constraint satisfaction [1]_, forced satisfiable, as in the ``frb`` graphs
    of BHOSLIB (d = 15, n = 450 and p = 0.25 give frb30-15): n/d disjoint cliques of d nodes are
    the values of as many variables, of which a hidden one each is independent. (n/d) ln d / -ln(1
    - p) times, where solutions get rare, two cliques are joined by round(p d²) random edges other
    than that of the hidden nodes. Takes O(n d ln d) steps and memory.

    Parameters
    ----------
    n
        Number of nodes, a multiple of d.
    d
        Nodes of each clique.
    p
        Share of the pairs of two cliques that are joined at a time, in (0, 1).
    seed
        Any integer.

    Raises
    ------
    SettingsError
        A parameter out of range.

    References
    ----------
    .. [1] K. Xu and W. Li, "Exact phase transitions in random constraint satisfaction problems",
       J. Artificial Intelligence Research 12, 93-103, 2000.
    """
    check_nodes(n)
    if d < 1 or n % d or not 0 < p < 1:
        raise SettingsError(
            f"a graph of model RB needs a multiple n of d and 0 < p < 1, not {n}, {d} and {p}"
        )
    cliques = n // d
    hidden = integers(d, seed, stream("rb hidden"), np.arange(cliques))
    joined = min(round(p * d * d), d * d - 1)
    count = round(cliques * math.log(d) / -math.log1p(-p)) if cliques > 1 and joined else 0
    times = np.arange(count)
    first = integers(cliques, seed, stream("rb first"), times)
    second = (first + 1 + integers(cliques - 1, seed, stream("rb second"), times)) % max(cliques, 1)
    order = hash64(seed, stream("rb edge"), times[:, None], np.arange(d * d))
    order[times, d * hidden[first] + hidden[second]] = np.iinfo(np.uint64).max  # never drawn
    drawn = np.argsort(order, axis=1, kind="stable")[:, :joined]
    u, v = d * first[:, None] + drawn // d, d * second[:, None] + drawn % d
    starts, (i, j) = d * np.arange(cliques)[:, None], np.tril_indices(d, -1)
    above = np.concatenate([np.maximum(u, v).ravel(), (starts + i).ravel()])
    below = np.concatenate([np.minimum(u, v).ravel(), (starts + j).ravel()])
    keys = np.unique(above * n + below)
    return undirected(n, keys // max(n, 1), keys % max(n, 1))
