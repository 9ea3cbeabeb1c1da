import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.policies.file import StoredPolicy
from ogg_hpc.policies.scalar_form import inverse_degree_exponent, piecewise_linear, scalar_form


def value(form, ratio):
    piece = np.searchsorted(form.starts, ratio, side="right") - 1
    return form.intercepts[piece] + form.slopes[piece] * ratio


@given(st.integers(0, 10_000), st.floats(0, 1e4))
def test_pieces_are_the_network(seed, ratio):
    random = np.random.default_rng(seed)
    constant, slope, output = random.standard_normal((3, 6))
    hidden = random.standard_normal((6, 6))
    inner = np.maximum(constant + slope * ratio, 0)
    expected = output @ np.maximum(hidden @ inner, 0)
    form = piecewise_linear(constant, slope, hidden, output)
    assert value(form, ratio) == pytest.approx(expected, rel=1e-9, abs=1e-9 * (1 + ratio))


def test_pieces_of_a_hand_worked_function():
    # relu(relu(r - 1) - 2): nothing up to 3, then r - 3
    form = piecewise_linear(np.array([-1.0]), np.array([1.0]), np.array([[1.0]]), np.array([1.0]))
    assert [value(form, r) for r in (0.0, 1.0, 3.0)] == [0.0, 0.0, 2.0]
    form = piecewise_linear(
        np.array([-1.0, 1.0]),
        np.array([1.0, 0.0]),
        np.array([[1.0, -2.0], [0.0, 0.0]]),
        np.array([1.0, 5.0]),
    )
    assert [value(form, r) for r in (0.0, 2.0, 3.0, 4.5)] == [0.0, 0.0, 0.0, 1.5]


@pytest.mark.parametrize(
    ("network", "model"),
    [
        ("own.py:Mine", {}),
        ("other", {"layers": 2}),
        *(("s2v", {"layers": layers}) for layers in (3, 0, "two", None, [2])),
        *(("s2v", {"width": width}) for width in (0, -1, "wide", 1.5, None)),
    ],
)
def test_other_policies_have_no_scalar_form(network, model):
    assert scalar_form(StoredPolicy(None, network, model, {}, "mvc", {}), 1.0) is None


def test_parameters_that_do_not_fit_the_network_are_refused():
    stored = StoredPolicy("own.npz", "s2v", {"width": 4}, {"theta2": np.zeros(5)}, "mvc", {})
    with pytest.raises(InputError, match=r"own\.npz: .* theta2 is not \(4,\)"):
        scalar_form(stored, 1.0)


def test_exponents_of_inverse_degree_greedy():
    assert inverse_degree_exponent("mvc") is None
    assert inverse_degree_exponent("inverse-degree") == 1.25
    assert inverse_degree_exponent("inverse-degree:2") == 2.0
    for text in ("", "two", "-1", "nan", "inf"):
        with pytest.raises(SettingsError, match="the exponent must be a number from 0 to 64"):
            inverse_degree_exponent(f"inverse-degree:{text}")
