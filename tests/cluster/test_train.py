"""Training jobs that are warned, lose a node, fail or are cancelled."""

import json

import pytest

from ogg_hpc.policies.file import load_policy

CPUS = ("--cpus-per-task=1",)
ON_ONE_NODE = (*CPUS, "--ntasks-per-node=2")
ON_TWO_NODES = (*CPUS, "--nodes=2", "--ntasks-per-node=1")

# Evolution has few collectives, in which two ranks wait for each other on a busy machine.
CONFIGURATION = """
problem = "mvc"
policy = "degree-messages"
method = "evolution"

[evolution]
generations = 12
population = 10

[[train]]
family = "er"
nodes = 250
count = 20

[output]
checkpoint_every = 1
tensorboard = false
"""

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def configuration(tmp_path_factory):
    """A run of a few seconds on two ranks."""
    path = tmp_path_factory.mktemp("configuration") / "small.toml"
    path.write_text(CONFIGURATION)
    return path


@pytest.fixture(scope="module")
def undisturbed(configuration, run_ranks):
    """The parameters that it ends with if nothing happens."""
    folder = configuration.with_name("run")
    run = run_ranks(2, ["-m", "ogg_hpc", "train", configuration, "--output", folder], limit=240)
    assert run.returncode == 0, run.stderr
    return parameters(folder)


def parameters(folder):
    arrays = load_policy(str(folder / "last.npz"), "mvc").arrays
    return {name: values.tolist() for name, values in arrays.items()}


def trains(job):
    """Wait until a job has made a step, with most still before it."""
    job.wait(lambda: any((job.folder / "run").glob("checkpoints/step-*")), "it trains", 120)


def test_warned_job_goes_on_as_often_as_it_may(
    submit, places, tmp_path, configuration, undisturbed
):
    submitted = ("train.sh", configuration, "run", "--max-requeues", 1)
    job = submit(*submitted, options=ON_ONE_NODE)
    trains(job)
    job.signal("URG")
    job.wait(lambda: job.restarts == 1, "it puts itself into the queue again")
    job.wait(lambda: "resumed at step" in job.output(), "it goes on", 120)
    job.signal("URG")
    assert job.end() == "FAILED", job.report()
    assert job.restarts == 1
    assert job.output().count("stopped by SIGURG at step") == 2
    assert "after 1 of 1 requeues" in job.output()
    ranks = places(job)
    assert [place.rank for place in ranks] == list("0011")  # twice each
    assert len({place.gpus for place in ranks}) == 2

    last = submit(*submitted, options=ON_ONE_NODE)
    assert last.end() == "COMPLETED", last.report()
    assert parameters(tmp_path / "run") == undisturbed


def test_job_survives_the_crash_of_a_node(cluster, submit, tmp_path, configuration, undisturbed):
    job = submit("train.sh", configuration, "run", options=ON_TWO_NODES)
    trains(job)
    cluster.crash_node("n2")
    try:
        job.wait(lambda: job.restarts == 1, "Slurm puts it into the queue again")
    finally:
        cluster.start_node("n2")
    assert job.end() == "COMPLETED", job.report()
    assert "resumed at step" in job.output()
    assert parameters(tmp_path / "run") == undisturbed


def test_ranks_with_and_without_gpus_are_one_world(
    submit, places, tmp_path, configuration, undisturbed
):
    one_rank_each = [*CPUS, "--ntasks-per-node=1", ":", *CPUS, "--ntasks-per-node=1"]
    job = submit("evolve.sh", configuration, "run", options=one_rank_each)
    trains(job)
    job.signal("URG")
    job.wait(lambda: job.restarts == 1, "it puts itself into the queue again")
    assert job.end() == "COMPLETED", job.report()
    assert json.loads((tmp_path / "run" / "record.json").read_text())["ranks"] == 2
    assert parameters(tmp_path / "run") == undisturbed
    first, second = places(job)[::2]  # each was there twice
    assert (first.rank, second.rank) == ("0", "1")
    assert first.gpus in set("012345")
    assert second.gpus == "none"


def test_cancelled_job_stays_out_of_the_queue(cluster, submit, configuration):
    job = submit("train.sh", configuration, "run", options=ON_ONE_NODE)
    trains(job)
    cluster.run("scancel", str(job.number))
    assert job.end() == "CANCELLED", job.report()
    assert job.restarts == 0


def test_failed_job_stays_out_of_the_queue(submit, tmp_path):
    (tmp_path / "wrong.toml").write_text("generations = 5\n")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "UNFINISHED").touch()  # of an earlier part
    job = submit("train.sh", "wrong.toml", "run", options=ON_ONE_NODE)
    assert job.end() == "FAILED", job.report()
    assert (job.restarts, job.field("ExitCode")) == (0, "2:0")
    assert "wrong.toml" in job.output()
    assert "Traceback" not in job.output()
