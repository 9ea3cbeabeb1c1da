"""Remote hosts of a run, by the commands themselves, of which somebody is killed or stopped."""

import json
import os
import signal
import subprocess
import sys

import pytest

CONFIG = """
steps = 1_000_000_000
[environment]
name = "synthetic"
options = { seconds = 0.005 }
[network.model]
hidden = [8]
[ppo]
round_steps = 64
minibatch = 64
epochs = 1
[output]
checkpoint_every = 64
tensorboard = false
"""
LIMIT = 20.0  # seconds, on a loaded machine


@pytest.fixture
def start_learner(start_job, tmp_path):
    """Start a run that would take hours, or go on with it; return when it listens."""

    def start():
        (tmp_path / "run.toml").write_text(CONFIG)
        job = start_job(1, "actors", "learner", "run.toml", "--resume", "run", "--device", "cpu")
        assert job.wait_until(lambda: "remote actors connect to" in job.errors), job.errors
        return job

    return start


@pytest.fixture
def start_host(tmp_path, clean_environment):
    """Start a remote host, which is killed at the end if it is left."""
    hosts = []

    def start():
        (file,) = (tmp_path / "run" / "controllers").glob("[!.]*.json")
        command = [sys.executable, "-m", "ogg_hpc", "actors", "actor", "--connect", str(file)]
        hosts.append(
            subprocess.Popen(
                [*command, "--processes", "1", "--environments", "2", "--pause", "0.1"],
                env=clean_environment,
                cwd=tmp_path,
                stderr=subprocess.PIPE,
            )
        )
        return hosts[-1]

    yield start
    for host in hosts:
        host.kill()
        host.communicate()


def step(folder):
    rows = folder / "run" / "metrics.jsonl"
    whole = rows.read_text().split("\n")[:-1] if rows.exists() else []
    return json.loads(whole[-1])["step"] if whole else 0


def learns(job, folder):
    """Wait until rounds have been made that nobody had begun before."""
    before = step(folder)
    assert job.wait_until(lambda: step(folder) >= before + 3 * 64), job.errors


def test_remote_hosts_outlive_a_killed_learner_and_serve_the_one_that_goes_on(
    start_learner, start_host, tmp_path
):
    with start_learner() as job:
        host = start_host()
        learns(job, tmp_path)
        os.kill(job.rank(0), signal.SIGKILL)
        assert job.wait_for_the_end(LIMIT) != 0  # and no controller is left
    assert host.poll() is None
    with start_learner() as job:
        learns(job, tmp_path)
        assert "resumed at step" in job.errors
        os.kill(job.rank(0), signal.SIGTERM)
        assert job.wait_for_the_end(LIMIT) == 75, job.errors
    assert host.poll() is None  # for the run may go on again
    host.send_signal(signal.SIGTERM)
    assert host.wait(LIMIT) == 0


def test_a_run_goes_on_without_a_remote_host_that_fails(start_learner, start_host, tmp_path):
    def gone():
        return job.errors.count("has gone; 1 hosts are left")

    with start_learner() as job:
        failing, _ = start_host(), start_host()
        assert job.wait_until(lambda: hosts_of(tmp_path) == 2), job.errors
        learns(job, tmp_path)
        failing.send_signal(signal.SIGSTOP)
        assert job.wait_until(lambda: gone() == 1, LIMIT)
        learns(job, tmp_path)
        failing.send_signal(signal.SIGCONT)
        assert job.wait_until(lambda: hosts_of(tmp_path) == 3), job.errors
        learns(job, tmp_path)
        failing.send_signal(signal.SIGKILL)
        assert job.wait_until(lambda: gone() == 2, LIMIT)
        learns(job, tmp_path)
        os.kill(job.rank(0), signal.SIGTERM)
        assert job.wait_for_the_end(LIMIT) == 75, job.errors


def hosts_of(folder):
    """Return how many hosts have been given to the learner, one that comes back again counted."""
    (log,) = (folder / "run" / "controllers").glob("*.log")
    return log.read_text().count("serves learner-0")
