"""Loss and gradients of a batch, on the rows that take part in it.

The gradients of all terms are taken at the same vectors and summed for each row, so that a batch
may be cut between ranks: sums of the parts are the sum of the whole. Terms meet a row by their
*weights*, which are summed too: 1 for each pair, and for each negative of a pair its weight.

An objective sees scores alone, so there are two phases: `scores`, which are sums over columns, and
`gradients_of_slopes`. Both may be had for some of the columns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ogg_hpc.embedding.batch import CompactBatch
from ogg_hpc.embedding.objective import Objective

Vectors = NDArray[np.float32]


class Scores(NamedTuple):
    """Inner products of a batch, or partial sums of them.

    Attributes
    ----------
    positive : (k,) float32
        Of the pairs.
    negative : (k, K) or (m_s, S) float32
        Of each pair's source with its own negatives; of each row of X with the shared ones.
    """

    positive: NDArray[np.float32]
    negative: NDArray[np.float32]


class Slopes(NamedTuple):
    """Derivatives of a batch's loss by its scores, with all weights in them.

    Attributes
    ----------
    loss : float
        Summed over pairs.
    positive, negative
        As in `Scores`.
    """

    loss: float
    positive: NDArray[np.float32]
    negative: NDArray[np.float32]


class Gradients(NamedTuple):
    """What a batch, or a part of it, asks of the rows of X and Y.

    Attributes
    ----------
    loss : float
        Summed over pairs.
    source_sums, context_sums : (m_s, D), (m_c, D) float32
        Summed gradients. In a tied batch both names are of one array, with all sums.
    source_weights, context_weights : (m_s,), (m_c,) float32
        Summed weights of the terms in each sum.
    """

    loss: float
    source_sums: Vectors
    source_weights: NDArray[np.float32]
    context_sums: Vectors
    context_weights: NDArray[np.float32]


def gradients(objective: Objective, X: Vectors, Y: Vectors, batch: CompactBatch) -> Gradients:
    """Return loss and gradients of a batch.

    Parameters
    ----------
    objective
        The loss of a score.
    X : (m_s, D) float32
        Vectors of the distinct sources.
    Y : (m_c, D) float32
        Context vectors of the distinct contexts and negatives; X itself in a tied batch.
    batch
        Who meets whom.
    """
    return gradients_of_slopes(X, Y, batch, slopes(objective, scores(X, Y, batch), batch))


def scores(X: Vectors, Y: Vectors, batch: CompactBatch) -> Scores:
    """Return the scores of a batch; of some columns of X and Y, these columns' part of them."""
    own = X[batch.sources]
    positive = np.einsum("kd,kd->k", own, Y[batch.contexts])
    if batch.shared:
        return Scores(positive, X @ Y[batch.negatives].T)
    return Scores(positive, np.einsum("kd,knd->kn", own, Y[batch.negatives]))


def slopes(objective: Objective, scores: Scores, batch: CompactBatch) -> Slopes:
    """Return the loss of a batch and its derivatives by the (whole) scores."""
    losses, positive = objective.positive(scores.positive)
    negative_losses, negative = objective.negative(scores.negative)
    weights = np.full(1, batch.negative_weight, np.float32)
    if batch.shared:
        # The negative terms of a pair are those of its source: each row counts for its pairs.
        pairs = np.bincount(batch.sources, minlength=len(scores.negative))
        weights = (batch.negative_weight * pairs).astype(np.float32)[:, None]
    loss = losses.sum(dtype=np.float64) + (weights * negative_losses).sum(dtype=np.float64)
    return Slopes(float(loss), positive.astype(np.float32), (weights * negative).astype(np.float32))


def gradients_of_slopes(X: Vectors, Y: Vectors, batch: CompactBatch, slopes: Slopes) -> Gradients:
    """Return gradients from slopes; of some columns of X and Y, these columns of them."""
    source_sums = np.zeros_like(X)
    context_sums = source_sums if batch.tied else np.zeros_like(Y)
    source_sums += _added(batch.sources, slopes.positive, len(X)) @ Y[batch.contexts]
    context_sums += _added(batch.contexts, slopes.positive, len(Y)) @ X[batch.sources]
    if batch.shared:
        source_sums += slopes.negative @ Y[batch.negatives]
        context_sums += _added(batch.negatives, None, len(Y)) @ (slopes.negative.T @ X)
    else:
        for one, slope in zip(batch.negatives.T, slopes.negative.T, strict=True):
            source_sums += _added(batch.sources, slope, len(X)) @ Y[one]
            context_sums += _added(one, slope, len(Y)) @ X[batch.sources]
    source_weights, context_weights = row_weights(batch, len(X), len(Y))
    return Gradients(slopes.loss, source_sums, source_weights, context_sums, context_weights)


def row_weights(
    batch: CompactBatch, sources: int, contexts: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the summed weights of the terms that each row of X, and of Y, takes part in."""
    negatives, weight = batch.negatives, batch.negative_weight
    a_source = 1.0 + weight * (len(negatives) if batch.shared else negatives.shape[1])
    a_negative = weight * (len(batch.sources) if batch.shared else 1)
    of_sources = a_source * np.bincount(batch.sources, minlength=sources)
    of_contexts = a_negative * np.bincount(negatives.ravel(), minlength=contexts)
    of_contexts += np.bincount(batch.contexts, minlength=contexts)
    if batch.tied:
        of_sources = of_contexts = of_sources + of_contexts
    return of_sources.astype(np.float32), of_contexts.astype(np.float32)


def _added(rows: NDArray[np.int32], weights: NDArray[np.float32] | None, m: int) -> Any:
    """Return the matrix that adds weighted vectors, one a column, to their rows."""
    k = len(rows)
    values = np.ones(k, np.float32) if weights is None else np.ascontiguousarray(weights)
    return scipy.sparse.csc_array((values, rows, np.arange(k + 1, dtype=np.int32)), (m, k))
