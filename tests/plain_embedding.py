"""Stochastic gradient descent on whole matrices, pair by pair: slow, and plainly right."""

import numpy as np

from ogg_hpc.embedding.initial import initial_vectors


def train(model, epoch, batches, learning_rates, staleness=0, window=None):
    """Return the matrices after training, and the summed loss of each batch.

    `batches` holds (sources, contexts, items, places) of all pairs of each batch, from number 0 on.
    With a staleness of 1, gradients are taken at the matrices from before the last batch, except
    for the first batch of each `window` batches.
    """
    X = initial_vectors(np.arange(model.n), model.dim, model.seed).astype(np.float64)
    Y = X if model.tied else np.zeros_like(X)
    before = X.copy(), Y.copy()
    losses = []
    for number, (batch, rate) in enumerate(zip(batches, learning_rates, strict=True)):
        fresh = staleness == 0 or number % (window or len(batches)) == 0
        at_X, at_Y = (X.copy(), Y.copy()) if fresh else before
        before = X.copy(), Y.copy()
        losses.append(_step(model, epoch, number, batch, rate, at_X, at_Y, X, Y))
    return X, Y, np.array(losses)


def _step(model, epoch, number, batch, rate, at_X, at_Y, X, Y):
    sources, contexts, items, places = batch
    sampler, K, S = model.negative_sampler, model.negative, model.shared_negatives
    if S:
        shared = sampler.of_batch(epoch, number, S)
        negatives, weight = [shared] * len(sources), K / S
    else:
        negatives, weight = sampler.of_pairs(epoch, items, places, K), 1.0
    steps = [np.zeros_like(X), np.zeros_like(Y)]
    weights = [np.zeros(len(X)), np.zeros(len(Y))]
    if model.tied:
        steps[1], weights[1] = steps[0], weights[0]
    loss = 0.0
    for u, c, others in zip(sources, contexts, negatives, strict=True):
        terms = [(c, 1.0, 1.0), *((v, -1.0, weight) for v in others)]
        for v, sign, share in terms:
            score = sign * (at_X[u] @ at_Y[v])
            loss += share * np.logaddexp(0, -score)
            slope = -sign * share / (1 + np.exp(score))
            steps[0][u] += slope * at_Y[v]
            steps[1][v] += slope * at_X[u]
            weights[0][u] += share
            weights[1][v] += share
    matrices = [(X, steps[0], weights[0]), (Y, steps[1], weights[1])]
    for matrix, step, weight_sums in matrices[: 1 if model.tied else 2]:
        shrunk = np.minimum(rate, model.row_limit / np.maximum(weight_sums, 1e-30))
        matrix -= shrunk[:, None] * step
    return loss
