import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.errors import InputError
from ogg_hpc.policies.coverage_messages import NETWORK, coverage_form, stored_coverage_form
from ogg_hpc.policies.file import load_policy, save_parameters

ARRAYS = {
    name: np.array([value]) for name, value in [("message", 1.2), ("answer", -1.4), ("score", 0.1)]
}


@pytest.mark.parametrize("n", [0, 1, 2, 15_000, 1_000_000])
@pytest.mark.parametrize("exponents", [(1.2, -1.4, 0.1), (40.0, 3.0, 2.0), (-3.0, -2.0, -1.0)])
def test_no_sum_over_closed_neighbourhoods_overflows(n, exponents):
    form = coverage_form(n, 0.0, *np.array(exponents)[:, None])
    assert n * int(form.messages.max()) < 2**63
    assert n * form.largest < 2**63
    assert form.messages[0] == 0
    assert (form.messages[1:] > 0).all()


@given(st.lists(st.sampled_from([-1e308, -900.0, 0.0, 7.5, 1e308]), min_size=3, max_size=3))
def test_any_finite_parameters_give_finite_tables(parameters):
    form = coverage_form(100, 0.0, *np.array(parameters)[:, None])
    assert np.isfinite(form.answer_by_sum).all()
    assert np.isfinite(form.score_by_span * 2.0**62).all()
    assert form.score_by_span[0] == 0
    assert (form.messages[1:] > 0).all()


def test_parameters_round_trip_through_a_file(tmp_path):
    save_parameters(tmp_path / "own.npz", NETWORK, {}, ARRAYS, "mds", {})
    form = stored_coverage_form(load_policy(str(tmp_path / "own.npz"), "mds"), 50, 0.05)
    expected = coverage_form(50, 0.05, **ARRAYS)
    for name in ("messages", "answer_by_sum", "score_by_span"):
        np.testing.assert_array_equal(getattr(form, name), getattr(expected, name))


@pytest.mark.parametrize(
    "arrays", [{}, ARRAYS | {"score": np.zeros(2)}, ARRAYS | {"more": np.zeros(1)}]
)
def test_parameters_that_do_not_fit_are_refused(tmp_path, arrays):
    save_parameters(tmp_path / "bad.npz", NETWORK, {}, arrays, "mds", {})
    with pytest.raises(InputError, match="do not fit coverage-messages"):
        stored_coverage_form(load_policy(str(tmp_path / "bad.npz"), "mds"), 50, 0.05)
