"""Random numbers as a stateless hash of (seed, item).

The number of an item is a function of the seed and of the item's own coordinates, never of
the rank that asks or of what was drawn before. So any rank can draw any part of a stream,
and results do not depend on how many ranks there are.

The mixer is the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), applied once
for each coordinate.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_TO_UNIT = 2.0**-53


def _mix(state: Any) -> Any:
    state = (state ^ (state >> np.uint64(30))) * _MIX_1
    state = (state ^ (state >> np.uint64(27))) * _MIX_2
    return state ^ (state >> np.uint64(31))


def hash64(seed: int, *items: ArrayLike) -> NDArray[np.uint64]:
    """Hash a seed and any number of integer coordinates to 64 random bits.

    Parameters
    ----------
    seed
        Any integer; its low 64 bits count.
    *items
        Integers or integer arrays that broadcast against one another.

    Returns
    -------
    ndarray of uint64
        One hash for each item of the broadcast shape.
    """
    with np.errstate(over="ignore"):
        state = _mix(np.asarray(seed & 0xFFFFFFFFFFFFFFFF, dtype=np.uint64) + _GOLDEN)
        for item in items:
            coordinate = np.asarray(item).astype(np.uint64)
            state = _mix((state ^ coordinate) * np.uint64(3) + _GOLDEN)
    return np.asarray(state, dtype=np.uint64)


def uniform(seed: int, *items: ArrayLike) -> NDArray[np.float64]:
    """Return float64 numbers in [0, 1), one for each item as in `hash64`."""
    return np.asarray((hash64(seed, *items) >> np.uint64(11)).astype(np.float64) * _TO_UNIT)


def integers(bound: ArrayLike, seed: int, *items: ArrayLike) -> NDArray[np.int64]:
    """Return int64 numbers in [0, bound), one for each item as in `hash64`.

    The bias against exact uniformity is below ``bound / 2**53``.
    """
    return np.asarray(uniform(seed, *items) * np.asarray(bound), dtype=np.int64)


def permutation(length: int, seed: int, *items: int) -> NDArray[np.int64]:
    """Return a random permutation of ``range(length)``, a function of seed and items alone."""
    return np.argsort(hash64(seed, *items, np.arange(length)), kind="stable").astype(np.int64)


def stream(name: str) -> int:
    """Return the coordinate of a named random stream, so that streams never overlap."""
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value >> 1
