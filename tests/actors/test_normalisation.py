"""Observations of a common size."""

from types import SimpleNamespace

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete

from ogg_hpc.actors.normalisation import ObservationNormaliser
from ogg_hpc.actors.schema import Schema
from ogg_hpc.runtime.communicator import Communicator

ALONE = Communicator()
SPACE = Dict(
    {
        "place": Box(-np.inf, np.inf, (2,), np.float32),
        "picture": Box(0, 255, (2,), np.uint8),
        "kind": Discrete(3),
        "action_mask": Box(0, 1, (2,), np.float32),
    }
)
SCHEMA = Schema.of(SimpleNamespace(observation_space=SPACE, action_space=Discrete(2)))


def observations(count, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "place": rng.normal([1000, 3], [0.1, 50], (count, 2)).astype(np.float32),
        "picture": rng.integers(256, size=(count, 2), dtype=np.uint8),
        "kind": rng.integers(3, size=count),
        "action_mask": np.ones((count, 2), np.float32),
    }


def test_real_observations_alone_are_normalised():
    normaliser, seen = ObservationNormaliser(SCHEMA), observations(1000)
    normaliser.merge(seen, ALONE)
    found = normaliser.normalise(seen)
    np.testing.assert_allclose(found["place"].mean(0), 0, atol=1e-2)
    np.testing.assert_allclose(found["place"].std(0), 1, atol=1e-2)
    assert found["place"].dtype == np.float32
    for name in ("picture", "kind", "action_mask"):
        assert found[name] is seen[name]


def test_before_the_first_observation_nothing_changes():
    normaliser, seen = ObservationNormaliser(SCHEMA), observations(3)
    assert normaliser.normalise(seen)["place"] is seen["place"]


def test_what_is_far_out_is_clipped():
    normaliser = ObservationNormaliser(SCHEMA)
    normaliser.merge(observations(100), ALONE)
    far = observations(1) | {"place": np.array([[1e9, -1e9]], np.float32)}
    assert normaliser.normalise(far)["place"].tolist() == [[10, -10]]


def test_an_observation_that_never_changes_stays_finite():
    normaliser, seen = ObservationNormaliser(SCHEMA), observations(5)
    seen["place"][:] = 7
    normaliser.merge(seen, ALONE)
    assert (normaliser.normalise(seen)["place"] == 0).all()


def test_those_who_load_the_statistics_normalise_alike():
    normaliser, other = ObservationNormaliser(SCHEMA), ObservationNormaliser(SCHEMA)
    normaliser.merge(observations(100), ALONE)
    assert set(normaliser.arrays()) == {
        f"normaliser/place/{name}" for name in ("count", "mean", "squares")
    }
    other.load(normaliser.arrays())
    seen = observations(9, seed=1)
    assert (other.normalise(seen)["place"] == normaliser.normalise(seen)["place"]).all()
    for each in (normaliser, other):
        each.merge(seen, ALONE)
    assert (other.normalise(seen)["place"] == normaliser.normalise(seen)["place"]).all()
