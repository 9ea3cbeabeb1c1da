"""Generalised advantage estimation by hand and by its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.actors.advantages import advantages


def found(rewards, values, next_values, terminated, stopped, gamma=0.5, gae_lambda=0.5):
    return advantages(
        np.array(rewards, np.float32),
        np.array(values, np.float32),
        np.array(next_values, np.float32),
        np.array(terminated, bool),
        np.array(stopped, bool),
        gamma,
        gae_lambda,
    ).tolist()


# With γ = λ = 1/2: δ = r + V'/2 - V, A = δ + A'/4.
BY_HAND = {
    "a termination is worth nothing": (
        ([1, 2, 4], [3, 1, 2], [0, 0, 0], [0, 0, 1], [0, 0, 1]),
        [-0.875, 2.5, 2],
    ),
    "a truncation is worth the state that was reached": (
        ([1, 2, 4], [3, 1, 2], [0, 0, 8], [0, 0, 0], [0, 0, 1]),
        [-0.625, 3.5, 6],
    ),
    "the end of a fragment is worth the state that was reached": (
        ([1, 1], [1, 1], [4, 0], [0, 1], [1, 0]),
        [2, 0],
    ),
    "a termination at the end of a fragment is worth nothing": (
        ([1], [1], [0], [1], [1]),
        [0],
    ),
    "a termination outweighs a truncation": (
        ([1, 5], [1, 0], [9, 0], [1, 1], [1, 1]),
        [0, 5],
    ),
    "episodes of a fragment do not touch": (
        ([1, 2, 3, 4, 5], [2, 2, 2, 2, 2], [0, 6, 0, 0, 2], [0, 0, 0, 1, 0], [0, 1, 0, 0, 1]),
        [0.75, 3, 2.5, 2, 4],
    ),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name):
    arguments, expected = BY_HAND[name]
    assert found(*arguments) == expected


NUMBERS = st.floats(-10, 10, width=32)
STEPS = st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS, st.booleans(), st.booleans()), min_size=1)


@given(STEPS, st.floats(0, 1), st.floats(0, 1))
def test_as_defined(steps, gamma, gae_lambda):
    rewards, values, next_values, terminated, stopped = map(list, zip(*steps, strict=True))
    stopped[-1] = True  # the end of the last fragment

    expected = []
    for t in range(len(steps)):
        advantage, weight = 0.0, 1.0
        for k in range(t, len(steps)):
            after = 0.0 if terminated[k] else next_values[k] if stopped[k] else values[k + 1]
            advantage += weight * (rewards[k] + gamma * after - values[k])
            if terminated[k] or stopped[k]:
                break
            weight *= gamma * gae_lambda
        expected.append(advantage)

    calculated = found(rewards, values, next_values, terminated, stopped, gamma, gae_lambda)
    np.testing.assert_allclose(calculated, expected, rtol=1e-9, atol=1e-9)


def test_no_steps_have_no_advantages():
    assert found([], [], [], [], []) == []
