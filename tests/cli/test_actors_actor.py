"""Hosts from the command line, with real environment processes behind them."""

import re
import signal
import subprocess
import sys

import pytest
from remote_learner import LIMIT, RemoteLearner
from stand_in_learner import StandInLearner

from ogg_hpc.runtime.watchdog import process_state


class FarHost:
    """A remote host, in the place of one of the same process."""

    def __init__(self, learner):
        self._learner = learner
        learner.until(lambda: learner.hellos)
        (self._number,) = learner.hellos

    def handle(self, data):
        self._learner.transport.send(self._number, data)

    def poll(self, seconds):
        self._learner.poll(seconds)
        said, self._learner.said[self._number] = self._learner.said[self._number], []
        return said


@pytest.fixture
def learner(tmp_path):
    learner = RemoteLearner(tmp_path / "run", lease=10.0)
    yield learner
    learner.transport.close(finished=False)


@pytest.fixture
def start(learner):
    """Start ``actors actor`` in a process of its own."""
    processes = []

    def start(*arguments):
        command = [sys.executable, "-m", "ogg_hpc", "actors", "actor", *map(str, arguments)]
        processes.append(subprocess.Popen(command, stderr=subprocess.PIPE, text=True))
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def test_a_host_answers_and_leaves_at_a_signal_with_exit_code_0(learner, start):
    command = ("--processes", 2, "--environments", 2)
    process = start("--connect", learner.announcement, *command)
    far = StandInLearner(FarHost(learner), 4, options={"seconds": 0.01})
    schema = far.until_ready()
    assert learner.hellos[1].integer("capacity") == 4
    far.publish(1)
    assert all(fragment.steps == 3 for fragment in far.collect(3).values())
    far.grant(1_000_000)
    far.until(lambda come: any(m.kind == "progress" for m in come))
    process.send_signal(signal.SIGTERM)
    messages = far.until(lambda come: any(m.kind == "goodbye" for m in come))
    fragments = [m for m in messages if m.kind == "fragment"]
    assert {m.integer("slot") for m in fragments} == {0, 1, 2, 3}
    assert not any(m.flag("complete") for m in fragments)
    learner.until(lambda: learner.gone == [1])
    assert process.wait(LIMIT) == 0
    said = process.stderr.read().splitlines()
    assert re.fullmatch(rf"\S+: serves {learner.address}", said[0])
    assert "leaves" in said[1]
    assert schema.observations


def test_a_host_ends_with_exit_code_0_when_the_run_does(learner, start):
    process = start("--connect", learner.address, "--token-file", learner.token_file)
    learner.until(lambda: learner.hellos)
    learner.transport.close()
    assert process.wait(LIMIT) == 0
    assert "the run is finished" in process.stderr.read()


def test_a_host_that_is_refused_says_so_once_with_exit_code_2(learner, start, tmp_path):
    token = tmp_path / "token"
    token.write_text("wrong" * 10)
    token.chmod(0o600)
    process = start("--connect", learner.address, "--token-file", token)
    learner.until(lambda: process.poll() is not None)
    assert process.returncode == 2
    message = process.stderr.read()
    assert message.startswith(f"ogg-hpc: {learner.address} refuses this host: wrong token")
    assert message.count("\n") == 1
    assert learner.transport.refused == {"wrong token": 1}


def test_processes_of_a_host_that_is_killed_end_too(learner, start):
    process = start("--connect", learner.announcement, "--processes", 2, "--environments", 1)
    far = StandInLearner(FarHost(learner), 2, options={"seconds": 0.01})
    far.until_ready()
    family = descendants(process.pid)
    assert len(family) >= 2
    process.kill()
    learner.until(lambda: learner.gone == [1])
    learner.until(lambda: all(process_state(pid) == "gone" for pid in family))


def descendants(pid):
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout
    children = [int(line) for line in found.split()]
    return children + [each for child in children for each in descendants(child)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--connect", "node7"), "expected HOST:PORT"),
        (("--connect", "node7:1"), "--token-file"),
        (("--connect", "node7:1", "--lease", "0"), "--lease must be positive"),
        (("--connect", "node7:1", "--environments", "0"), "at least 1"),
        (("--connect", "node7:1", "--token-file", "missing"), "no token"),
    ],
)
def test_what_a_host_cannot_begin_with_is_told(ogg, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = ogg("actors", "actor", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
