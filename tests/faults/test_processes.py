"""Whoever is killed or stopped, the job ends within seconds and no process is left."""

import os
import re
import signal
from pathlib import Path

import pytest
from watched_job import command_line, parent

from ogg_hpc.graphs.generators import erdos_renyi
from ogg_hpc.graphs.shards import write_store

SLOW = Path(__file__).with_name("slow_problems.py")
IN_STEPS = ("--engine", "reference", "--policy", "mvc-s2v", "--select", "one", "--no-reduce")
TRAINING = """
problem = "mvc"

[[train]]
family = "er"
nodes = 12
p = 0.3
count = 4

[[validation]]
family = "er"
nodes = 12
p = 0.3
count = 2

[learning]
steps = 1000000

[output]
evaluate_every = 1000000
"""
LIMIT = 20.0  # seconds to the end, on a loaded machine; an orphan would live for minutes


@pytest.fixture
def start_solve(start_job, tmp_path):
    """Start a solve that takes minutes and return when it has begun."""

    def start(ranks, problem, *options):
        graph = tmp_path / "graph.h5"
        write_store(graph, [erdos_renyi(3000, p=0.002, seed=1)])
        arguments = ("--problem", f"{SLOW}:{problem}", *IN_STEPS, *options)
        job = start_job(ranks, "solve", graph, *arguments)
        assert job.wait_until((tmp_path / "begun").exists), job.errors
        return job

    return start


@pytest.fixture
def start_training(start_job, tmp_path):
    """Start a training that takes minutes and return when it has begun."""

    def start(ranks, *options):
        settings = tmp_path / "long.toml"
        settings.write_text(TRAINING)
        job = start_job(ranks, "train", settings, "--output", tmp_path / "run", *options)
        assert job.wait_until(lambda: "step 0:" in job.errors), job.errors
        return job

    return start


@pytest.fixture
def start_exact(start_job):
    """Start an evaluation and return when a solver of others has begun, in its own process."""

    def start(ranks):
        family = "er:n=300,p=0.15,count=2,seed=1"
        against = ("--against", "exact", "--limit", "600")
        job = start_job(ranks, "evaluate", family, "--policy", "max-degree", *against)
        assert job.wait_until(
            lambda: any("exact_process.py" in command_line(pid) for pid in job.processes())
        ), job.errors
        return job

    return start


def kill(job, whom):
    if whom == "launcher":
        pid = job.process.pid
    elif whom == "proxy":
        pid = parent(job.rank(0))
        if pid == job.process.pid:
            pytest.skip("this launcher has no process between itself and the ranks")
    else:
        pid = job.rank(int(whom.removeprefix("rank ")))
    os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("whom", ["rank 0", "launcher", "proxy"])
def test_a_kill_ends_a_solve_inside_a_long_call(start_solve, whom):
    with start_solve(2, "OneLongCall") as job:
        kill(job, whom)
        assert job.wait_for_the_end(LIMIT) != 0
        assert "Traceback" not in job.errors


@pytest.mark.parametrize("whom", ["rank 1", "launcher", "proxy"])
def test_a_kill_ends_a_training(start_training, whom):
    with start_training(2) as job:
        kill(job, whom)
        assert job.wait_for_the_end(LIMIT) != 0
        assert "Traceback" not in job.errors


@pytest.mark.parametrize("whom", ["rank 1", "launcher", "proxy"])
def test_a_kill_ends_the_solvers_of_an_evaluation(start_exact, whom):
    pytest.importorskip("ortools")
    with start_exact(2) as job:
        kill(job, whom)
        assert job.wait_for_the_end(LIMIT) != 0


@pytest.mark.parametrize(("ranks", "stopped"), [(2, 0), (3, 1)])
def test_a_stopped_rank_ends_a_solve(start_solve, ranks, stopped):
    with start_solve(ranks, "ManySteps", "--timeout", "4") as job:
        stop_and_expect_a_message(job, stopped)


@pytest.mark.parametrize(("ranks", "stopped"), [(3, 0), (2, 1)])
def test_a_stopped_rank_ends_a_training(start_training, ranks, stopped):
    with start_training(ranks, "--timeout", "4") as job:
        stop_and_expect_a_message(job, stopped)


def stop_and_expect_a_message(job, rank):
    os.kill(job.rank(rank), signal.SIGSTOP)
    assert job.wait_for_the_end(LIMIT) == 124
    (message,) = re.findall("^ogg-hpc: (.*)", job.errors, re.MULTILINE)
    assert f"it misses rank {rank} (stopped)" in message
