import subprocess
import sys

import numpy as np
import pytest

from ogg_hpc.actors.environments.registry import make_environment
from ogg_hpc.actors.evaluation import Player, summary
from ogg_hpc.actors.networks.registry import make_network
from ogg_hpc.actors.policy_file import SavedPolicy, load_policy, save_policy
from ogg_hpc.actors.schema import Schema
from ogg_hpc.actors.settings import ActorsSettings
from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.settings import build


def policy_of(environment, **options):
    """An untrained policy."""
    document = {"environment": {"name": environment, "options": options}}
    schema = Schema.of(make_environment(environment, options))
    arrays = make_network("mlp", schema, {}).initial(3)
    return SavedPolicy(arrays, schema, build(ActorsSettings, document), {"step": 0})


@pytest.fixture(scope="module")
def pole():
    return policy_of("gymnasium:CartPole-v1")


def played(policy, episodes=4, seed=0, greedy=False):
    return list(Player(policy, seed, greedy).episodes(episodes))


def test_episodes_depend_on_the_seed_and_their_number_alone(pole):
    first = played(pole, 6)
    assert played(pole, 6) == first
    assert played(pole, 3) == first[:3]
    assert played(pole, 6, seed=1) != first
    assert all(each["return"] == each["length"] > 0 for each in first)


def test_greedy_actions_are_others_than_drawn_ones(pole):
    assert played(pole, greedy=True) != played(pole)


def test_real_actions_stay_inside_their_bounds():
    policy = policy_of("gymnasium:Pendulum-v1")
    policy.arrays["log_deviation"] = np.full_like(policy.arrays["log_deviation"], 5.0)
    player = Player(policy, 0, greedy=False)
    taken = []
    step = player._env.step
    player._env.step = lambda action: taken.append(action) or step(action)
    list(player.episodes(1))
    assert np.abs(taken).max() == 2.0
    assert len(taken) == 200


def test_a_policy_comes_back_as_it_was_saved(pole, tmp_path):
    path = tmp_path / "policy.safetensors"
    save_policy(path, pole)
    found = load_policy(path)
    assert (found.schema, found.settings, found.origin) == (
        pole.schema,
        pole.settings,
        pole.origin,
    )
    assert found.arrays.keys() == pole.arrays.keys()
    for name, array in pole.arrays.items():
        np.testing.assert_array_equal(found.arrays[name], array)
    assert played(found) == played(pole)


def test_a_policy_opens_with_safetensors_alone(pole, tmp_path):
    from safetensors.numpy import load_file

    save_policy(tmp_path / "policy.safetensors", pole)
    assert load_file(tmp_path / "policy.safetensors").keys() == pole.arrays.keys()


@pytest.mark.parametrize("content", [b"", b"not a policy", bytes(100)])
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "policy.safetensors"
    path.write_bytes(content)
    with pytest.raises(InputError, match="no policy, or a damaged one"):
        load_policy(path)


def test_a_missing_policy_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none\.safetensors: no policy: No such file"):
        load_policy(tmp_path / "none.safetensors")


def test_an_environment_that_has_changed_is_refused(pole):
    other = policy_of("gymnasium:Acrobot-v1")
    mixed = SavedPolicy(other.arrays, other.schema, pole.settings, {})
    with pytest.raises(SettingsError, match="shows or takes something else"):
        Player(mixed, 0, greedy=False)


def test_playing_needs_no_torch(pole, tmp_path, clean_environment):
    save_policy(tmp_path / "policy.safetensors", pole)
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from ogg_hpc.actors.evaluation import Player\n"
        "from ogg_hpc.actors.policy_file import load_policy\n"
        f"policy = load_policy(Path({str(tmp_path / 'policy.safetensors')!r}))\n"
        "print(len(list(Player(policy, 0, False).episodes(2))), 'torch' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=clean_environment, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("2 False\n", "")


def test_summary_says_of_each_kind_what_there_is_to_say():
    episodes = [
        {"return": 1.0, "length": 3, "smiles": "CC", "stopped": True, "score": None, "parts": {}},
        {"return": 2.0, "length": 5, "smiles": "CC", "stopped": False, "score": 0.5, "parts": {}},
    ]
    assert summary(episodes) == {
        "episodes": 2,
        "return": {"mean": 1.5, "min": 1.0, "max": 2.0},
        "length": {"mean": 4, "min": 3, "max": 5},
        "smiles": {"distinct": 1},
        "stopped": {"share": 0.5},
        "score": {"mean": 0.5, "min": 0.5, "max": 0.5, "of": 1},
    }
