"""Barabási-Albert graphs."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.generators.adjacency import undirected
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
    check_nodes(n)
    if not 1 <= d < n:
        raise SettingsError(f"a Barabási-Albert graph needs 1 <= d < n, not d = {d} and n = {n}")
    ends = _ba_ends(n, d, stream_state(seed, "barabasi-albert"))
    return undirected(n, ends[0::2], ends[1::2])


@numba.njit(cache=True)
def _ba_ends(n: Any, d: Any, state: Any) -> Any:
    """Return the edges as (source, target) pairs in one array, in order of creation.

    A uniform choice among the ends so far is a choice in proportion to degree.
    """
    ends = np.empty(2 * d * (n - d), np.int32)
    for e in range(d):
        ends[2 * e] = e + 1
        ends[2 * e + 1] = 0
    filled = 2 * d
    chosen_by = np.full(n, -1, np.int32)
    for v in range(d + 1, n):
        node = absorb(state, v)
        existing = filled
        attempt = 0
        while filled < existing + 2 * d:
            target = ends[to_integer(absorb(node, attempt), existing)]
            attempt += 1
            if chosen_by[target] != v:
                chosen_by[target] = v
                ends[filled] = v
                ends[filled + 1] = target
                filled += 2
    return ends
