"""Runs of several ranks: who learns and who acts makes no difference to what is learned."""

import json
import shutil

import numpy as np
import pytest

from ogg_hpc.actors.policy_file import load_policy
from ogg_hpc.actors.run import run
from ogg_hpc.actors.settings import load_actors_settings
from ogg_hpc.runtime.communicator import Communicator

pytest.importorskip("mpi4py")

# Tells on each rank whether torch was loaded.
COMMAND = """
import atexit, sys
from ogg_hpc.cli.main import main
from ogg_hpc.runtime.launch import promised_rank
told = lambda: sys.stderr.write(f"rank {promised_rank()} {'torch' in sys.modules}\\n")
atexit.register(told)
main(sys.argv[1:])
"""


# Two slots on each of two hosts; nobody is cut off on a machine that has other work.
CONFIG = """
[network.model]
hidden = [8]
[roles]
processes = 1
environments = 2
[collection]
patience = 0
lease = 60
[ppo]
round_steps = 64
minibatch = 64
epochs = 1
normalise_observations = true
[output]
tensorboard = false
"""


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    path = tmp_path_factory.mktemp("config") / "small.toml"
    path.write_text(CONFIG)
    return path


@pytest.fixture(scope="module")
def on_ranks(run_ranks, config):
    """Run on so many ranks, or go on; return the record, and who has loaded torch."""

    def go(ranks, folder, *sets):
        options = ["--device", "cpu", "--json", *(f"--set={each}" for each in sets)]
        command = ["-c", COMMAND, "actors", "run", config, "--resume", folder, *options]
        done = run_ranks(ranks, command, limit=180)
        assert done.returncode == 0, done.stderr
        torch = {line for line in done.stderr.splitlines() if line.endswith(("True", "False"))}
        return json.loads(done.stdout), torch

    return go


@pytest.fixture(scope="module")
def three(on_ranks, tmp_path_factory):
    """Folder and outcome of a run of a learner and two ranks that act for it."""
    folder = tmp_path_factory.mktemp("three")
    return folder, *on_ranks(3, folder, "steps=128")


def test_ranks_that_act_are_as_good_as_processes(three, config, tmp_path):
    folder, record, _ = three
    assert (record["ranks"], record["learners"], record["collection"]["joined"]) == (3, 1, 2)
    settings = load_actors_settings(config, ["steps=128", "roles.processes=2"])
    record = run(Communicator(), settings, tmp_path, device="cpu")
    assert (record["ranks"], record["learners"], record["collection"]["joined"]) == (1, 1, 1)
    a, b = (load_policy(each / "policy.safetensors").arrays for each in (folder, tmp_path))
    assert a.keys() == b.keys()
    for name, array in a.items():
        np.testing.assert_array_equal(array, b[name], err_msg=name)


def test_ranks_that_act_load_no_torch(three):
    assert three[2] == {"rank 0 True", "rank 1 False", "rank 2 False"}


def test_a_run_goes_on_with_other_roles(three, on_ranks, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(three[0], folder)
    record, torch = on_ranks(2, folder, "steps=256", "roles.learners_per_node=2")
    assert (record["ranks"], record["learners"], record["collection"]["joined"]) == (2, 2, 2)
    # The learners share each round, and count those of the ranks before them.
    assert (record["steps"], record["rounds"], record["collection"]["steps"]) == (256, 4, 128)
    assert torch == {"rank 0 True", "rank 1 True"}


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("environment.name=chess", "there is no environment 'chess'"),  # before anybody acts
        ("network.name=gnn", "network 'gnn' is unknown"),  # when some do
    ],
)
def test_an_error_of_the_learner_ends_ranks_that_act(
    run_ranks, config, tmp_path, override, message
):
    options = ["--output", tmp_path / "run", "--device", "cpu", "--set", override]
    done = run_ranks(2, ["-m", "ogg_hpc", "actors", "run", config, *options])
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("ogg-hpc: ") == 1
