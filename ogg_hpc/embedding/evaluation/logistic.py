"""Logistic regression of many classes on the same vectors, each class against the rest.

The objective of each class is that of LIBLINEAR (Fan et al., JMLR 2008): ``|w|² / 2 + C Σ log(1 +
exp(-y w·x))``, where x has a last column of ones and y is 1 or -1. It has one minimum, which
Newton steps find for all classes at once: their products are those of matrices, not of vectors.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

_STEPS, _INNER_STEPS, _HALVINGS = 100, 100, 30
_TOLERANCE = 1e-6  # of the gradient, beside its length at the start
_INNER_TOLERANCE = 0.1  # of a Newton step's residual


def fit_logistic(X: Matrix, members: NDArray[np.bool_], C: float) -> Matrix:
    """Return the (D + 1, c) weights of classes, the last row those of the constant.

    Parameters
    ----------
    X
        (n, D) vectors.
    members
        (n, c) whether a vector has a class.
    C
        Inverse strength of the regularisation.
    """
    X = with_constant(X)
    y = np.where(members, 1.0, -1.0)
    weights = np.zeros((X.shape[1], members.shape[1]))
    losses, gradients, curvatures = _at(weights, X, y, C)
    enough = _TOLERANCE * np.linalg.norm(gradients, axis=0)
    for _ in range(_STEPS):
        if (np.linalg.norm(gradients, axis=0) <= enough).all():
            break
        steps = _newton_steps(X, gradients, curvatures)
        slopes = (steps * gradients).sum(axis=0)
        reach = np.ones(len(slopes))
        for _ in range(_HALVINGS):
            tried = _at(weights + reach * steps, X, y, C)
            # Rounding hides a fall of the loss near the minimum.
            worse = tried[0] > losses + 1e-4 * reach * slopes + 1e-12 * np.abs(losses)
            if not worse.any():
                break
            reach[worse] /= 2
        weights += reach * steps
        losses, gradients, curvatures = tried
    return weights


def with_constant(X: Matrix) -> Matrix:
    """Return vectors with a last column of ones."""
    return np.hstack([X, np.ones((len(X), 1))])


def _at(weights: Matrix, X: Matrix, y: Matrix, C: float) -> tuple[Matrix, Matrix, Matrix]:
    """Return the (c,) losses, their gradients, and the (n, c) second derivatives by the scores."""
    margins = y * (X @ weights)
    losses = 0.5 * (weights**2).sum(axis=0) + C * np.logaddexp(0, -margins).sum(axis=0)
    wrong = np.exp(-np.logaddexp(0, margins))
    return losses, weights - C * (X.T @ (y * wrong)), C * wrong * (1 - wrong)


def _newton_steps(X: Matrix, gradients: Matrix, curvatures: Matrix) -> Matrix:
    """Solve for the steps of all classes by conjugate gradients."""
    steps, residuals = np.zeros_like(gradients), -gradients
    directions, lengths = residuals.copy(), (residuals**2).sum(axis=0)
    enough = _INNER_TOLERANCE**2 * lengths
    for _ in range(_INNER_STEPS):
        left = lengths > enough
        if not left.any():
            break
        images = directions + X.T @ (curvatures * (X @ directions))
        along = np.where(left, lengths / np.where(left, (directions * images).sum(axis=0), 1), 0)
        steps += along * directions
        residuals -= along * images
        before, lengths = lengths, (residuals**2).sum(axis=0)
        directions = residuals + np.where(left, lengths / np.where(left, before, 1), 0) * directions
    return steps
