"""log(1 + e^x) and its derivative, the logistic function, of many float32 numbers at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

_LOG2_E = np.float32(1.4426950408889634)
# log 2 in two parts: a whole number times the first, which has few bits, is exact.
_LOG_2_HIGH, _LOG_2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
_LOWEST = np.float32(-87.0)  # e^x is not yet subnormal
_HALF, _ONE, _TWO = np.float32(0.5), np.float32(1.0), np.float32(2.0)
_EXPONENT_BIAS, _EXPONENT = np.int32(127), np.int32(1 << 23)
# Taylor coefficients of e^x, from x^6 down, and of atanh(x) / x in x^2, from x^12 down.
_EXP = tuple(np.float32(1 / c) for c in (720, 120, 24, 6, 2, 1, 1))
_ATANH = tuple(np.float32(1 / c) for c in (13, 11, 9, 7, 5, 3, 1))


def softplus(x: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return log(1 + e^x) and 1 / (1 + e^-x), elementwise.

    Both are off by less than 1e-6, the first above 1 by that share of it. What is not a number,
    or infinite, gives a first result that is neither finite.

    Parameters
    ----------
    x : float32
        In any shape.
    """
    flat = np.ascontiguousarray(x).reshape(-1)
    values, slopes = np.empty_like(flat), np.empty_like(flat)
    softplus_into(flat, values, slopes)
    return values.reshape(x.shape), slopes.reshape(x.shape)


# Without branches and calls, so that it compiles to vector instructions. Not "fast" about numbers
# that are not finite: a diverged run is noticed by them.
@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "arcp"})
def softplus_into(x: Any, values: Any, slopes: Any) -> None:
    """Fill arrays with what `softplus` returns, for compiled callers."""
    for i in range(len(x)):
        size = abs(x[i])
        # e^-size = 2^n e^rest.
        power = max(-size, _LOWEST)
        n = np.int32(power * _LOG2_E - _HALF)
        rest = (power - np.float32(n) * _LOG_2_HIGH) - np.float32(n) * _LOG_2_LOW
        exp = _EXP[0]
        for c in range(1, 7):
            exp = exp * rest + _EXP[c]
        exp *= np.int32((n + _EXPONENT_BIAS) * _EXPONENT).view(np.float32)
        # log(1 + t) = 2 atanh(t / (2 + t)).
        ratio = exp / (_TWO + exp)
        square = ratio * ratio
        atanh = _ATANH[0]
        for c in range(1, 7):
            atanh = atanh * square + _ATANH[c]
        # x + |x| is not a number, or infinite, where x is.
        values[i] = _HALF * (x[i] + size) + _TWO * ratio * atanh
        larger = _ONE / (_ONE + exp)
        slopes[i] = larger if x[i] > 0 else exp * larger
