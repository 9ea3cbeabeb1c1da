"""Geometric inhomogeneous random graphs."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.generators.adjacency import undirected
from ogg_hpc.graphs.generators.checks import check_nodes, check_probability
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.runtime.random import stream, uniform
from ogg_hpc.runtime.random_compiled import absorb, stream_state, to_uniform


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
    check_nodes(n)
    check_probability(long_range)
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
    edges = _pairs(stream_state(seed, "girg edge"), n, probabilities)
    return undirected(n, *edges)


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
