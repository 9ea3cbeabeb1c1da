"""Loss and gradients of a batch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ogg_hpc.embedding.batch import compact
from ogg_hpc.embedding.gradients import gradients
from ogg_hpc.embedding.objective import SGNS

DIMS = st.sampled_from([1, 2, 7, 16, 100, 128])


@st.composite
def batches(draw):
    """Draw ids of pairs and negatives, with many duplicates, and vectors of all nodes."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, k, dim = draw(st.integers(1, 12)), draw(st.integers(0, 40)), draw(DIMS)
    negative, shared, tied = draw(st.integers(1, 6)), draw(st.booleans()), draw(st.booleans())
    shape = draw(st.integers(1, 9)) if shared else (k, negative)
    ids = draw(st.sampled_from([np.int32, np.int64]))
    pairs = random.integers(0, n, (2, k)).astype(ids)
    negatives = random.integers(0, n, shape).astype(ids)
    X, Y = random.standard_normal((2, n, dim)).astype(np.float32)
    return X, X if tied else Y, *pairs, negatives, negative, tied


def loss_of_ids(X, Y, sources, contexts, negatives, negative):
    """Return the loss, one term after another as the definition has it."""
    total = 0.0
    for p, (u, v) in enumerate(zip(sources, contexts, strict=True)):
        total += np.logaddexp(0, -(X[u] @ Y[v]))
        own, weight = (
            (negatives, negative / len(negatives))
            if negatives.ndim == 1
            else (
                negatives[p],
                1,
            )
        )
        total += weight * sum(np.logaddexp(0, X[u] @ Y[w]) for w in own)
    return total


@given(batches())
@settings(max_examples=60, deadline=None)
def test_loss_and_gradients_are_those_of_the_definition(drawn):
    X, Y, sources, contexts, negatives, negative, tied = drawn
    own, others, batch = compact(sources, contexts, negatives, negative, tied)
    found = gradients(SGNS(), X[own], X[own] if tied else Y[others], batch)
    X, Y = X.astype(float), Y.astype(float)
    if tied:
        Y = X
    ids = (sources, contexts, negatives, negative)
    assert found.loss == pytest.approx(loss_of_ids(X, Y, *ids), rel=1e-5, abs=1e-5)

    direction = np.random.default_rng(0).standard_normal
    for matrix, rows, sums in ((X, own, found.source_sums), (Y, others, found.context_sums)):
        step = np.zeros_like(matrix)
        step[rows] = direction(sums.shape) * 1e-5
        higher, lower = (
            loss_of_ids(*((M + sign * step) if M is matrix else M for M in (X, Y)), *ids)
            for sign in (1, -1)
        )
        expected = (step[rows] * sums).sum() * 2
        assert higher - lower == pytest.approx(expected, rel=1e-3, abs=1e-8)
