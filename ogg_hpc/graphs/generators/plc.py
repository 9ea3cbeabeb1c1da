"""Power-law cluster graphs of Holme and Kim."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.generators.adjacency import undirected
from ogg_hpc.graphs.generators.checks import check_nodes, check_probability
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.runtime.random_compiled import absorb, stream_state, to_integer, to_uniform


def powerlaw_cluster(n: int, d: int, p: float, seed: int) -> Graph:
    """Return a preferential-attachment graph with triangles, after Holme and Kim [1]_.

    Each new node attaches to d distinct earlier ones: the first by preferential attachment;
    each further one, with probability p, to a neighbour of the last node so chosen (which
    closes a triangle), else again by preferential attachment. The start is d nodes without
    edges. The graph has exactly d(n - d) edges: a draw that would repeat an edge is drawn
    again, where NetworkX drops the edge.

    Parameters
    ----------
    n
        Number of nodes.
    d
        Edges of each new node, 1 ≤ d < n.
    p
        Probability of a triangle, in [0, 1].
    seed
        Any integer.

    Raises
    ------
    SettingsError
        A parameter out of range.

    References
    ----------
    .. [1] P. Holme and B. J. Kim, "Growing scale-free networks with tunable clustering",
       Physical Review E 65, 026107, 2002.
    """
    check_nodes(n)
    check_probability(p)
    if not 1 <= d < n:
        raise SettingsError(f"a power-law cluster graph needs 1 <= d < n, not d = {d} and n = {n}")
    return undirected(n, *_plc_edges(n, d, float(p), stream_state(seed, "powerlaw-cluster")))


@numba.njit(cache=True)
def _plc_edges(n: Any, d: Any, p: Any, state: Any) -> Any:
    m = d * (n - d)
    u = np.empty(m, np.int32)
    v = np.empty(m, np.int32)
    # A start node has no degree yet: one extra end each makes it eligible.
    ends = np.empty(d + 2 * m, np.int32)
    ends[:d] = np.arange(d)
    filled = d
    # Neighbours as linked lists of half-edges: 2e leads from u[e] to v[e], 2e + 1 back.
    last = np.full(n, -1, np.int64)
    previous = np.empty(2 * m, np.int64)
    chosen_by = np.full(n, -1, np.int32)
    e = 0
    for source in range(d, n):
        node = absorb(state, source)
        existing = filled
        draw = 0
        anchor = -1
        for step in range(d):
            target = -1
            if step > 0:
                closes = to_uniform(absorb(node, draw)) < p
                draw += 1
                if closes:
                    candidates = 0
                    half = last[anchor]
                    while half >= 0:
                        other = u[half >> 1] if half & 1 else v[half >> 1]
                        if chosen_by[other] != source and other != source:
                            candidates += 1
                        half = previous[half]
                    if candidates > 0:
                        rank = to_integer(absorb(node, draw), candidates)
                        draw += 1
                        half = last[anchor]
                        while half >= 0:
                            other = u[half >> 1] if half & 1 else v[half >> 1]
                            if chosen_by[other] != source and other != source:
                                if rank == 0:
                                    target = other
                                    break
                                rank -= 1
                            half = previous[half]
            if target < 0:
                while True:
                    target = ends[to_integer(absorb(node, draw), existing)]
                    draw += 1
                    if chosen_by[target] != source:
                        break
                anchor = target
            chosen_by[target] = source
            u[e] = source
            v[e] = target
            previous[2 * e] = last[source]
            last[source] = 2 * e
            previous[2 * e + 1] = last[target]
            last[target] = 2 * e + 1
            ends[filled] = target
            ends[filled + 1] = source
            filled += 2
            e += 1
    return u, v
