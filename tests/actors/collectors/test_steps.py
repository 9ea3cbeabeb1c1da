"""What the collector of single steps records."""

import subprocess
import sys
from pathlib import Path

import counting_environment
import numpy as np
import pytest

from ogg_hpc.actors.collectors.registry import collector_class
from ogg_hpc.actors.fragment import Fragment
from ogg_hpc.actors.message import Message, decode, encode
from ogg_hpc.actors.networks.registry import make_network
from ogg_hpc.actors.normalisation import ObservationNormaliser
from ogg_hpc.actors.weights import Weights
from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.communicator import Communicator

FILE = Path(counting_environment.__file__)


class Process:
    """An environment process of given slots, whose policy is far from uniform."""

    def __init__(self, slots=(0,), seed=7, normaliser=None, **options):
        fields = {
            "run": "r", "seed": seed, "learner": 0, "slots": {str(slot): 0 for slot in slots},
            "environment": f"{FILE}:Counting", "options": options, "network": "mlp",
            "model": {"hidden": [8]},
        }  # fmt: skip
        self.collector = collector_class("ppo")(Message("welcome", fields))
        self.schema = self.collector.schema
        self.network = make_network("mlp", self.schema, {"hidden": [8]})
        rng = np.random.default_rng(0)
        initial = self.network.initial(0)
        arrays = {k: v + rng.normal(0, 0.3, v.shape).astype(np.float32) for k, v in initial.items()}
        self.network.load(arrays)
        self.collector.load(Weights("r", 3, arrays | (normaliser or {})))
        self.round = 0

    def collect(self, steps, cut=lambda: False, progress=lambda done: None):
        """Return fragments by slot, as they reach a learner."""
        fields = {"round": self.round, "version": 3, "steps": {str(k): n for k, n in steps.items()}}
        self.round += 1
        made = self.collector.collect(Message("grant", fields), cut, progress)
        layout = self.collector.layout(self.schema)
        fragments = [Fragment.of(decode(encode(each.message())), layout) for each in made]
        return {each.slot: each for each in fragments}

    def value(self, *states):
        return self.network.value({"value": np.array(states, np.float32)})


def test_a_fragment_holds_what_was_seen_done_and_earned():
    process = Process(length=3)
    fragment = process.collect({0: 7})[0]
    arrays = fragment.arrays
    assert (fragment.version, fragment.round, fragment.sequence) == (3, 0, 0)
    assert (fragment.steps, fragment.complete) == (7, True)
    assert arrays["observation/value"][:, 1].tolist() == [0, 0, 0, 1, 1, 1, 2]
    assert arrays["observation/value"][:, 2].tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert arrays["reward"].tolist() == [1, 2, 3, 1, 2, 3, 1]
    assert arrays["terminated"].tolist() == [False, False, True, False, False, True, False]
    assert not arrays["truncated"].any()
    assert list(fragment.episodes) == [
        {"number": 0, "return": 6.0, "length": 3},
        {"number": 1, "return": 6.0, "length": 3},
    ]
    env = process.collector.slots[0].env
    assert arrays["action/value"].tolist() == [action - 1 for action in env.taken]
    assert set(arrays["action/value"]) == {0, 1, 2}


def test_log_probabilities_and_values_are_those_of_the_acting_weights():
    process = Process(length=3)
    arrays = process.collect({0: 7})[0].arrays
    seen = {"value": arrays["observation/value"]}
    logs = process.network.head.log_probabilities(
        process.network._forward("policy", seen["value"]), seen
    )
    chosen = logs[np.arange(7), 0, arrays["action/value"]]
    np.testing.assert_allclose(arrays["log_probability"], chosen, rtol=1e-6)
    np.testing.assert_allclose(arrays["value"], process.network.value(seen), rtol=1e-6)


@pytest.mark.parametrize("ending", ["terminated", "truncated", "both"])
def test_the_state_after_is_valued_at_truncations_and_ends_of_fragments_alone(ending):
    process = Process(length=3, ending=ending)
    found = process.collect({0: 5})[0].arrays["next_value"]
    # Of the state that was reached, before the environment was reset.
    expected = np.zeros(5)
    expected[4] = process.value([0.5, 1, 2])[0]
    if ending == "truncated":
        expected[2] = process.value([0.5, 0, 3])[0]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    ends = process.collect({0: 1})[0].arrays["next_value"]
    expected = process.value([0.5, 1, 3])[0] if ending == "truncated" else 0.0
    np.testing.assert_allclose(ends, [expected], rtol=1e-6)


def test_episodes_go_on_from_grant_to_grant():
    process = Process(length=5)
    first, second = process.collect({0: 3})[0], process.collect({0: 4})[0]
    assert second.sequence == 1
    assert second.arrays["observation/value"][:, 2].tolist() == [3, 4, 0, 1]
    assert not first.episodes
    assert [each["return"] for each in second.episodes] == [15.0]
    whole = Process(length=5).collect({0: 7})[0]
    for name in ("action/value", "log_probability", "value", "reward"):
        parts = [first.arrays[name], second.arrays[name]]
        assert (np.concatenate(parts) == whole.arrays[name]).all()


