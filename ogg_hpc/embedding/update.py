"""One step of gradient descent on some rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


def apply(
    rows: NDArray[np.float32],
    sums: NDArray[np.float32],
    weights: NDArray[np.float32],
    learning_rate: float,
    row_limit: float,
) -> None:
    """Move rows against their summed gradients, in place.

    The gradients of a batch are all those at the vectors from before it. A row that takes part in
    very many of them would overshoot by the sum of their steps; such a row moves as if it took
    part in ``row_limit / learning_rate`` of them.

    Parameters
    ----------
    rows : (m, D) float32
        What is moved.
    sums : (m, D) float32
        Summed gradients.
    weights : (m,) float32
        Summed weights of the terms in each sum.
    learning_rate
        Step size of a term of weight 1.
    row_limit
        Most that ``learning_rate`` times the weight of a row may be.
    """
    _apply(rows, sums, weights, np.float32(learning_rate), np.float32(row_limit))


@njit(cache=True, nogil=True, error_model="numpy")
def _apply(rows: Any, sums: Any, weights: Any, learning_rate: Any, row_limit: Any) -> None:
    for i in range(rows.shape[0]):
        step = learning_rate
        if learning_rate * weights[i] > row_limit:
            step = row_limit / weights[i]
        for j in range(rows.shape[1]):
            rows[i, j] -= step * sums[i, j]
