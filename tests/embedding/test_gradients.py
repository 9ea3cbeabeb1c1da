"""Loss and gradients of a batch."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from pair_batches import batches, draw_batch
from plain_gradients import reference_gradients

from ogg_hpc.embedding.gradients import (
    Scores,
    gradients,
    gradients_of_slopes,
    scores,
    slopes,
)
from ogg_hpc.embedding.objective import SGNS


def loss_of_ids(X, Y, sources, contexts, negatives, negative):
    """Return the loss, one term after another as the definition has it."""
    total = 0.0
    for p, (u, v) in enumerate(zip(sources, contexts, strict=True)):
        shared = negatives.ndim == 1
        weight = negative / len(negatives) if shared else 1
        total += np.logaddexp(0, -(X[u] @ Y[v]))
        for w in negatives if shared else negatives[p]:
            total += weight * np.logaddexp(0, X[u] @ Y[w])
    return total


@given(batches())
@settings(max_examples=60, deadline=None)
def test_sums_are_the_slopes_of_the_loss(drawn):
    X, Y, batch = drawn.compact()
    found = reference_gradients(SGNS(), X, Y, batch)
    X, Y = X.astype(float), Y.astype(float)
    Y = X if batch.tied else Y

    def loss(X, Y):
        lists = (batch.sources, batch.contexts, batch.negatives)
        return loss_of_ids(X, Y, *lists, drawn.negative)

    assert found.loss == pytest.approx(loss(X, Y), rel=1e-6, abs=1e-6)
    random = np.random.default_rng(0)
    for matrix, sums in ((X, found.source_sums), (Y, found.context_sums)):
        step = 1e-5 * random.standard_normal(matrix.shape)
        ahead, behind = (
            loss(*(M + sign * step if M is matrix else M for M in (X, Y))) for sign in (1, -1)
        )
        assert ahead - behind == pytest.approx(2 * (step * sums).sum(), rel=1e-3, abs=1e-9)


@given(batches())
@settings(max_examples=100, deadline=None)
def test_gradients_are_those_of_the_reference(drawn):
    X, Y, batch = drawn.compact()
    expected = reference_gradients(SGNS(), X, Y, batch)
    found = gradients(SGNS(), X, Y, batch)
    assert found.loss == pytest.approx(expected.loss, rel=1e-5)
    for name in expected._fields[1:]:
        one, other = getattr(found, name), getattr(expected, name)
        assert one.dtype == np.float32
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4, err_msg=name)


@given(batches())
@settings(max_examples=40, deadline=None)
def test_columns_may_be_cut_between_those_who_compute(drawn):
    X, Y, batch = drawn.compact()
    cuts = [0, X.shape[1] // 3, X.shape[1]]
    parts = []
    for lo, hi in pairwise(cuts):
        left = np.ascontiguousarray(X[:, lo:hi])
        parts.append((left, left if batch.tied else np.ascontiguousarray(Y[:, lo:hi])))
    partial = [scores(*part, batch) for part in parts]
    found = slopes(SGNS(), Scores(*map(sum, zip(*partial, strict=True))), batch)
    of_parts = [gradients_of_slopes(*part, batch, found) for part in parts]
    expected = gradients(SGNS(), X, Y, batch)
    assert found.loss == pytest.approx(expected.loss, rel=1e-5)
    for name in ("source_sums", "context_sums"):
        together = np.hstack([getattr(part, name) for part in of_parts])
        np.testing.assert_allclose(together, getattr(expected, name), rtol=1e-4, atol=1e-4)
    for part in of_parts:
        np.testing.assert_array_equal(part.source_weights, expected.source_weights)
        np.testing.assert_array_equal(part.context_weights, expected.context_weights)


@pytest.mark.parametrize("shared", [0, 3, 64])
@pytest.mark.parametrize("negative", [1, 5])
def test_loss_starts_at_one_log_2_for_each_term(shared, negative):
    drawn = draw_batch(np.random.default_rng(1), 50, 200, 16, negative, shared)
    X, Y, batch = drawn.compact()
    found = gradients(SGNS(), X, np.zeros_like(Y), batch)
    assert found.loss / 200 == pytest.approx((negative + 1) * np.log(2), rel=1e-6)


def test_terms_of_a_hub_are_all_counted():
    # One source with 30 pairs, K = 5: shared or not, 180 terms meet it, 30 of pairs its contexts.
    random = np.random.default_rng(2)
    for shared in (0, 10):
        drawn = draw_batch(random, 20, 30, 4, 5, shared)._replace(sources=np.full(30, 7, np.int32))
        found = gradients(SGNS(), *drawn.compact())
        assert found.source_weights.tolist() == [180]
        assert found.context_weights.sum() == pytest.approx(180)
