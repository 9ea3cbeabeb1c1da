"""A hash set of edges, for compiled loops."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from ogg_hpc.runtime.random_compiled import absorb

ROOM = 1.6
"""Slots for each insertion."""

_FREE, _REMOVED = -1, -2


@numba.njit(cache=True)
def empty_set(insertions: Any) -> Any:
    """Return an open-addressing hash set of edge keys with room for so many insertions."""
    return np.full(16 + np.int64(ROOM * insertions), _FREE, np.int64)


@numba.njit(cache=True)
def _slot(table: Any, n: Any, a: Any, b: Any) -> Any:
    """Return the slot of edge {a, b}, or the free slot where it would go, and its key."""
    key = np.int64(min(a, b)) * n + np.int64(max(a, b))
    slot = np.int64(absorb(np.uint64(0), key) % np.uint64(len(table)))
    while table[slot] != key and table[slot] != _FREE:
        slot += 1
        if slot == len(table):
            slot = np.int64(0)
    return slot, key


@numba.njit(cache=True)
def has(table: Any, n: Any, a: Any, b: Any) -> Any:
    """Return whether edge {a, b} is in a set of edges of n nodes."""
    slot, key = _slot(table, n, a, b)
    return table[slot] == key


@numba.njit(cache=True)
def add(table: Any, n: Any, a: Any, b: Any) -> Any:
    """Add edge {a, b}, which must not be there."""
    slot, key = _slot(table, n, a, b)
    table[slot] = key


@numba.njit(cache=True)
def remove(table: Any, n: Any, a: Any, b: Any) -> Any:
    """Remove edge {a, b}, which must be there."""
    slot, _ = _slot(table, n, a, b)
    table[slot] = _REMOVED
