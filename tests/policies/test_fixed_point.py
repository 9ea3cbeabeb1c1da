import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.policies.fixed_point import interpolate, power_table


@given(st.integers(1, 2**62 - 1), st.floats(-3, 3))
def test_a_power_table_gives_powers(total, exponent):
    value = interpolate(power_table(exponent, 2.0**40), np.array([total]))
    assert value[0] == pytest.approx((total / 2.0**40) ** exponent, rel=1e-4)


@given(st.integers(0, 62))
def test_a_power_table_is_exact_at_powers_of_two(binade):
    value = interpolate(power_table(-2.0, 1.0), np.array([2**binade]))
    assert value[0] == 2.0 ** (-2 * binade)


def test_powers_of_sums_rise_or_fall_with_them():
    sums = np.unique(np.random.default_rng(0).integers(1, 2**62, 10_000))
    assert (np.diff(interpolate(power_table(0.13, 2.0**40), sums)) >= 0).all()
    assert (np.diff(interpolate(power_table(-1.35, 2.0**40), sums)) <= 0).all()
