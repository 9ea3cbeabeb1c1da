"""Sums of messages as integers in fixed point, and powers of them from tables.

Sums of integers are exact on every number of ranks and in every order. Powers are interpolated in
tables by additions and multiplications alone, so that they are the same bits on every device.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.batch import GraphBatch

# A binade of a power table has 2^8 pieces.
PIECE_BITS = 8
_BINADES = 63
MOST_BITS = 62  # every sum stays below 2^62
# Factors stay within 1 / LARGE and LARGE, so that no product of two is infinite or no number.
LARGE = 1e140


def power_table(exponent: float, unit: float) -> NDArray[np.float64]:
    """Return (s / unit)^exponent at s = 2^i (1 + j / 256), for `interpolate`."""
    place = np.arange((_BINADES << PIECE_BITS) + 1)
    mantissa = 1.0 + (place & ((1 << PIECE_BITS) - 1)) / 2.0**PIECE_BITS
    knots: NDArray[np.float64] = 2.0 ** (place >> PIECE_BITS) * mantissa
    return bounded_power(knots / unit, exponent)


def bounded_power(base: NDArray[np.float64], exponent: float) -> NDArray[np.float64]:
    """Return powers of positive numbers, within bounds."""
    with np.errstate(over="ignore"):
        return np.clip(base**exponent, 1 / LARGE, LARGE)


def interpolate(table: Any, sums: Any, xp: Any = np) -> Any:
    """Return the values of a power table at positive integers, linear between its knots."""
    bits = sums.astype(xp.float64).view(xp.int64)
    shift = 52 - PIECE_BITS
    place = (bits >> shift) - (1023 << PIECE_BITS)
    part = (bits & ((1 << shift) - 1)) * 2.0**-shift
    return table[place] + (table[place + 1] - table[place]) * part


def to_fixed_point(
    values: NDArray[np.float64], spare_bits: int = 0
) -> tuple[NDArray[np.int64], float]:
    """Return positive integers, with 0 for degree 0, and their unit.

    No sum reaches 2^62, even of integers that are multiplied by up to 2^spare_bits.
    """
    values = np.minimum(values, 2.0**20)
    room = MOST_BITS - len(values).bit_length() - np.frexp(values.max(initial=1.0))[1] - spare_bits
    unit = 2.0 ** min(40, room)
    integers = np.maximum(np.rint(values * unit), 1).astype(np.int64)
    integers[0] = 0
    return integers, unit


def exact_sum(batch: GraphBatch, rows: Any) -> Any:
    """Sum integers below 2^62 over neighbours, as two products whose sums are below 2^53."""
    high, low = rows >> 26, rows & (2**26 - 1)
    parts = batch.gather_multiply(batch.comm.device.xp.concatenate([high, low], 1).astype(float))
    high, low = parts[:, : batch.copies], parts[:, batch.copies :]
    return (high.astype(np.int64) << 26) + low.astype(np.int64)
