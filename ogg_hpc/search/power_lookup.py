"""Powers from tables in compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from ogg_hpc.policies.fixed_point import PIECE_BITS
from ogg_hpc.search.tournament import float_bits


@njit(cache=True)
def value_at(table: Any, total: Any) -> Any:
    """Return the value of a power table at a positive integer, as `interpolate` does."""
    bits = float_bits(np.float64(total))
    shift = 52 - PIECE_BITS
    place = (bits >> shift) - (1023 << PIECE_BITS)
    part = (bits & ((1 << shift) - 1)) * 2.0**-shift
    return table[place] + (table[place + 1] - table[place]) * part
