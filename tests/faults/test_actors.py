"""Runs of actors and learners of which somebody is killed, stopped or signalled."""

import json
import os
import signal

import pytest

CONFIG = """
steps = {steps}
[environment]
name = "synthetic"
options = {{ seconds = 0.005 }}
[network.model]
hidden = [8]
[roles]
processes = 2
environments = 1
[ppo]
round_steps = 64
minibatch = 64
epochs = 1
[output]
checkpoint_every = 64
tensorboard = false
"""
LIMIT = 20.0  # seconds to the end, on a loaded machine; an orphan would live for minutes


@pytest.fixture
def start_run(start_job, tmp_path):
    """Start a run that would take hours, or go on with it to its end; return when it learns."""

    def start(ranks, steps=10**9):
        (tmp_path / "run.toml").write_text(CONFIG.format(steps=steps))
        options = ("--resume", tmp_path / "run", "--device", "cpu")
        job = start_job(ranks, "actors", "run", tmp_path / "run.toml", *options)
        if steps == 10**9:
            assert job.wait_until(lambda: checkpoints(tmp_path) >= 2, 120), job.errors
        return job

    return start


def checkpoints(folder):
    rows = folder / "run" / "metrics.jsonl"
    return len(rows.read_text().splitlines()) if rows.exists() else 0


def goes_on(start_run, folder, ranks):
    newest = max(path.name for path in (folder / "run" / "checkpoints").iterdir())
    step = int(newest.split("-")[1])
    with start_run(ranks, step + 128) as job:
        assert job.wait_for_the_end(120) == 0, job.errors
        assert f"resumed at step {step} of {step + 128}" in job.errors
    lines = (folder / "run" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == list(range(64, step + 129, 64))


def test_a_killed_learner_ends_the_job_which_goes_on_from_its_checkpoint(start_run, tmp_path):
    with start_run(2) as job:
        os.kill(job.rank(0), signal.SIGKILL)
        assert job.wait_for_the_end(LIMIT) != 0
    goes_on(start_run, tmp_path, 1)


def test_a_signal_to_all_leaves_a_checkpoint_and_no_process(start_run, tmp_path):
    with start_run(2) as job:
        for rank in (0, 1):
            os.kill(job.rank(rank), signal.SIGURG)
        assert job.wait_for_the_end(LIMIT) == 75, job.errors
        assert "stopped by SIGURG at step" in job.errors
        assert (tmp_path / "run" / "UNFINISHED").exists()


def test_environment_processes_that_are_killed_are_started_anew(start_run, tmp_path):
    with start_run(1) as job:
        before = checkpoints(tmp_path)
        leaf = max(job.processes())  # the youngest
        os.kill(leaf, signal.SIGKILL)
        assert job.wait_until(lambda: checkpoints(tmp_path) > before + 2, 60), job.errors
        assert "slots" in job.errors
        assert "are started anew" in job.errors
        os.kill(job.rank(0), signal.SIGTERM)
        assert job.wait_for_the_end(LIMIT) == 75, job.errors
