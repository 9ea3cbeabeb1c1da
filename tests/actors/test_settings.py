from __future__ import annotations

from pathlib import Path

import pytest

from ogg_hpc.actors.settings import ActorsSettings, load_actors_settings, preset_names
from ogg_hpc.errors import OggError
from ogg_hpc.settings import build


def test_the_defaults_are_the_cart_and_the_pole():
    assert build(ActorsSettings, {}).environment.name == "gymnasium:CartPole-v1"


@pytest.mark.parametrize("name", preset_names())
def test_each_preset_is_valid(name):
    assert load_actors_settings(name).steps > 0


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("algorithm=a3c", "algorithm is ppo or dqn, not 'a3c'"),
        ("steps=0", "steps must be at least 1"),
        ("seed=-1", "seed must not be negative"),
        ("environment.name=''", "environment.name is empty"),
        ("roles.processes=-1", "roles.processes must not be negative"),
        ("roles.environments=0", "roles.environments must be at least 1"),
        ("collection.cutoff=0", "collection.cutoff must be above 0"),
        ("collection.patience=0.5", "collection.patience is 0, or"),
        ("collection.lease=0", "collection.lease must be positive"),
        ("collection.wait_for_actors=-1", "collection.wait_for_actors must be finite"),
        ("collection.minimum_hosts=0", "collection.minimum_hosts must be at least 1"),
        ("roles.local=false", "without roles.local, remote.listen has to be set"),
        ("remote.key=key.pem", "remote.certificate and remote.key go together"),
        ("output.keep_checkpoints=0", "output.keep_checkpoints must be at least 1"),
        ("output.checkpoint_minutes=-1", "output.checkpoint_minutes must be finite"),
        ("colection.lease=1", "unknown key colection; did you mean collection"),
    ],
)
def test_a_setting_that_does_not_fit_is_named(override, message):
    with pytest.raises(OggError, match=message):
        load_actors_settings("cartpole", [override])


def test_a_fault_in_a_file_is_told_with_its_line(tmp_path: Path):
    path = tmp_path / "mine.toml"
    path.write_text('algorithm = "ppo"\n\n[roles]\nenvironments = 0\n')
    with pytest.raises(OggError, match=r"mine.toml:4: roles.environments must be at least 1"):
        load_actors_settings(path)
