"""Whatever ends a host, nothing of it is left, and what it starts anew takes nothing more."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from stand_in_learner import LIMIT, SCRIPTED, StandInLearner

from ogg_hpc.actors.host import Host
from ogg_hpc.runtime.watchdog import process_state

TESTS = Path(__file__).parents[1]


def wait_until(condition):
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def all_gone(pids):
    return all(process_state(pid) == "gone" for pid in pids)


@pytest.fixture
def variables(clean_environment):
    """Environment variables with which the programs beside these tests find what they import."""
    paths = [str(TESTS), *filter(None, [clean_environment.get("PYTHONPATH")])]
    return {**clean_environment, "PYTHONPATH": os.pathsep.join(paths)}


@pytest.mark.parametrize("before", ["nothing", "process stands still", "host does not listen"])
def test_a_host_that_is_killed_leaves_nothing(tmp_path, variables, before):
    program = [sys.executable, str(Path(__file__).with_name("host_that_is_killed.py"))]
    with subprocess.Popen([*program, str(tmp_path)], env=variables) as host:
        wait_until((tmp_path / "processes").exists)
        pids = [int(word) for word in (tmp_path / "processes").read_text().split()]
        assert not any(process_state(pid) == "gone" for pid in pids)
        if before == "process stands still":
            os.kill(pids[1], signal.SIGSTOP)
        if before == "host does not listen":  # to the news of the end of a process
            host.send_signal(signal.SIGSTOP)
            for pid in pids[1:3]:  # when the second has been reaped, the first was told of
                os.kill(pid, signal.SIGKILL)
                wait_until(lambda pid=pid: not Path(f"/proc/{pid}").exists())
        host.kill()
    wait_until(lambda: all_gone(pids))


@pytest.fixture
def start(tmp_path):
    """Start a host, and a learner whose environments obey the files of a folder."""
    hosts = []

    def start(slots, **options):
        hosts.append(Host(slots, 1))
        learner = StandInLearner(hosts[-1], slots, SCRIPTED, {"folder": str(tmp_path), **options})
        learner.publish(1)
        return learner

    yield start
    for host in hosts:
        host.close()


def pid_of(fragment):
    return int(fragment.arrays["reward"][0])


@pytest.mark.parametrize("fault", ["nothing", "stopped", "busy"])
def test_a_host_that_is_closed_leaves_nothing(start, tmp_path, fault):
    learner = start(3, apart=True)
    (tmp_path / "1").write_text(f"spawn {tmp_path / 'spawned'}")
    pids = [pid_of(fragment) for fragment in learner.collect(1).values()]
    pids.append(int((tmp_path / "spawned").read_text()))
    if fault == "stopped":
        os.kill(pids[0], signal.SIGSTOP)
    if fault == "busy":
        learner.grant(1_000_000_000)
    begun = time.monotonic()
    learner.host.close()
    assert time.monotonic() - begun < 10
    assert all_gone(pids)


def test_what_an_environment_has_started_ends_with_its_process(start, tmp_path):
    learner = start(1)
    (tmp_path / "0").write_text(f"spawn {tmp_path / 'spawned'}")
    (fragment,) = learner.collect(1).values()
    os.kill(pid_of(fragment), signal.SIGKILL)
    learner.until_ready()
    wait_until(lambda: all_gone([int((tmp_path / "spawned").read_text())]))


def test_a_hundred_restarts_take_nothing_more(start):
    learner = start(1)
    taken = []
    for restart in range(101):
        (fragment,) = learner.collect(1).values()
        assert fragment.incarnation == restart
        if restart % 20 == 0:
            taken.append(what_is_taken(pid_of(fragment)))
        os.kill(pid_of(fragment), signal.SIGKILL)
        learner.until(lambda come: any(message.kind == "lost" for message in come))
    first, *others = ({k: v for k, v in each.items() if k != "memory"} for each in taken)
    for each in others:
        assert each == first
    assert taken[-1]["memory"] - taken[1]["memory"] < 1 << 20


def what_is_taken(process):
    """Return what this process, and the server that the given one was forked from, have taken."""
    server = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {
        "descriptors": len(os.listdir("/proc/self/fd")),
        "of the server": len(os.listdir(f"/proc/{server}/fd")),
        "of the process": len(os.listdir(f"/proc/{process}/fd")),
        # Its folder is everybody's; who makes a segment there has it mapped.
        "shared memory": [
            "/dev/shm" in Path(f"/proc/{pid}/maps").read_text()
            for pid in (os.getpid(), server, process)
        ],
        "children": len(Path(f"/proc/{server}/task/{server}/children").read_text().split()),
        "memory": pages * os.sysconf("SC_PAGE_SIZE"),
    }


@pytest.mark.parametrize("end", ["close", "exit"])
def test_ranks_that_are_hosts_come_to_their_end(run_ranks, tmp_path, variables, end):
    program = Path(__file__).with_name("host_as_a_rank.py")
    done = run_ranks(2, [program, tmp_path, end], variables=variables)
    assert (done.returncode, done.stdout.split()) == (0, ["20"]), done.stderr
