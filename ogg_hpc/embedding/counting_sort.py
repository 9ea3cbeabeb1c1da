"""Orders of small keys."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


def order_of(keys: NDArray[Any], bound: int) -> NDArray[np.int64]:
    """Return the stable order of integer keys, in time of k + bound.

    Parameters
    ----------
    keys
        (k,) numbers in ``range(bound)``.
    bound
        Such as the number of ranks.
    """
    order = np.empty(len(keys), np.int64)
    _order(keys, np.zeros(bound + 1, np.int64), order)
    return order


@njit(cache=True, nogil=True)
def _order(keys: Any, starts: Any, order: Any) -> None:
    for key in keys:
        starts[key + 1] += 1
    for key in range(1, len(starts)):
        starts[key] += starts[key - 1]
    for i in range(len(keys)):
        order[starts[keys[i]]] = i
        starts[keys[i]] += 1
