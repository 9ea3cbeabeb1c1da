"""The stateless hash of `ogg_hpc.runtime.random`, for scalars inside compiled loops.

``absorb(absorb(begin(seed), a), b)`` equals ``hash64(seed, a, b)`` bit for bit. The form with
an explicit state lets a loop absorb its outer coordinates once.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from ogg_hpc.runtime.random import hash64, stream

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_TO_UNIT = 2.0**-53


def stream_state(seed: int, name: str) -> np.uint64:
    """Return the state of a named stream, for any integer seed."""
    return np.uint64(hash64(seed, stream(name)))


@numba.njit(cache=True)
def _mix(state: Any) -> Any:
    state = (state ^ (state >> np.uint64(30))) * _MIX_1
    state = (state ^ (state >> np.uint64(27))) * _MIX_2
    return state ^ (state >> np.uint64(31))


@numba.njit(cache=True)
def begin(seed: Any) -> Any:
    """Return the uint64 state of a seed, itself ``hash64(seed)``; the seed is 64 bits wide."""
    return _mix(np.uint64(seed) + _GOLDEN)


@numba.njit(cache=True)
def absorb(state: Any, item: Any) -> Any:
    """Return the state after one more integer coordinate."""
    return _mix((np.uint64(state) ^ np.uint64(item)) * np.uint64(3) + _GOLDEN)


@numba.njit(cache=True)
def to_uniform(state: Any) -> Any:
    """Return the float64 number in [0, 1) of a state, as `random.uniform` does."""
    return np.float64(np.uint64(state) >> np.uint64(11)) * _TO_UNIT


@numba.njit(cache=True)
def to_integer(state: Any, bound: Any) -> Any:
    """Return the int64 number in [0, bound) of a state, as `random.integers` does."""
    return np.int64(to_uniform(state) * np.float64(bound))
