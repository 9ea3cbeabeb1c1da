import json
import os
import subprocess
import sys

import pytest

from ogg_hpc.policies.file import save_policy
from ogg_hpc.policies.registry import make_policy


@pytest.fixture(scope="session")
def start_ogg(clean_environment):
    """Run the command line in a process of its own, with output buffered as usual."""
    environment = {k: v for k, v in clean_environment.items() if k != "PYTHONUNBUFFERED"}

    def run(*arguments, **options):
        return subprocess.run(
            [sys.executable, "-m", "ogg_hpc", *map(str, arguments)],
            env=environment, text=True, timeout=60, **options,
        )  # fmt: skip

    return run


@pytest.fixture(scope="session")
def closed_pipe():
    """A pipe that nobody reads any more."""
    read, write = os.pipe()
    os.close(read)
    yield write
    os.close(write)


@pytest.fixture(scope="session")
def one_object():
    """Parse an output that must be one JSON object on one line, and nothing else."""

    def parse(text):
        assert text.endswith("}\n")
        assert text.count("\n") == 1
        return json.loads(text)

    return parse


@pytest.fixture(scope="session")
def policy(tmp_path_factory):
    """A parameter file of an untrained network."""
    path = tmp_path_factory.mktemp("policies") / "mvc.npz"
    save_policy(path, make_policy("s2v", {"width": 8}, seed=2), "s2v", "mvc", {})
    return path
