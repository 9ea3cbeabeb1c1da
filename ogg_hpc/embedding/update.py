"""One step of gradient descent on some rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


def apply(
    matrix: NDArray[np.float32],
    rows: NDArray[Any],
    sums: NDArray[np.float32],
    weights: NDArray[np.float32],
    learning_rate: float,
    row_limit: float,
) -> None:
    """Move rows of a matrix against their summed gradients, in place.

    The gradients of a batch are all those at the vectors from before it. A row that takes part in
    very many of them would overshoot by the sum of their steps; such a row moves as if it took
    part in ``row_limit / learning_rate`` of them.

    Parameters
    ----------
    matrix : (n, D) float32
        What is moved.
    rows : (m,) int
        Distinct rows of it.
    sums : (m, D) float32
        Summed gradients.
    weights : (m,) float32
        Summed weights of the terms in each sum.
    learning_rate
        Step size of a term of weight 1.
    row_limit
        Most that ``learning_rate`` times the weight of a row may be.
    """
    _apply(matrix, rows, sums, weights, np.float32(learning_rate), np.float32(row_limit))


@njit(cache=True, nogil=True, error_model="numpy")
def step_size(weight: Any, learning_rate: Any, row_limit: Any) -> Any:
    """Return by how much of its summed gradient a row moves; all are float32."""
    if learning_rate * weight > row_limit:
        return row_limit / weight
    return learning_rate


@njit(cache=True, nogil=True, error_model="numpy")
def _apply(
    matrix: Any, rows: Any, sums: Any, weights: Any, learning_rate: Any, row_limit: Any
) -> None:
    for i in range(len(rows)):
        row = rows[i]
        step = step_size(weights[i], learning_rate, row_limit)
        for j in range(matrix.shape[1]):
            matrix[row, j] -= step * sums[i, j]
