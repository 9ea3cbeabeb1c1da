"""Mean and variance that are merged bit by bit."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.actors.moments import Moments
from ogg_hpc.runtime.communicator import Communicator

ALONE = Communicator()


@given(st.lists(st.lists(st.floats(-1e3, 1e3), max_size=20), max_size=5), st.floats(-1e6, 1e6))
def test_merged_moments_are_those_of_the_whole_sample(parts, shift):
    moments = Moments(())
    parts = [np.array(part) + shift for part in parts]
    for part in parts:
        moments.merge(part, ALONE)
    whole = np.concatenate([np.empty(0), *parts])
    assert moments.count == len(whole)
    if len(whole):
        np.testing.assert_allclose(moments.mean, whole.mean(), rtol=1e-12, atol=1e-9)
        np.testing.assert_allclose(moments.deviation, whole.std(), rtol=1e-6, atol=1e-3)


def test_moments_are_those_of_each_column():
    rows = np.random.default_rng(0).normal([1, -1e4], [1e-3, 50], (300, 2))
    moments = Moments((2,))
    for part in np.array_split(rows, 7):
        moments.merge(part, ALONE)
    np.testing.assert_allclose(moments.mean, rows.mean(0), rtol=1e-12)
    np.testing.assert_allclose(moments.deviation, np.sqrt(rows.var(0) + 1e-8), rtol=1e-9)


def test_moments_are_taken_up_where_they_were():
    rows = np.random.default_rng(0).normal(3, 2, (50, 2))
    moments, other = Moments((2,)), Moments((2,))
    moments.merge(rows[:20], ALONE)
    other.load(moments.arrays("a/"), "a/")
    for each in (moments, other):
        each.merge(rows[20:], ALONE)
    assert (moments.mean == other.mean).all()
    assert (moments.deviation == other.deviation).all()
