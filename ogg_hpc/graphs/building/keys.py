"""Edges as sortable keys.

The key of an edge (u, v) in the row of u is ``(u * n + v) * 2``; the same edge seen from v has the
key ``(v * n + u) * 2 + 1`` in the row of v. Sorted keys are thus the rows of the symmetric matrix,
and the last bit tells which directions were given.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.building.edges import Edges

# Two end points and one bit fit in 64 bits.
MOST_NODES = 3_037_000_499


class Keys(NamedTuple):
    """Keys and the weights that go with them.

    Attributes
    ----------
    keys : (k,) uint64
    weights : (k,) float64, optional
    """

    keys: NDArray[np.uint64]
    weights: NDArray[np.float64] | None = None


def check_size(n: int) -> None:
    """Refuse more nodes than keys can tell apart.

    Raises
    ------
    SettingsError
        More than `MOST_NODES`.
    """
    if n > MOST_NODES:
        raise SettingsError(f"{n} nodes are too many: stores hold {MOST_NODES} at most")


def keys_of(edges: Edges, n: int) -> Keys:
    """Return the keys of edges of a graph of n nodes in both directions, of self loops in one."""
    loops = edges.sources == edges.targets
    others = ~loops if loops.any() else slice(None)
    forward = _keys(edges.sources, edges.targets, n)
    backward = _keys(edges.targets[others], edges.sources[others], n)
    backward |= np.uint64(1)
    keys = np.concatenate([forward, backward])
    if edges.weights is None:
        return Keys(keys)
    # Self loops are dropped, so that their weights may differ; 0 and -0 are one number.
    forth = np.where(loops, 0.0, edges.weights) + 0.0
    return Keys(keys, np.concatenate([forth, forth[others]]))


def _keys(rows: NDArray[np.int64], columns: NDArray[np.int64], n: int) -> NDArray[np.uint64]:
    keys = rows.astype(np.uint64)
    keys *= np.uint64(n)
    keys += columns.astype(np.uint64)
    keys <<= np.uint64(1)
    return keys


def sort_distinct(keys: Keys) -> Keys:
    """Return the keys in order, each once; one of several weights has its least and its largest.

    Two are enough to tell a conflict, however many there are.
    """
    values, weights = keys
    if weights is None:
        values.sort()
        return Keys(values[is_first(values)])
    order = np.argsort(values)
    values, weights = values[order], weights[order]
    first = is_first(values)
    if (first[1:] | (weights[1:] == weights[:-1])).all():
        return Keys(values[first], weights[first])
    starts = np.flatnonzero(first)
    least, largest = np.minimum.reduceat(weights, starts), np.maximum.reduceat(weights, starts)
    kept = np.stack([np.ones(len(starts), dtype=bool), least < largest], axis=1)
    both = np.stack([least, largest], axis=1)
    return Keys(np.repeat(values[starts], kept.sum(axis=1)), both[kept])


def is_first(values: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Tell for each of sorted values whether it differs from the one before."""
    first = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=first[1:])
    return first
