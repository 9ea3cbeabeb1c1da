"""Losses of scores: the shipped one, and one of a user's own."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pair_batches import batches
from plain_gradients import reference_gradients

from ogg_hpc.embedding.gradients import gradients
from ogg_hpc.embedding.objective import SGNS, make_objective
from ogg_hpc.embedding.softplus import softplus
from ogg_hpc.errors import SettingsError

EXAMPLE = Path(__file__).parents[2] / "examples" / "hinge.py"


def test_softplus_and_its_slope_are_off_by_less_than_a_millionth():
    x = np.concatenate([np.linspace(-100, 100, 200_001), np.linspace(-1, 1, 100_001)])
    x = x.astype(np.float32)
    values, slopes = softplus(x)
    exact = np.logaddexp(0, x.astype(float))
    assert np.max(np.abs(values - exact) / np.maximum(exact, 1)) < 1e-6
    assert np.max(np.abs(slopes - np.exp(x - exact))) < 1e-6


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_not_finite_has_no_finite_loss(bad):
    scores = np.array([0, bad, 1], np.float32)
    for losses, _ in (SGNS().positive(scores), SGNS().negative(scores)):
        assert np.isfinite(losses).tolist() == [True, False, True]


@given(st.floats(-30, 30))
def test_slopes_are_those_of_the_losses(score):
    step = 1e-5
    for loss in (SGNS().positive, SGNS().negative):
        (behind, ahead), _ = loss(np.array([score - step, score + step]))
        _, slope = loss(np.array([score]))
        assert (ahead - behind) / (2 * step) == pytest.approx(slope[0], abs=1e-5)


@given(drawn=batches())
@settings(max_examples=30, deadline=None)
def test_an_objective_of_ones_own_is_trained_as_the_reference_has_it(drawn):
    hinge = make_objective(f"{EXAMPLE}:Hinge")
    X, Y, batch = drawn.compact()
    # Whole numbers have exact scores, which stand on either side of the kink in both.
    X = np.round(2 * X)
    Y = X if batch.tied else np.round(2 * Y)
    expected, found = (form(hinge, X, Y, batch) for form in (reference_gradients, gradients))
    assert found.loss == pytest.approx(expected.loss, rel=1e-5)
    np.testing.assert_allclose(found.source_sums, expected.source_sums, rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(found.context_sums, expected.context_sums, rtol=1e-4, atol=1e-3)


def test_a_class_that_is_no_objective_is_refused(tmp_path):
    file = tmp_path / "own.py"
    file.write_text("class Own:\n    pass\n")
    with pytest.raises(SettingsError, match="has to be a subclass of"):
        make_objective(f"{file}:Own")
