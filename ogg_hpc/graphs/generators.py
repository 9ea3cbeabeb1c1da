"""Random graphs that are a function of their parameters and a seed alone.

Every random number is a stateless hash of (seed, generator, item), where the item is a node
(or an edge of the ring) and the number of the draw for it. Nothing depends on who draws or in
which order, so that a parallel form makes the same graph for every number of ranks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.runtime.random import hash64, integers, permutation, stream, uniform
from ogg_hpc.runtime.random_compiled import absorb, to_integer, to_uniform

_FREE, _REMOVED = -1, -2


def with_random_node_weights(graph: Graph, lightest: int, heaviest: int, seed: int) -> Graph:
    """Return a graph with whole weights of its nodes, drawn evenly.

    Parameters
    ----------
    graph
        The graph; it is returned as it is where `heaviest` is 0 and `lightest` 1, the defaults.
    lightest, heaviest
        Least and largest weight.
    seed
        Any integer; that of the graph will do, for the stream is another.

    Raises
    ------
    SettingsError
        No positive weights.
    """
    if (lightest, heaviest) == (1, 0):
        return graph
    if not 0 < lightest <= heaviest:
        raise SettingsError(
            f"node weights are drawn from lightest >= 1 to heaviest, not {lightest} to {heaviest}"
        )
    drawn = integers(heaviest - lightest + 1, seed, stream("node weights"), np.arange(graph.n))
    return graph.with_node_weights(lightest + drawn)


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
    _check_probability(p)
    _check_nodes(n)
    counts, columns = erdos_renyi_rows(n, p, seed, 0, n)
    return _undirected(n, np.repeat(np.arange(n, dtype=np.int32), counts), columns)


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
    return _er_rows(float(p), _state(seed, "erdos-renyi"), lo, hi, expected)  # type: ignore[no-any-return]


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
    _check_nodes(n)
    if not 1 <= d < n:
        raise SettingsError(f"a Barabási-Albert graph needs 1 <= d < n, not d = {d} and n = {n}")
    ends = _ba_ends(n, d, _state(seed, "barabasi-albert"))
    return _undirected(n, ends[0::2], ends[1::2])


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
    _check_nodes(n)
    _check_probability(p)
    if d % 2 or not 0 <= d < max(n, 1):
        raise SettingsError(
            f"a Watts-Strogatz graph needs an even d with 0 <= d < n, not d = {d} and n = {n}"
        )
    return _undirected(n, *_ws_edges(n, d, float(p), _state(seed, "watts-strogatz")))


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
    _check_nodes(n)
    _check_probability(p)
    if not 1 <= d < n:
        raise SettingsError(f"a power-law cluster graph needs 1 <= d < n, not d = {d} and n = {n}")
    return _undirected(n, *_plc_edges(n, d, float(p), _state(seed, "powerlaw-cluster")))


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
    _check_nodes(n)
    if not 0 <= d < max(n, 1) or n * d % 2:
        raise SettingsError(
            f"a regular graph needs 0 <= d < n and an even n * d, not d = {d} and n = {n}"
        )
    drawn = min(d, n - 1 - d) if n else 0
    u, v = _regular_edges(n, drawn, _state(seed, "random-regular"))
    graph = _undirected(n, u, v)
    if drawn == d:
        return graph
    absent = ~np.eye(n, dtype=bool)
    absent[graph.rows, graph.columns] = False
    return _undirected(n, *np.nonzero(np.tril(absent)))


def geometric_inhomogeneous(
    n: int,
    d: float,
    seed: int,
    dimension: int = 2,
    temperature: float = 0.6,
    long_range: float = 0.15,
) -> Graph:
    """Return a geometric inhomogeneous random graph [1]_, which resembles a social network.

    Nodes have positions on a torus and weights 0.03 + Exp(1). A share 1 - `long_range` of the
    edges joins near or heavy nodes, {u, v} with probability min(1, c w_u w_v / r^dimension)^(1 /
    `temperature`), r the largest difference of a coordinate; the others are those of Chung and
    Lu, min(1, c' w_u w_v) wherever the nodes lie. Takes O(n²) steps and memory.

    Parameters
    ----------
    n
        Number of nodes.
    d
        Expected mean degree, 0 ≤ d < n.
    seed
        Any integer.
    dimension
        Dimension of the torus, at least 1.
    temperature
        In (0, 1): near 0, distance and weights alone decide.
    long_range
        Share of edges that ignore distance, in [0, 1].

    Raises
    ------
    SettingsError
        A parameter out of range.

    References
    ----------
    .. [1] K. Bringmann, R. Keusch and J. Lengler, "Geometric inhomogeneous random graphs",
       Theoretical Computer Science 760, 35-54, 2019.
    """
    _check_nodes(n)
    _check_probability(long_range)
    if not 0 <= d < max(n, 1):
        raise SettingsError(
            f"a geometric graph needs a mean degree 0 <= d < n, not d = {d} and n = {n}"
        )
    if dimension < 1 or not 0 < temperature < 1:
        raise SettingsError(
            "a geometric graph needs dimension >= 1 and 0 < temperature < 1, "
            f"not {dimension} and {temperature}"
        )
    nodes = np.arange(n)
    log_weights = np.log(0.03 - np.log1p(-uniform(seed, stream("girg weight"), nodes)))
    positions = uniform(seed, stream("girg position"), nodes[:, None], np.arange(dimension))
    affinities = _log_affinities(log_weights, positions)
    near = _capped_powers(affinities, 1 / temperature, n * d / 2)
    far = _capped_powers(_log_affinities(log_weights, positions[:, :0]), 1.0, n * d / 2)
    probabilities = (1 - long_range) * near + long_range * far
    edges = _pairs(_state(seed, "girg edge"), n, probabilities)
    return _undirected(n, *edges)


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
    _check_nodes(n)
    height = next((h for h in range(math.isqrt(n), 2, -1) if n % h == 0), 0)
    if height == 0:
        raise SettingsError(f"a toroidal grid needs n = r c with r, c >= 3, not n = {n}")
    grid = permutation(n, seed, stream("toroidal-grid")).astype(np.int32).reshape(height, -1)
    u = np.tile(grid.reshape(-1), 2)
    v = np.concatenate([np.roll(grid, 1, axis).reshape(-1) for axis in (0, 1)])
    return _undirected(n, u, v)


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
    _check_nodes(n)
    if n < 3 or d < 1:
        raise SettingsError(f"a planar graph needs n >= 3 and d >= 1, not n = {n} and d = {d}")
    name = stream("planar-union")
    pairs = []
    for layer in range(d):
        ends = _apollonian_ends(n, np.uint64(hash64(seed, name, layer)))
        ids = permutation(n, seed, name, layer)[ends].reshape(-1, 2)
        pairs.append(ids.min(axis=1) * n + ids.max(axis=1))
    u, v = np.divmod(np.unique(np.concatenate(pairs)), n)
    return _undirected(n, u.astype(np.int32), v.astype(np.int32))


def with_random_signs(graph: Graph, seed: int) -> Graph:
    """Return an undirected graph with weights: 1 or -1 for each edge, as in a spin glass.

    Parameters
    ----------
    graph
        Its own weights do not matter.
    seed
        Any integer; an edge's sign is a function of it and of the ends alone.
    """
    u, v, _ = graph.edges()
    negative = hash64(seed, stream("random-signs"), u, v) & np.uint64(1)
    return Graph.from_edges(graph.n, u, v, 1.0 - 2.0 * negative)


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
    _check_nodes(n)
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
    return _undirected(n, keys // max(n, 1), keys % max(n, 1))


GENERATORS: dict[str, Callable[..., Graph]] = {
    "er": erdos_renyi,
    "ba": barabasi_albert,
    "ws": watts_strogatz,
    "plc": powerlaw_cluster,
    "regular": random_regular,
    "girg": geometric_inhomogeneous,
    "torus": toroidal_grid,
    "planar": planar_union,
    "rb": model_rb,
}
"""Generators by their names on the command line; parameters n, seed and some of their own."""


def _check_nodes(n: int) -> None:
    if not 0 <= n < 2**31:
        raise SettingsError(f"the number of nodes must lie in [0, 2**31), it is {n}")


def _check_probability(p: float) -> None:
    if not 0.0 <= p <= 1.0:
        raise SettingsError(f"a probability lies in [0, 1], it is {p}")


def _state(seed: int, name: str) -> np.uint64:
    return np.uint64(hash64(seed, stream(name)))


def _undirected(n: int, u: NDArray[Any], v: NDArray[Any]) -> Graph:
    return Graph(*_sorted_adjacency(n, u, v))


@numba.njit(cache=True)
def _sorted_adjacency(n: Any, u: Any, v: Any) -> Any:
    """Return row offsets and sorted columns of distinct undirected edges in O(n + m)."""
    offsets = np.zeros(n + 1, np.int64)
    for e in range(len(u)):
        offsets[u[e] + 1] += 1
        offsets[v[e] + 1] += 1
    for i in range(n):
        offsets[i + 1] += offsets[i]
    unsorted = np.empty(2 * len(u), np.int32)
    filled = offsets[:n].copy()
    for e in range(len(u)):
        unsorted[filled[u[e]]] = v[e]
        filled[u[e]] += 1
        unsorted[filled[v[e]]] = u[e]
        filled[v[e]] += 1
    # A symmetric matrix is its own transpose, and transposing row by row sorts the columns.
    columns = np.empty(2 * len(u), np.int32)
    filled[:] = offsets[:n]
    for i in range(n):
        for k in range(offsets[i], offsets[i + 1]):
            j = unsorted[k]
            columns[filled[j]] = i
            filled[j] += 1
    return offsets, columns


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


@numba.njit(cache=True)
def _empty_set(insertions: Any) -> Any:
    """Return an open-addressing hash set of edge keys with room for so many insertions."""
    size = 16
    while size < 2 * insertions:
        size *= 2
    return np.full(size, _FREE, np.int64)


@numba.njit(cache=True)
def _slot(table: Any, n: Any, a: Any, b: Any) -> Any:
    """Return the slot of edge {a, b}, or the free slot where it would go, and its key."""
    key = np.int64(min(a, b)) * n + np.int64(max(a, b))
    mask = len(table) - 1
    slot = np.int64(absorb(np.uint64(0), key) >> np.uint64(1)) & mask
    while table[slot] != key and table[slot] != _FREE:
        slot = (slot + 1) & mask
    return slot, key


@numba.njit(cache=True)
def _has(table: Any, n: Any, a: Any, b: Any) -> Any:
    slot, key = _slot(table, n, a, b)
    return table[slot] == key


@numba.njit(cache=True)
def _add(table: Any, n: Any, a: Any, b: Any) -> Any:
    slot, key = _slot(table, n, a, b)
    table[slot] = key


@numba.njit(cache=True)
def _remove(table: Any, n: Any, a: Any, b: Any) -> Any:
    slot, _ = _slot(table, n, a, b)
    table[slot] = _REMOVED


@numba.njit(cache=True)
def _ws_edges(n: Any, d: Any, p: Any, state: Any) -> Any:
    m = n * d // 2
    u = np.empty(m, np.int32)
    v = np.empty(m, np.int32)
    present = _empty_set(2 * m)
    degrees = np.full(n, d, np.int64)
    for j in range(d // 2):
        for i in range(n):
            u[j * n + i] = i
            v[j * n + i] = (i + j + 1) % n
            _add(present, n, i, (i + j + 1) % n)
    for e in range(m):
        edge = absorb(state, e)
        source = u[e]
        if degrees[source] >= n - 1 or to_uniform(absorb(edge, 0)) >= p:
            continue
        draw = 1
        while True:
            target = to_integer(absorb(edge, draw), n)
            draw += 1
            if target != source and not _has(present, n, source, target):
                break
        _remove(present, n, source, v[e])
        degrees[v[e]] -= 1
        v[e] = target
        _add(present, n, source, target)
        degrees[target] += 1
    return u, v


@numba.njit(cache=True)
def _switch(ends: Any, present: Any, bad: Any, n: Any, e: Any, state: Any) -> Any:
    """Exchange ends of pair e and of a random good edge, unless that repeats an edge."""
    half = to_integer(state, len(ends))
    a, b = ends[2 * e], ends[2 * e + 1]
    x, y = ends[half], ends[half ^ 1]
    if half >> 1 == e or bad[half >> 1] or a == x or b == y:
        return False
    if _has(present, n, a, x) or _has(present, n, b, y):
        return False
    if not bad[e]:
        _remove(present, n, a, b)
    _remove(present, n, x, y)
    _add(present, n, a, x)
    _add(present, n, b, y)
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
        present = _empty_set(3 * m + 2 * min(30 * m, 100_000))
        bad = np.zeros(m, np.bool_)
        for e in range(m):
            a, b = ends[2 * e], ends[2 * e + 1]
            if a == b or _has(present, n, a, b):
                bad[e] = True
            else:
                _add(present, n, a, b)
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


@numba.njit(cache=True)
def _log_affinities(log_weights: Any, positions: Any) -> Any:
    """Return ln(w_u w_v / r^dimension) of each pair v < u, row after row."""
    n, dimension = positions.shape
    logs = np.empty(n * (n - 1) // 2)
    place = 0
    for u in range(n):
        for v in range(u):
            distance = 1e-12  # two nodes in one place
            for axis in range(dimension):
                gap = abs(positions[u, axis] - positions[v, axis])
                distance = max(distance, min(gap, 1.0 - gap))
            logs[place] = log_weights[u] + log_weights[v]
            if dimension > 0:
                logs[place] -= dimension * np.log(distance)
            place += 1
    return logs


@numba.njit(cache=True)
def _capped_powers(logs: Any, power: Any, total: Any) -> Any:
    """Return min(1, c · e^log)^power with the c for which these numbers have a given sum."""
    low, high = -100.0, 100.0
    for _ in range(24):
        middle = (low + high) / 2
        found = 0.0
        for log in logs:
            found += np.exp(power * min(middle + log, 0.0))
        if found < total:
            low = middle
        else:
            high = middle
    return np.exp(power * np.minimum(high + logs, 0.0))


@numba.njit(cache=True)
def _pairs(state: Any, n: Any, probabilities: Any) -> Any:
    """Return the pairs v < u that are drawn, each with its own probability."""
    ends = np.empty(2 * np.int64(probabilities.sum()) + 16, np.int32)
    filled, place = 0, 0
    for u in range(n):
        row = absorb(state, u)
        for v in range(u):
            if to_uniform(absorb(row, v)) < probabilities[place]:
                if filled == len(ends):
                    ends = np.concatenate((ends, np.empty(len(ends), np.int32)))
                ends[filled], ends[filled + 1] = u, v
                filled += 2
            place += 1
    return ends[0:filled:2], ends[1:filled:2]


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
