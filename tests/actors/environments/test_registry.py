import gymnasium
import pytest

from ogg_hpc.actors.environments.registry import make_environment
from ogg_hpc.errors import SettingsError

OWN = """
import gymnasium

class Own(gymnasium.Env):
    observation_space = gymnasium.spaces.Discrete(2)
    action_space = gymnasium.spaces.Discrete(2)
    slot = None

    def __init__(self, power=1):
        self.power = power
"""


def test_environments_of_gymnasium_take_its_options():
    env = make_environment("gymnasium:CartPole-v1", {"max_episode_steps": 7})
    assert env.spec.id == "CartPole-v1"
    assert env.spec.max_episode_steps == 7


def test_environments_of_a_users_own_file_are_told_their_options_and_slot(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(OWN)
    env = make_environment(f"{file}:Own", {"power": 3}, slot=5)
    assert isinstance(env, gymnasium.Env)
    assert (env.power, env.slot) == (3, 5)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("cartpole", {}, "no environment 'cartpole'; use .*synthetic.*, gymnasium:ID or FILE.py"),
        ("gymnasium:NoSuch-v0", {}, "NoSuch"),
        ("gymnasium:CartPole-v1", {"wheels": 4}, "wheels"),
        ("synthetic", {"cost": 1}, "environment synthetic: .*cost"),
        ("missing.py:Own", {}, "no such file"),
    ],
)
def test_what_cannot_be_made_is_named(name, options, message):
    with pytest.raises(SettingsError, match=message):
        make_environment(name, options)
