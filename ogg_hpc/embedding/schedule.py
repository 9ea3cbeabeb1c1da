"""The size of each batch and of its step."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.embedding.settings import EmbedSettings


def learning_rates(
    settings: EmbedSettings, batches: NDArray[np.int64], total: int
) -> NDArray[np.float64]:
    """Return the step sizes of batches, which fall linearly over a run.

    Parameters
    ----------
    settings
        Of the run.
    batches : (b,) int
        Which batches, counted over all epochs.
    total
        How many batches the run has.
    """
    start, end = settings.learning_rate, settings.learning_rate_end
    return start + (end - start) * np.asarray(batches) / max(total, 1)


def batch_items(settings: EmbedSettings, pairs_per_item: float) -> int:
    """Return how many items a batch takes: as many as give `batch_pairs`, but at least one.

    Parameters
    ----------
    settings
        Of the run.
    pairs_per_item
        Expected pairs of an item of the sampler.
    """
    return max(1, round(settings.batch_pairs / pairs_per_item))


def shared_negatives(settings: EmbedSettings) -> int:
    """Return how many negatives the pairs of a batch share, 0 where each pair has its own.

    A shared negative takes part in ``negative / S`` of each pair. By default there are so many that
    this does not reach the row limit even at the start: a row that is held back there pushes its
    sources less than they push it, and little is learned; but no more than pairs would have of
    their own. Steps of the strategy to rotate take few pairs: twice the negatives of a pair do.
    """
    if settings.negatives == "pair":
        return 0
    if settings.strategy == "rotate":
        return settings.shared_negatives or 2 * settings.negative
    most = settings.negative * settings.batch_pairs
    enough = math.ceil(most * min(1.0, settings.learning_rate / settings.row_limit))
    return settings.shared_negatives or max(settings.negative, enough)
