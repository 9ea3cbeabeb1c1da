"""Watts-Strogatz graphs."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.generators.adjacency import undirected
from ogg_hpc.graphs.generators.checks import check_nodes, check_probability
from ogg_hpc.graphs.generators.edge_set import add, empty_set, has, remove
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
    check_nodes(n)
    check_probability(p)
    if d % 2 or not 0 <= d < max(n, 1):
        raise SettingsError(
            f"a Watts-Strogatz graph needs an even d with 0 <= d < n, not d = {d} and n = {n}"
        )
    return undirected(n, *_ws_edges(n, d, float(p), stream_state(seed, "watts-strogatz")))


@numba.njit(cache=True)
def _ws_edges(n: Any, d: Any, p: Any, state: Any) -> Any:
    m = n * d // 2
    u = np.empty(m, np.int32)
    v = np.empty(m, np.int32)
    present = empty_set(2 * m)
    degrees = np.full(n, d, np.int64)
    for j in range(d // 2):
        for i in range(n):
            u[j * n + i] = i
            v[j * n + i] = (i + j + 1) % n
            add(present, n, i, (i + j + 1) % n)
    for e in range(m):
        edge = absorb(state, e)
        source = u[e]
        if degrees[source] >= n - 1 or to_uniform(absorb(edge, 0)) >= p:
            continue
        draw = 1
        while True:
            target = to_integer(absorb(edge, draw), n)
            draw += 1
            if target != source and not has(present, n, source, target):
                break
        remove(present, n, source, v[e])
        degrees[v[e]] -= 1
        v[e] = target
        add(present, n, source, target)
        degrees[target] += 1
    return u, v
