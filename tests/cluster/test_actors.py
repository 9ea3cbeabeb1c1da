"""Learners on nodes with GPUs, actors on others and in other jobs."""

import json
import subprocess
import sys

import pytest
from local_slurm import wait_until

CPUS = ("--cpus-per-task=1", "--ntasks-per-node=1")

CONFIGURATION = """
steps = {steps}
[environment]
name = "synthetic"
options = {{ seconds = 0.01 }}
[network.model]
hidden = [8]
[roles]
environments = 1
[ppo]
round_steps = 50
minibatch = 50
epochs = 1
[output]
tensorboard = false
"""

pytestmark = pytest.mark.timeout(600)


def test_ranks_of_both_parts_are_one_world_that_goes_on_after_a_warning(submit, places, tmp_path):
    (tmp_path / "mine.toml").write_text(CONFIGURATION.format(steps=2000))
    parts = [*CPUS, ":", *CPUS, "--nodes=1"]
    job = submit("actors.sh", "mine.toml", "run", options=parts)
    job.wait((tmp_path / "run" / "metrics.jsonl").exists, "it learns", 120)
    job.signal("URG")
    job.wait(lambda: job.restarts == 1, "it puts itself into the queue again")
    assert job.end() == "COMPLETED", job.report()
    assert "resumed at step" in job.output()
    record = json.loads((tmp_path / "run" / "record.json").read_text())
    # What these nodes call GPUs are names alone, and without GPUs each node has a learner.
    assert (record["ranks"], record["learners"], record["steps"]) == (2, 2, 2000)
    first, second = places(job)[::2]  # each was there twice
    assert (first.rank, second.rank) == ("0", "1")
    assert first.gpus in set("012345")
    assert second.gpus == "none"


def test_actors_of_another_job_join_and_leave_with_the_run(submit, tmp_path, clean_environment):
    (tmp_path / "mine.toml").write_text(CONFIGURATION.format(steps=500))
    command = [sys.executable, "-m", "ogg_hpc", "actors", "learner", "mine.toml", "--output", "run"]
    with subprocess.Popen(command, env=clean_environment, cwd=tmp_path) as learner:
        found = (tmp_path / "run" / "controllers").glob
        wait_until(lambda: any(found("[!.]*.json")), 60, "the run listens")
        (file,) = found("[!.]*.json")
        job = submit("actor.sh", file, "--environments", "1", options=CPUS)
        assert job.end() == "COMPLETED", job.report()
        assert learner.wait(60) == 0
    record = json.loads((tmp_path / "run" / "record.json").read_text())
    assert (record["steps"], record["collection"]["joined"]) == (500, 1)
