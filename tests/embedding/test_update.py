"""Steps of rows, and what keeps rows in many pairs from overshooting."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.embedding.batch import compact
from ogg_hpc.embedding.gradients import gradients
from ogg_hpc.embedding.initial import initial_vectors
from ogg_hpc.embedding.objective import SGNS
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.embedding.update import apply


@given(st.integers(0, 2**32), st.floats(0.001, 1), st.floats(0.1, 10))
def test_a_row_moves_by_its_sum_up_to_the_limit(seed, rate, limit):
    random = np.random.default_rng(seed)
    matrix, sums = random.standard_normal((9, 5)), random.standard_normal((4, 5))
    weights = random.exponential(1 / rate, 4)
    rows = random.permutation(9)[:4]
    expected = matrix.copy()
    steps = rate * np.minimum(1, limit / (rate * weights))
    expected[rows] -= steps[:, None] * sums
    matrix, sums, weights = (array.astype(np.float32) for array in (matrix, sums, weights))
    apply(matrix, rows, sums, weights, rate, limit)
    np.testing.assert_allclose(matrix, expected, rtol=1e-4, atol=1e-5)


def test_a_row_without_terms_stays():
    matrix = np.ones((2, 3), np.float32)
    apply(matrix, np.arange(2), np.zeros_like(matrix), np.zeros(2, np.float32), 0.1, 1.0)
    assert (matrix == 1).all()


def losses_on_a_star(row_limit, shared, batches=40, leaves=2000, dim=16):
    """Return mean losses of huge batches of pairs of a hub and its leaves, both ways."""
    random = np.random.default_rng(0)
    X = initial_vectors(np.arange(leaves + 1), dim, seed=1)
    Y = np.zeros_like(X)
    hub, leaf = np.zeros(leaves, np.int32), np.arange(1, leaves + 1, dtype=np.int32)
    sources, contexts = np.tile([hub, leaf], 10), np.tile([leaf, hub], 10)
    sources, contexts = sources.ravel(), contexts.ravel()
    losses = []
    for _ in range(batches):
        shape = shared or (len(sources), 5)
        negatives = random.integers(0, leaves + 1, shape).astype(np.int32)
        own, others, batch = compact(sources, contexts, negatives, 5)
        found = gradients(SGNS(), X[own], Y[others], batch)
        apply(X, own, *found[1:3], 0.025, row_limit)
        apply(Y, others, *found[3:], 0.025, row_limit)
        losses.append(found.loss / len(sources))
    return np.array(losses)


@pytest.mark.parametrize("shared", [0, 64])
def test_hubs_in_huge_batches_do_not_diverge(shared):
    losses = losses_on_a_star(EmbedSettings().row_limit, shared, batches=60)
    assert np.isfinite(losses).all()
    assert losses[-10:].mean() < 0.97 * losses[0]
    assert losses.max() < 1.1 * losses[0]


def test_without_a_limit_they_would():
    with np.errstate(all="ignore"):
        losses = losses_on_a_star(np.inf, 0)
    assert not np.nanmax(losses) < 10 * losses[0]
