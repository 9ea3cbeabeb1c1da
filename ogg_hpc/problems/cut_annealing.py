"""Simulated annealing of cuts: a first run from hot to cold, then reheats of the best cut.

All runs have the same number of sweeps over the nodes, fewer on large graphs, with a temperature
that falls linearly to zero. A reheat is a breakout: warm enough to leave the local optimum, too
cool to forget where it was. Its end is the new best cut if it is no worse, so that plateaus are
crossed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.greedy_cut import climb, entry_weights, flip_gains, move
from ogg_hpc.problems.node_sets import mask_of
from ogg_hpc.runtime.random import hash64, stream
from ogg_hpc.runtime.random_compiled import absorb, to_uniform

_MOST, _FEWEST = 3000, 100  # sweeps of a run
_RUN = 200_000_000  # nodes and entries that a run looks at, where that allows the fewest sweeps
_ITEM = 2_000_000  # nodes and entries that the sweeps of an item look at, at most
# Temperatures at the start of a run, in units of the typical field of a node. Spin glasses with
# many random neighbours freeze near 0.5; the warm ones take turns, since nodes of many neighbours
# freeze before the others.
_HOT, _WARM = 0.6, (0.45, 0.35, 0.25, 0.2)
_STREAM = stream("cut annealing")


def anneal_cut(graph: Graph, nodes: NDArray[np.int64], seed: int) -> Iterator[NDArray[np.int64]]:
    """Yield the best cut so far, sorted ids of one side, again and again without an end.

    The typical field, the root of the mean over nodes of the sum of squared weights, is the unit
    of temperature. An item takes as many sweeps as look at 2 million entries, or one.

    Parameters
    ----------
    graph
        An undirected graph with weights of any sign.
    nodes
        (k,) one side of a cut; none of the items is worse.
    seed
        Of the random numbers.
    """
    weights = entry_weights(graph)
    # By a power of two, so that no square is infinite and not all are 0.
    weights = np.ldexp(weights, -np.frexp(np.abs(weights).max(initial=0.0))[1])
    side, gains = mask_of(graph, nodes), np.empty(graph.n)
    flip_gains(graph.row_offsets, graph.columns, weights, side, gains)
    best, best_value = side.copy(), _value(gains)
    field = float(np.sqrt(np.sum(weights**2) / max(graph.n, 1)))
    size = max(graph.n + len(weights), 1)
    sweeps = max(_FEWEST, min(_MOST, _RUN // size))
    falling = field * (1 - np.arange(sweeps) / sweeps)
    at_once = max(1, _ITEM // size)
    run = 0
    while field > 0:
        temperatures = falling * (_HOT if run == 0 else _WARM[run % len(_WARM)])
        state: Any = hash64(seed, _STREAM, run)[()]
        for first in range(0, sweeps, at_once):
            if first > 0:
                yield np.flatnonzero(best)
            part = temperatures[first : first + at_once]
            state = np.uint64(
                _sweep(graph.row_offsets, graph.columns, weights, side, gains, part, state)
            )
        climb(graph.row_offsets, graph.columns, weights, side, gains)
        # Afresh, so that rounding does not pile up.
        flip_gains(graph.row_offsets, graph.columns, weights, side, gains)
        if _value(gains) >= best_value:
            best, best_value = side.copy(), _value(gains)
        else:
            side = best.copy()
            flip_gains(graph.row_offsets, graph.columns, weights, side, gains)
        yield np.flatnonzero(best)
        run += 1


def _value(gains: NDArray[np.float64]) -> float:
    """Return the weight of the cut less half of all weight, from the gains of all nodes."""
    return float(-np.sum(gains) / 4)


@njit(cache=True)
def _sweep(
    row_offsets: NDArray[np.int64],
    columns: NDArray[Any],
    weights: NDArray[np.float64],
    side: NDArray[np.bool_],
    gains: NDArray[np.float64],
    temperatures: NDArray[np.float64],
    state: Any,
) -> Any:
    """Visit all nodes at each temperature, by id; return the state of the random numbers."""
    for temperature in temperatures:
        hopeless = -25.0 * temperature  # once in 10^11
        for v in range(len(side)):
            gain = gains[v]
            if gain <= hopeless:
                continue
            if gain < 0.0:
                state = absorb(state, v)
                if to_uniform(state) >= np.exp(gain / temperature):
                    continue
            move(row_offsets, columns, weights, side, gains, v)
    return state
