"""Random regular graphs."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.generators.adjacency import undirected
from ogg_hpc.graphs.generators.checks import check_nodes
from ogg_hpc.graphs.generators.edge_set import add, empty_set, has, remove
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.runtime.random_compiled import absorb, stream_state, to_integer


def random_regular(n: int, d: int, seed: int) -> Graph:
    """Return a random graph in which every node has degree d.

    Pairs nd half-edges at random, repairs each self loop and repeated edge by a switch with a
    random edge [1]_, and makes further random switches. Degrees are exact; the distribution is
    asymptotically uniform. Above d = (n - 1)/2 the complement is drawn.

    Parameters
    ----------
    n
        Number of nodes.
    d
        Degree, 0 ≤ d < n, with nd even.
    seed
        Any integer.

    Raises
    ------
    SettingsError
        A parameter out of range.

    References
    ----------
    .. [1] B. D. McKay and N. C. Wormald, "Uniform generation of random regular graphs of
       moderate degree", Journal of Algorithms 11, 52-67, 1990.
    """
    check_nodes(n)
    if not 0 <= d < max(n, 1) or n * d % 2:
        raise SettingsError(
            f"a regular graph needs 0 <= d < n and an even n * d, not d = {d} and n = {n}"
        )
    drawn = min(d, n - 1 - d) if n else 0
    u, v = _regular_edges(n, drawn, stream_state(seed, "random-regular"))
    graph = undirected(n, u, v)
    if drawn == d:
        return graph
    absent = ~np.eye(n, dtype=bool)
    absent[graph.rows, graph.columns] = False
    return undirected(n, *np.nonzero(np.tril(absent)))


@numba.njit(cache=True)
def _switch(ends: Any, present: Any, bad: Any, n: Any, e: Any, state: Any) -> Any:
    """Exchange ends of pair e and of a random good edge, unless that repeats an edge."""
    half = to_integer(state, len(ends))
    a, b = ends[2 * e], ends[2 * e + 1]
    x, y = ends[half], ends[half ^ 1]
    if half >> 1 == e or bad[half >> 1] or a == x or b == y:
        return False
    if has(present, n, a, x) or has(present, n, b, y):
        return False
    if not bad[e]:
        remove(present, n, a, b)
    remove(present, n, x, y)
    add(present, n, a, x)
    add(present, n, b, y)
    ends[2 * e + 1] = x
    ends[half], ends[half ^ 1] = b, y
    return True


@numba.njit(cache=True)
def _regular_edges(n: Any, d: Any, state: Any) -> Any:
    m = n * d // 2
    ends = np.empty(2 * m, np.int32)
    restart = 0
    while True:
        pairing = absorb(state, restart)
        restart += 1
        for i in range(2 * m):
            ends[i] = i // d
        for i in range(2 * m - 1, 0, -1):
            j = to_integer(absorb(pairing, i), i + 1)
            ends[i], ends[j] = ends[j], ends[i]
        present = empty_set(3 * m + 2 * min(30 * m, 100_000))
        bad = np.zeros(m, np.bool_)
        for e in range(m):
            a, b = ends[2 * e], ends[2 * e + 1]
            if a == b or has(present, n, a, b):
                bad[e] = True
            else:
                add(present, n, a, b)
        # Dense small graphs can leave a pair without any switch: then pair afresh.
        patience = 100 * m + 100
        draw = 2 * m
        for e in range(m):
            while bad[e] and patience > 0:
                patience -= 1
                bad[e] = not _switch(ends, present, bad, n, e, absorb(pairing, draw))
                draw += 1
        # Repairs favour some graphs where they are many for the size. The chain of random
        # switches is uniform in the limit, so a few of them on each edge even that out.
        for _ in range(min(30 * m, 100_000) if patience > 0 else 0):
            e = to_integer(absorb(pairing, draw), m)
            _switch(ends, present, bad, n, e, absorb(pairing, draw + 1))
            draw += 2
        if patience > 0:
            return ends[0::2].copy(), ends[1::2].copy()
