"""Training on one rank, batch after batch: what every strategy has to agree with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from plain_gradients import reference_gradients

from ogg_hpc.embedding.batch import compact
from ogg_hpc.embedding.divergence import check_finite
from ogg_hpc.embedding.initial import initial_vectors
from ogg_hpc.embedding.negatives import NegativeSampler
from ogg_hpc.embedding.objective import make_objective
from ogg_hpc.embedding.sampling.sampler import Sampler
from ogg_hpc.embedding.schedule import batch_items, learning_rates, shared_negatives
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.embedding.update import apply


class Trained(NamedTuple):
    """What training leaves.

    Attributes
    ----------
    vectors, context : (n, D) float32
        One array under both names where they are tied.
    losses : (batches,) float64
        Mean loss of a pair in each batch, at the vectors from before it.
    """

    vectors: NDArray[np.float32]
    context: NDArray[np.float32]
    losses: NDArray[np.float64]


def train_serially(
    sampler: Sampler, n: int, settings: EmbedSettings, tied: bool = False
) -> Trained:
    """Train by the plain form of each step, slow and obvious.

    Parameters
    ----------
    sampler
        Draws the pairs.
    n
        Nodes.
    settings
        Of the run.
    tied
        Whether contexts have the vectors of sources.
    """
    objective = make_objective(settings.objective)
    seed = settings.seed
    negatives = NegativeSampler(sampler.negative_weights(), settings.negative_power, seed)
    vectors = initial_vectors(np.arange(n), settings.dim, seed)
    context = vectors if tied else np.zeros_like(vectors)
    width = batch_items(settings, sampler.pairs_per_item)
    batches = -(-sampler.items // width)
    rates = learning_rates(
        settings, np.arange(settings.epochs * batches), settings.epochs * batches
    )
    shared = shared_negatives(settings)
    losses = np.zeros(len(rates))
    for step, rate in enumerate(rates):
        epoch, batch = divmod(step, batches)
        items = np.arange(batch * width, min((batch + 1) * width, sampler.items))
        pairs = sampler.sample(epoch, items)
        if shared:
            drawn = negatives.of_batch(epoch, batch, shared)
        else:
            places = np.concatenate([np.arange(count) for count in pairs.counts])
            of_items = np.repeat(items, pairs.counts)
            drawn = negatives.of_pairs(epoch, of_items, places, settings.negative)
        ids = (pairs.sources, pairs.contexts, drawn)
        own, others, small = compact(*ids, settings.negative, tied)
        X = vectors[own]
        Y = X if tied else context[others]
        found = reference_gradients(objective, X, Y, small)
        check_finite(np.array([found.loss]), epoch, batch, rates[[step]])
        apply(vectors, own, *found[1:3], rate, settings.row_limit)
        if not tied:
            apply(context, others, *found[3:], rate, settings.row_limit)
        losses[step] = found.loss / max(len(pairs), 1)
    return Trained(vectors, context, losses)
