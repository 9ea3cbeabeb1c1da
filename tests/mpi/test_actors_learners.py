"""Learners that share the steps of a round, against one that has all of them."""

import numpy as np
import pytest
from one_process_cell import OneProcessCell

from ogg_hpc.actors.moments import Moments
from ogg_hpc.actors.ppo import PPO
from ogg_hpc.actors.settings import ActorsSettings
from ogg_hpc.errors import SettingsError
from ogg_hpc.settings import build


def test_moments_are_those_of_the_rows_of_all_ranks(comm):
    moments = Moments((2,))
    seen = np.empty((0, 2))
    for number, count in enumerate((7, 0, 1, 40)):
        rows = np.random.default_rng(number).normal([1e6, -3], [1, 100], (count, 2))
        moments.merge(rows[comm.rank :: comm.size], comm)
        seen = np.concatenate([seen, rows])
        assert moments.count == len(seen)
        np.testing.assert_allclose(moments.mean, seen.mean(0), rtol=1e-12)
        np.testing.assert_allclose(moments.deviation, seen.std(0), rtol=1e-6, atol=1e-4)


def learners(comm, slots=3, **ppo):
    document = {
        "environment": {"name": "gymnasium:CartPole-v1"},
        "network": {"model": {"hidden": [16]}},
        "ppo": {"epochs": 3, "entropy": 0.01, "target_kl": 1.0, **ppo},
    }
    settings = build(ActorsSettings, document)
    cell = OneProcessCell(settings, slots)
    return PPO(comm, settings, cell.schema), cell


@pytest.mark.parametrize("normalised", [False, True])
def test_learners_together_learn_what_one_would_of_all_steps(comm, alone, normalised):
    options = {
        "round_steps": 64, "minibatch": 64, "normalise_observations": normalised,
        "normalise_returns": normalised,
    }  # fmt: skip
    together, _ = learners(comm, **options)
    one, cell = learners(alone, **options)
    for _ in range(3):
        cell.publish(one.arrays())
        fragments = cell.collect(64)  # unequal shares; from the fourth rank on, none at all
        found = together.learn(fragments[comm.rank :: comm.size])
        expected = one.learn(fragments)
        assert found.steps == expected.steps == 64
        told = {name: value for name, value in expected.values.items() if value is not None}
        assert {name for name in found.values if found.values[name] is not None} == set(told)
        for name, value in told.items():
            np.testing.assert_allclose(found.values[name], value, rtol=1e-3, atol=1e-4)
        for name, array in one.arrays().items():
            np.testing.assert_allclose(together.arrays()[name], array, rtol=1e-3, atol=1e-4)


def test_learners_stay_equal_to_the_last_bit(comm):
    made, cell = learners(comm, slots=4, round_steps=64, minibatch=16, normalise_observations=True)
    for _ in range(2):
        cell.publish(made.arrays())
        made.learn(cell.collect(64)[comm.rank :: comm.size])
    everyone = comm.gather_objects(made.arrays())
    for name, array in everyone[0].items():
        assert all((other[name] == array).all() for other in everyone), name


def test_one_state_restores_all_learners(comm):
    made, cell = learners(comm, round_steps=64, minibatch=64, normalise_returns=True)
    cell.publish(made.arrays())
    made.learn(cell.collect(64)[comm.rank :: comm.size])
    state = made.state()
    assert (state is None) == (comm.rank > 0)
    other, _ = learners(comm, round_steps=64, minibatch=64, normalise_returns=True)
    other.restore(state)
    for name, array in made.arrays().items():
        assert (other.arrays()[name] == array).all()


def test_a_round_is_shared_out_among_learners(comm):
    asked = []

    class Cell:
        def collect(self, steps):
            asked.append(steps)
            return []

        def publish(self, arrays):
            raise AssertionError("nothing was learned")

    made, _ = learners(comm, round_steps=67, minibatch=64)
    assert made.advance(Cell()).steps == 0
    shares = comm.gather_objects(asked[0])
    assert sum(shares) == 67
    assert max(shares) - min(shares) <= 1


def test_a_round_of_fewer_steps_than_learners_is_refused_by_all(comm):
    if comm.size == 1:
        pytest.skip("one learner always has a step")
    with pytest.raises(SettingsError, match=r"ppo\.round_steps is 1; \d learners need"):
        learners(comm, round_steps=1, minibatch=1)
