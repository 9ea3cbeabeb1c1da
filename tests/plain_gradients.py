"""Loss and gradients of a batch, term after term as the definition has them, for tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from ogg_hpc.embedding.batch import CompactBatch
from ogg_hpc.embedding.gradients import Gradients, Vectors
from ogg_hpc.embedding.objective import Objective


def reference_gradients(
    objective: Objective, X: Vectors, Y: Vectors, batch: CompactBatch
) -> Gradients:
    """Return what `gradients` does, by one row of a table for each term of the loss."""
    own_negatives = np.broadcast_to(
        batch.negatives, (len(batch.sources), batch.negatives.shape[-1])
    )
    terms: list[tuple[Any, Any, float]] = [(batch.contexts, objective.positive, 1.0)]
    terms += [(one, objective.negative, batch.negative_weight) for one in own_negatives.T]
    loss = 0.0
    source_sums = np.zeros(X.shape)
    source_weights = np.zeros(len(X))
    context_sums = source_sums if batch.tied else np.zeros(Y.shape)
    context_weights = source_weights if batch.tied else np.zeros(len(Y))
    for others, terms_loss, weight in terms:
        x, y = X[batch.sources].astype(float), Y[others].astype(float)
        losses, slopes = terms_loss(np.sum(x * y, axis=1))
        loss += weight * losses.sum()
        np.add.at(source_sums, batch.sources, weight * slopes[:, None] * y)
        np.add.at(context_sums, others, weight * slopes[:, None] * x)
        np.add.at(source_weights, batch.sources, weight)
        np.add.at(context_weights, others, weight)
    single = [
        array.astype(np.float32)
        for array in (source_sums, source_weights, context_sums, context_weights)
    ]
    return Gradients(float(loss), *single)