def test_slots_may_be_granted_different_numbers_of_steps():
    process = Process(slots=(0, 1, 2, 3), length=4)
    fragments = process.collect({0: 2, 3: 6, 1: 0, 2: 3})
    assert {slot: each.steps for slot, each in fragments.items()} == {0: 2, 1: 0, 2: 3, 3: 6}
    assert all(each.complete for each in fragments.values())
    assert fragments[3].arrays["observation/value"][:, 2].tolist() == [0, 1, 2, 3, 0, 1]
    assert fragments[0].arrays["observation/value"][:, 2].tolist() == [0, 1]
    assert process.collect({1: 1})[1].arrays["observation/value"][:, 2].tolist() == [0]


def test_what_a_slot_does_does_not_depend_on_the_slots_beside_it():
    together = Process(slots=range(5), length=4).collect(dict.fromkeys(range(5), 9))
    for slot in range(5):
        alone = Process(slots=(slot,), length=4).collect({slot: 9})[slot]
        for name, array in alone.arrays.items():
            assert (array == together[slot].arrays[name]).all(), name
    assert len({tuple(each.arrays["action/value"]) for each in together.values()}) == 5


def test_environments_are_seeded_once_each_by_its_slot():
    seeds = []
    for seed in (7, 8):
        process = Process(slots=(0, 1), seed=seed, length=2)
        process.collect({0: 5, 1: 5})
        for slot in process.collector.slots.values():
            first, *later = slot.env.seeds
            assert later == [None, None]
            seeds.append(first)
    assert len(set(seeds)) == 4


def test_a_cut_yields_what_there_is():
    process = Process(slots=(0, 1), length=4)
    answers = iter([False, False, False, True])
    fragments = process.collect({0: 2, 1: 6}, cut=lambda: next(answers))
    assert (fragments[0].steps, fragments[0].complete) == (2, True)
    assert (fragments[1].steps, fragments[1].complete) == (3, False)
    last = fragments[1].arrays["next_value"][-1:]
    np.testing.assert_allclose(last, process.value([0.5, 0, 3]), rtol=1e-6)
    goes_on = process.collect({1: 1})[1]
    assert goes_on.arrays["observation/value"][0, 2] == 3


def test_a_cut_before_the_first_step_yields_empty_fragments():
    fragment = Process(length=4).collect({0: 3}, cut=lambda: True)[0]
    assert (fragment.steps, fragment.complete) == (0, False)


def test_progress_is_told_after_each_step():
    told = []
    process = Process(slots=(0, 1), length=4)
    process.collect({0: 1, 1: 2}, progress=lambda done: told.append(dict(done)))
    assert told == [{0: 0, 1: 1}, {0: 1, 1: 1}, {0: 1, 1: 2}]


def test_real_actions_are_clipped_for_the_environment_alone():
    process = Process(real=True)
    fragment = process.collect({0: 20})[0]
    drawn = fragment.arrays["action/value"]
    assert (np.abs(drawn) > 0.1).any()
    taken = np.array(process.collector.slots[0].env.taken)
    assert (taken == np.clip(drawn, np.float32(-0.1), np.float32(0.1))).all()


def test_observations_are_recorded_as_they_are_and_acted_on_as_they_are_normalised():
    plain = Process(length=3)
    normaliser = ObservationNormaliser(plain.schema)
    seen = plain.collect({0: 7})[0].arrays["observation/value"]
    normaliser.merge({"value": seen}, Communicator())
    process = Process(length=3, ending="truncated", normaliser=normaliser.arrays())
    arrays = process.collect({0: 7})[0].arrays
    assert (arrays["observation/value"] == seen).all()
    normalised = normaliser.normalise({"value": seen})
    np.testing.assert_allclose(arrays["value"], process.network.value(normalised), rtol=1e-6)
    last = normaliser.normalise({"value": np.array([[0.5, 0, 3]], np.float32)})
    expected = process.network.value(last)
    np.testing.assert_allclose(arrays["next_value"][2:3], expected, rtol=1e-6)


def test_nothing_that_is_slow_to_import_is_needed():
    program = "import sys, ogg_hpc.actors.collectors.steps; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    loaded = set(done.stdout.decode().split())
    assert "numpy" in loaded
    assert not {"torch", "numba", "scipy", "mpi4py", "h5py"} & loaded


def test_a_reward_that_is_no_number_is_an_error(monkeypatch):
    process = Process()
    env = process.collector.slots[0].env
    step = env.step
    monkeypatch.setattr(env, "step", lambda action: (step(action)[0], np.nan, False, False, {}))
    with pytest.raises(SettingsError, match="returned nan as a reward"):
        process.collect({0: 1})
