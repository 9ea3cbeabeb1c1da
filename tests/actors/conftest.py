import pytest

from ogg_hpc.actors.settings import ActorsSettings
from ogg_hpc.settings import build


@pytest.fixture(scope="session")
def small_document():
    """A run of a second: the content of its TOML file."""
    return {
        "steps": 192,
        "network": {"model": {"hidden": [8]}},
        "roles": {"processes": 1, "environments": 2},
        "ppo": {"round_steps": 64, "minibatch": 64, "epochs": 1},
        "output": {"checkpoint_every": 64, "tensorboard": False},
    }


@pytest.fixture(scope="session")
def small_settings(small_document):
    """Settings of the small run, with changes by table."""

    def make(**changes):
        document = dict(small_document)
        for table, values in changes.items():
            document[table] = (
                {**document.get(table, {}), **values} if isinstance(values, dict) else values
            )
        return build(ActorsSettings, document)

    return make
