"""The compiled loops over the pairs of a batch.

A pair meets its context and K negatives of its own; K is 0 where all pairs share negatives, which
matrix products take care of. On a device with kernels, `gradients.cu` does the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from ogg_hpc.embedding.batch import CompactBatch
from ogg_hpc.runtime.device import Device

_SOURCE = Path(__file__).with_name("gradients.cu")
# Threads of a GPU that share one inner product.
_LANES = 8
# Sums may be taken in any order; numbers that are not finite stay so.
_compiled = njit(
    cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"}
)


def pair_scores(device: Device, X: Any, Y: Any, batch: CompactBatch) -> tuple[Any, Any]:
    """Return the inner products of each pair's source with its context and own negatives.

    Parameters
    ----------
    device
        Where the arrays are.
    X, Y : (m_s, D), (m_c, D) float32
        Rows, or some columns of them.
    batch
        Who meets whom.

    Returns
    -------
    (k,) float32 and (k, K) float32
    """
    negatives = _own_negatives(batch)
    k, own = negatives.shape
    kernels = device.kernels(_SOURCE)
    if kernels is None:
        positive, negative = np.empty(k, np.float32), np.empty((k, own), np.float32)
        _scores(X, Y, batch.sources, batch.contexts, negatives, positive, negative)
        return positive, negative
    positive = device.xp.zeros(k, np.float32)
    negative = device.xp.zeros((k, own), np.float32)
    lists = (batch.sources, batch.contexts, negatives)
    threads = _LANES * k * (1 + own)
    kernels.pair_scores(threads, k, own, X.shape[1], *lists, X, Y, positive, negative)
    return positive, negative


def add_pair_gradients(
    device: Device,
    X: Any,
    Y: Any,
    batch: CompactBatch,
    positive: Any,
    negative: Any,
    source_sums: Any,
    context_sums: Any,
) -> None:
    """Add the gradients of each pair, with its own negatives, to those of the rows, in place.

    Sums on a GPU are added in no fixed order: they differ by rounding from run to run.

    Parameters
    ----------
    device, X, Y, batch
        As in `pair_scores`.
    positive, negative : (k,), (k, K) float32
        Slopes at the scores.
    source_sums, context_sums : (m_s, D), (m_c, D) float32
        What is added to; may be the same array.
    """
    negatives = _own_negatives(batch)
    k, own = negatives.shape
    lists = (batch.sources, batch.contexts, negatives)
    kernels = device.kernels(_SOURCE)
    if kernels is None:
        _add_gradients(X, Y, *lists, positive, negative, source_sums, context_sums)
        return
    matrices = (X, Y, positive, negative, source_sums, context_sums)
    kernels.add_pair_gradients(k * X.shape[1], k, own, X.shape[1], *lists, *matrices)


def add_rows(device: Device, places: Any, rows: Any, sums: Any) -> None:
    """Add rows to those of a matrix in some places, in place.

    Parameters
    ----------
    device
        Where the arrays are.
    places : (m,) int32
        Which row of `sums` each is added to; may name one often.
    rows, sums : (m, D), (m_c, D) float32
    """
    kernels = device.kernels(_SOURCE)
    if kernels is None:
        _add_rows(places, rows, sums)
    else:
        kernels.add_rows(rows.size, rows.size, rows.shape[1], places, rows, sums)


def _own_negatives(batch: CompactBatch) -> Any:
    return batch.contexts.reshape(-1, 1)[:, :0] if batch.shared else batch.negatives


@_compiled
def _scores(
    X: Any, Y: Any, sources: Any, contexts: Any, negatives: Any, positive: Any, negative: Any
) -> None:
    for p in range(len(sources)):
        x = X[sources[p]]
        positive[p] = _dot(x, Y[contexts[p]])
        for i in range(negatives.shape[1]):
            negative[p, i] = _dot(x, Y[negatives[p, i]])


@_compiled
def _add_gradients(
    X: Any,
    Y: Any,
    sources: Any,
    contexts: Any,
    negatives: Any,
    positive: Any,
    negative: Any,
    source_sums: Any,
    context_sums: Any,
) -> None:
    for p in range(len(sources)):
        u, v = sources[p], contexts[p]
        _add(positive[p], Y[v], source_sums[u])
        _add(positive[p], X[u], context_sums[v])
        for i in range(negatives.shape[1]):
            v = negatives[p, i]
            _add(negative[p, i], Y[v], source_sums[u])
            _add(negative[p, i], X[u], context_sums[v])


@_compiled
def _add_rows(places: Any, rows: Any, sums: Any) -> None:
    for i in range(len(places)):
        _add(np.float32(1), rows[i], sums[places[i]])


@_compiled
def _dot(x: Any, y: Any) -> Any:
    total = np.float32(0)
    for j in range(len(x)):
        total += x[j] * y[j]
    return total


@_compiled
def _add(factor: Any, row: Any, total: Any) -> None:
    for j in range(len(row)):
        total[j] += factor * row[j]
