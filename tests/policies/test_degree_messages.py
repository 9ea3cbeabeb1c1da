import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.errors import InputError
from ogg_hpc.policies.degree_messages import (
    NETWORK,
    TWO_MESSAGES,
    TwoMessageForm,
    message_form,
    named_form,
    one_message,
    two_messages,
)
from ogg_hpc.policies.file import load_policy, save_parameters
from ogg_hpc.policies.scalar_form import ScalarForm


@pytest.mark.parametrize("n", [1, 2, 15_000, 1_000_000])
@pytest.mark.parametrize("first", [TWO_MESSAGES["first"], np.array([40.0, 3.0, 900.0])])
def test_no_sum_over_neighbours_overflows(n, first):
    form = two_messages(n, 0.0, **(TWO_MESSAGES | {"first": first}))
    assert n * int(form.messages.max()) < 2**63
    assert n * form.largest < 2**63
    assert form.messages[0] == 0
    assert (form.messages[1:] > 0).all()


@given(st.lists(st.sampled_from([-1e308, -900.0, 0.0, 7.5, 1e308]), min_size=9, max_size=9))
def test_any_finite_parameters_give_finite_tables(parameters):
    numbers = np.array(parameters)
    form = two_messages(100, 0.0, numbers[:3], numbers[3:7], numbers[7:])
    for by_degree, by_sum in (
        (form.answer_by_degree, form.answer_by_sum),
        (form.score_by_degree, form.score_by_sum),
    ):
        factors = by_degree.max() * by_sum
        assert np.isfinite(factors * 2.0**62).all()
        assert (by_sum > 0).all()
    assert (form.messages[1:] > 0).all()


def test_one_message_is_the_sum_of_exponentials():
    form = one_message(np.array([-1.0, -0.5, 0.25]), 5)
    degrees = np.arange(1, 5)
    log = np.log(degrees)
    expected = np.exp(-log - 0.5 * log**2 + 0.25 * (degrees == 1))
    np.testing.assert_allclose(form.messages[1:] * form.slopes[0], expected, rtol=1e-9)


def test_parameters_round_trip_through_a_file(tmp_path):
    save_parameters(tmp_path / "two.npz", NETWORK, {}, TWO_MESSAGES, "mvc", {})
    form = message_form(load_policy(str(tmp_path / "two.npz"), "mvc"), 50, 0.05)
    assert isinstance(form, TwoMessageForm)
    named = named_form("two-message", 50, 0.05)
    assert (form.messages == named.messages).all()
    assert (form.answer_by_sum == named.answer_by_sum).all()
    save_parameters(tmp_path / "one.npz", NETWORK, {}, {"first": np.zeros(3)}, "mvc", {})
    form = message_form(load_policy(str(tmp_path / "one.npz"), "mvc"), 50, 0.05)
    assert isinstance(form, ScalarForm)


@pytest.mark.parametrize(
    "arrays", [{}, {"first": np.zeros(2)}, {"first": np.zeros(3), "second": np.zeros(4)}]
)
def test_parameters_that_do_not_fit_are_refused(tmp_path, arrays):
    save_parameters(tmp_path / "bad.npz", NETWORK, {}, arrays, "mvc", {})
    with pytest.raises(InputError, match="do not fit degree-messages"):
        message_form(load_policy(str(tmp_path / "bad.npz"), "mvc"), 50, 0.05)


def test_other_names_are_no_messages():
    assert named_form("mvc", 10, 0.0) is None
