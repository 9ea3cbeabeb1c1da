"""Stochastic gradient descent in steps of one source each, on rows that nobody else touches.

A step takes a few pairs of one source, with the negatives that they share. It is what a batch is to
other strategies: its gradients are those at the rows from before it. But as no step waits for other
ranks, steps are so small that they resemble the updates of word2vec.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.embedding.batch import compact
from ogg_hpc.embedding.gradients import gradients
from ogg_hpc.embedding.objective import SGNS, Objective
from ogg_hpc.embedding.softplus import softplus_into
from ogg_hpc.embedding.update import apply

Rows = NDArray[np.float32]
# Of a step: with more of them classes of nodes are told less well.
_MOST_PAIRS = 3


class Steps(NamedTuple):
    """Pairs step by step.

    Attributes
    ----------
    sources : (t,) int32
        Row of each step's source.
    offsets : (t + 1,) int64
        The pairs of step t are ``offsets[t]:offsets[t + 1]``.
    contexts : (k,) int32
        Row of each pair's context.
    """

    sources: NDArray[np.int32]
    offsets: NDArray[np.int64]
    contexts: NDArray[np.int32]


class Negatives(NamedTuple):
    """What the pairs of each step are weighed against.

    Attributes
    ----------
    offsets : (t + 1,) int64
        The negatives of step t are ``offsets[t]:offsets[t + 1]``.
    rows : (s,) int32
        Rows of contexts.
    weight : int
        K: what the negatives of a step weigh together for each of its pairs.
    """

    offsets: NDArray[np.int64]
    rows: NDArray[np.int32]
    weight: int


def longest_step(learning_rate: float, negative: int, row_limit: float) -> int:
    """Return how many pairs a step may take: a few, if no row exceeds `row_limit`; at least one."""
    return max(1, int(min(row_limit / (learning_rate * (1 + negative)), _MOST_PAIRS)))


def cut_into_steps(
    sources: NDArray[np.int32], contexts: NDArray[np.int32], rows: int, longest: int
) -> Steps:
    """Sort pairs by source, and cut those of each source into steps.

    Parameters
    ----------
    sources, contexts : (k,) int32
        Rows of the pairs; those of a source keep their order.
    rows
        Number of rows that sources may have.
    longest
        Most pairs of a step.
    """
    k = len(sources)
    steps = np.empty(k, np.int32), np.empty(k + 1, np.int64), np.empty(k, np.int32)
    count = _cut(sources, contexts, np.zeros(rows + 1, np.int64), longest, *steps)
    return Steps(steps[0][:count], steps[1][: count + 1], steps[2])


def train_steps(
    objective: Objective, X: Rows, Y: Rows, steps: Steps, negatives: Negatives, learning_rate: float
) -> float:
    """Train step after step, in place, and return the summed loss.

    Parameters
    ----------
    objective
        The loss of a score.
    X, Y : (rows, D) float32
        Rows of sources, and of contexts and negatives.
    steps
        The pairs.
    negatives
        What they are weighed against.
    learning_rate
        Step size.
    """
    if type(objective) is not SGNS:
        return train_plainly(objective, X, Y, steps, negatives, learning_rate)
    loss: float = _descend(X, Y, *steps, *negatives, np.float32(learning_rate))
    return loss


def train_plainly(
    objective: Objective, X: Rows, Y: Rows, steps: Steps, negatives: Negatives, learning_rate: float
) -> float:
    """Train as `train_steps` does, each step as a batch of its own."""
    loss = 0.0
    for step, source in enumerate(steps.sources):
        contexts = steps.contexts[steps.offsets[step] : steps.offsets[step + 1]]
        others = negatives.rows[negatives.offsets[step] : negatives.offsets[step + 1]]
        sources = np.full(len(contexts), source)
        source_rows, context_rows, batch = compact(sources, contexts, others, negatives.weight)
        found = gradients(objective, X[source_rows], Y[context_rows], batch)
        for matrix, rows, sums, weights in (
            (X, source_rows, found.source_sums, found.source_weights),
            (Y, context_rows, found.context_sums, found.context_weights),
        ):
            apply(matrix, rows, sums, weights, learning_rate, np.inf)
        loss += found.loss
    return loss


@njit(cache=True, nogil=True)
def _cut(
    sources: Any, contexts: Any, ends: Any, longest: Any,
    step_sources: Any, offsets: Any, sorted_contexts: Any,
) -> int:  # fmt: skip
    for source in sources:
        ends[source + 1] += 1
    for source in range(1, len(ends)):
        ends[source] += ends[source - 1]
    for pair in range(len(sources)):
        source = sources[pair]
        sorted_contexts[ends[source]] = contexts[pair]
        ends[source] += 1
    # Now ends[source] is where the pairs of a source end.
    step = place = 0
    offsets[0] = 0
    for source in range(len(ends) - 1):
        while place < ends[source]:
            place = min(place + longest, ends[source])
            step_sources[step] = source
            step += 1
            offsets[step] = place
    return step


# Sums may be taken in any order, but numbers that are not finite must stay so.
@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})
def _descend(
    X: Any, Y: Any, sources: Any, offsets: Any, contexts: Any,
    negative_offsets: Any, negatives: Any, weight: Any, learning_rate: Any,
) -> float:  # fmt: skip
    dim = X.shape[1]
    longest = 0
    for step in range(len(sources)):
        pairs = offsets[step + 1] - offsets[step]
        longest = max(longest, pairs + negative_offsets[step + 1] - negative_offsets[step])
    rows = np.empty(longest, np.int32)
    scores = np.empty(longest, np.float32)
    losses, slopes = np.empty(longest, np.float32), np.empty(longest, np.float32)
    change = np.empty(dim, np.float32)
    loss = 0.0
    for step in range(len(sources)):
        x = X[sources[step]]
        pairs = offsets[step + 1] - offsets[step]
        others = negative_offsets[step + 1] - negative_offsets[step]
        terms = pairs + others
        for t in range(pairs):
            rows[t] = contexts[offsets[step] + t]
        for t in range(others):
            rows[pairs + t] = negatives[negative_offsets[step] + t]
        for t in range(terms):
            y = Y[rows[t]]
            score = np.float32(0)
            for d in range(dim):
                score += x[d] * y[d]
            scores[t] = -score if t < pairs else score
        softplus_into(scores[:terms], losses, slopes)
        share = np.float32(pairs * weight / max(others, 1))
        for d in range(dim):
            change[d] = 0
        for t in range(terms):
            if t < pairs:
                loss += losses[t]
                slopes[t] *= -learning_rate
            else:
                loss += share * losses[t]
                slopes[t] *= share * learning_rate
            y, slope = Y[rows[t]], slopes[t]
            for d in range(dim):
                change[d] += slope * y[d]
        # Only now, for a row may be met twice in a step.
        for t in range(terms):
            y, slope = Y[rows[t]], slopes[t]
            for d in range(dim):
                y[d] -= slope * x[d]
        for d in range(dim):
            x[d] -= change[d]
    return loss
