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
from numpy.typing import NDArray

from ogg_hpc.embedding.batch import CompactBatch
from ogg_hpc.embedding.gradient_kernels import add_pair_gradients, add_rows, pair_scores
from ogg_hpc.embedding.objective import Objective
from ogg_hpc.runtime.device import CPUDevice, Device

HOST = CPUDevice()
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
        Summed gradients. In a tied batch both are the same, all sums.
    source_weights, context_weights : (m_s,), (m_c,) float32
        Summed weights of the terms in each sum.
    """

    loss: float
    source_sums: Vectors
    source_weights: NDArray[np.float32]
    context_sums: Vectors
    context_weights: NDArray[np.float32]


def gradients(
    objective: Objective, X: Vectors, Y: Vectors, batch: CompactBatch, device: Device = HOST
) -> Gradients:
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
    device
        What computes; the arrays given and returned are the host's.
    """
    X = device.from_host(X)
    Y = X if batch.tied else device.from_host(Y)
    batch = batch.moved(device)
    found = slopes(objective, scores(X, Y, batch, device), batch, device)
    result = gradients_of_slopes(X, Y, batch, found, device)
    return Gradients(result.loss, *map(device.to_host, result[1:]))


def scores(X: Vectors, Y: Vectors, batch: CompactBatch, device: Device = HOST) -> Scores:
    """Return the scores of a batch; of some columns of X and Y, these columns' part of them.

    All arrays are of the device, here and in the functions below.
    """
    positive, negative = pair_scores(device, X, Y, batch)
    if batch.shared:
        negative = X @ Y[batch.negatives].T
    return Scores(positive, negative)


def slopes(
    objective: Objective, scores: Scores, batch: CompactBatch, device: Device = HOST
) -> Slopes:
    """Return the loss of a batch and its derivatives by the (whole) scores."""
    losses, positive = objective.positive(scores.positive)
    loss = losses.sum(dtype=np.float64)
    losses, negative = objective.negative(scores.negative)
    weights = batch.negative_weight
    if batch.shared:
        # The negative terms of a pair are those of its source: each row counts for its pairs.
        pairs = _counts(device, batch.sources, len(scores.negative))
        weights = (weights * pairs).astype(np.float32)[:, None]
    loss += (weights * losses).sum(dtype=np.float64)
    negative = weights * negative
    return Slopes(float(loss), *(s.astype(np.float32, copy=False) for s in (positive, negative)))


def gradients_of_slopes(
    X: Vectors, Y: Vectors, batch: CompactBatch, slopes: Slopes, device: Device = HOST
) -> Gradients:
    """Return gradients from slopes; of some columns of X and Y, these columns of them."""
    xp = device.xp
    if batch.shared:
        source_sums = slopes.negative @ Y[batch.negatives]
        context_sums = source_sums if batch.tied else xp.zeros_like(Y)
        add_rows(device, batch.negatives, slopes.negative.T @ X, context_sums)
    else:
        source_sums = xp.zeros_like(X)
        context_sums = source_sums if batch.tied else xp.zeros_like(Y)
    sums = source_sums, context_sums
    add_pair_gradients(device, X, Y, batch, slopes.positive, slopes.negative, *sums)
    weights = row_weights(batch, len(X), len(Y), device)
    return Gradients(slopes.loss, source_sums, weights[0], context_sums, weights[1])


def row_weights(
    batch: CompactBatch, sources: int, contexts: int, device: Device = HOST
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the summed weights of the terms that each row of X, and of Y, takes part in.

    Parameters
    ----------
    batch
        Who meets whom.
    sources, contexts
        Rows of X, and of Y.
    """
    negatives, weight = batch.negatives, batch.negative_weight
    a_source = 1.0 + weight * negatives.shape[-1]
    a_negative = weight * (len(batch.sources) if batch.shared else 1)
    of_sources = a_source * _counts(device, batch.sources, sources)
    of_contexts = a_negative * _counts(device, negatives.ravel(), contexts)
    of_contexts += _counts(device, batch.contexts, contexts)
    if batch.tied:
        of_sources = of_contexts = of_sources + of_contexts
    return of_sources.astype(np.float32), of_contexts.astype(np.float32)


def _counts(device: Device, slots: NDArray[np.int32], rows: int) -> Any:
    """Return how often each row is named; CuPy counts nothing in an array that is empty."""
    xp = device.xp
    return xp.bincount(slots, minlength=rows) if len(slots) else xp.zeros(rows, np.int64)
