"""A rank that no longer answers ends the job, with a reason; one that works does not."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.launch import start
from ogg_hpc.runtime.watchdog import process_state

PRELUDE = """
import os
import signal
import sys
import time

import numpy as np

from ogg_hpc.runtime.launch import start

comm = start("cpu", timeout=1)


def stop(rank):
    if comm.rank == rank:
        os.kill(os.getpid(), signal.SIGSTOP)


def work():
    time.sleep(3)
"""

COLLECTIVES = {
    "allreduce": "comm.allreduce(np.ones(2))",
    "allgatherv": "comm.allgatherv(np.ones(1), [1] * comm.size)",
    "reduce_scatter": "comm.reduce_scatter(np.ones(3), [1] * comm.size)",
    "alltoallv": "comm.alltoallv(np.ones(3), [1] * comm.size)",
    "broadcast": "comm.broadcast(np.ones(2), root=STOPPED)",
    "broadcast_object": "comm.broadcast_object(1, root=STOPPED)",
    "gather_objects": "comm.gather_objects(1)",
    "barrier": "comm.barrier()",
    "split": "comm.split(0)",
    "on_root": "comm.on_root(lambda: stop(0))",
    "on_all": "comm.on_all(lambda: stop(STOPPED))",
}


@pytest.fixture
def end_of(run_ranks, tmp_path):
    """Run a script that has a communicator with a timeout of a second."""

    def run(text, ranks=3, variables=None, first=""):
        script = tmp_path / "script.py"
        script.write_text(first + PRELUDE + text)
        return run_ranks(ranks, [script], limit=30, variables=variables)

    return run


def messages(run):
    return re.findall(r"^ogg-hpc: (.*)", run.stderr, re.MULTILINE)


@pytest.mark.parametrize(("name", "call"), COLLECTIVES.items(), ids=COLLECTIVES)
def test_a_stopped_rank_ends_the_job_with_one_message(end_of, name, call):
    stopped = 0 if name == "on_root" else 1
    before = "" if name.startswith("on_") else f"stop({stopped})\n"
    run = end_of(before + call.replace("STOPPED", str(stopped)), ranks=3)
    assert run.returncode == 124
    (message,) = messages(run)
    assert re.match(rf"rank [012] has waited [1-5] s in {name}, so the job ends", message)
    assert f"it misses rank {stopped} (stopped). If ranks are only slow, allow more" in message


def test_a_stopped_rank_ends_the_job_of_those_that_wait_for_its_letters(end_of):
    run = end_of(
        """
mailbox = comm.mailbox()
stop(0)
with mailbox.watched():
    mailbox.arrived(60)
"""
    )
    assert run.returncode == 124
    (message,) = messages(run)
    assert re.match(r"rank [12] has waited [1-5] s in mailbox, so the job ends", message)
    assert "it misses rank 0 (stopped)" in message


def test_letters_may_be_long_in_coming(end_of):
    run = end_of(
        """
mailbox = comm.mailbox()
if comm.rank == 0:
    work()
    for rank in (1, 2):
        mailbox.post(rank, b"at last")
else:
    with mailbox.watched():
        assert mailbox.arrived(60) == [(0, b"at last")]
mailbox.close()
"""
    )
    assert (run.returncode, messages(run)) == (0, [])


def test_a_rank_that_is_stopped_while_it_waits_itself_is_found(end_of):
    run = end_of(
        """
import threading
if comm.rank == 1:
    threading.Timer(0.2, stop, [1]).start()
    comm.barrier()
work()
comm.barrier()
""",
        ranks=2,
    )
    assert run.returncode == 124
    assert "it misses rank 1 (stopped)" in messages(run)[0]


def test_a_rank_that_does_something_else_is_named(end_of):
    run = end_of("if comm.rank == 2:\n    time.sleep(60)\ncomm.barrier()")
    assert run.returncode == 124
    assert "it misses rank 2 (busy)" in messages(run)[0]


def test_a_missing_rank_of_another_node_is_said_to_be_there(end_of, mpiexec):
    library = subprocess.run(
        [sys.executable, "-c", "from mpi4py import MPI; print(MPI.Get_library_version())"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    if not library.startswith("MPICH"):
        pytest.skip("only MPICH takes ranks of one machine for several nodes")
    nodes = {"MPIR_CVAR_NUM_CLIQUES": "3"}
    run = end_of("stop(0)\ncomm.barrier()", variables=nodes)
    assert run.returncode == 124
    assert "a missing one is on another node" in messages(run)[0]


def test_traces_show_what_was_waited_for(end_of, tmp_path, read_trace):
    run = end_of(
        f"""
from ogg_hpc.runtime.trace import profiled

with profiled(comm, {str(tmp_path / "profile")!r}):
    comm.allreduce(np.ones(2))
    stop(1)
    comm.allreduce(np.ones(2))
""",
        ranks=2,
    )
    assert run.returncode == 124
    _, spans = read_trace(tmp_path / "profile" / "rank-00000.json")
    assert [span["name"] for span in spans] == ["allreduce", "allreduce, without end"]
    assert spans[1]["dur"] >= 1e6


def test_ranks_in_containers_of_their_own_see_one_another(end_of):
    user_namespace = """
import ctypes
import os
import sys

if ctypes.CDLL(None).unshare(0x10000000):  # CLONE_NEWUSER, as rootless containers do
    sys.exit("no namespaces")
"""
    run = end_of("stop(1)\ncomm.barrier()", first=user_namespace)
    if "no namespaces" in run.stderr:
        pytest.skip("this machine allows no namespaces of users")
    assert run.returncode == 124
    assert "it misses rank 1 (stopped)" in messages(run)[0]


NO_FILE = """
import os
import ogg_hpc.runtime.watchdog


def failing(*_):
    raise PermissionError


if os.environ.get("PMI_RANK", os.environ.get("OMPI_COMM_WORLD_RANK")) == "1":
    ogg_hpc.runtime.watchdog.open = failing
"""
NO_ROOM = """
import tempfile

open_file = tempfile.NamedTemporaryFile


def full(**options):
    file = open_file(**options)
    file.write = open("/dev/full", "wb", buffering=0).write
    return file


tempfile.NamedTemporaryFile = full
"""


@pytest.mark.parametrize("first", [NO_FILE, NO_ROOM], ids=["no file", "no room"])
def test_ranks_that_share_no_memory_are_watched_each_by_itself(end_of, first):
    run = end_of("stop(0)\ncomm.barrier()", first=first)
    assert run.returncode == 124
    assert "a missing one is on another node, or in another container" in messages(run)[0]


@pytest.mark.parametrize("method", ["on_root", "on_all"])
def test_work_of_a_rank_may_take_longer(end_of, method):
    run = end_of(f"comm.{method}(lambda: work() if comm.rank == 0 else None)")
    assert (run.returncode, messages(run)) == (0, [])


def test_ranks_that_wait_for_one_another_in_turn_are_found(end_of):
    run = end_of(
        "part = comm.split(min(comm.rank, 1))\n(part if comm.rank == 1 else comm).barrier()"
    )
    assert run.returncode == 124
    assert "all ranks wait, but in different collectives" in messages(run)[0]


def test_ranks_of_other_groups_are_not_blamed(end_of):
    run = end_of(
        """
part = comm.split(min(comm.rank, 1))
if comm.rank == 0:
    time.sleep(60)
stop(1)
part.barrier()
"""
    )
    assert run.returncode == 124
    assert "it misses rank 1 (stopped)" in messages(run)[0]
    assert "rank 0 (" not in messages(run)[0]


def test_a_job_may_be_suspended_as_a_whole(mpiexec, clean_environment, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        PRELUDE
        + """
pids = comm.gather_objects(os.getpid())
if comm.rank == 0:
    print(*pids, flush=True)
ends = time.monotonic() + 5
while comm.allreduce(np.array([ends - time.monotonic()]), "max")[0] > 0:
    pass
"""
    )
    with subprocess.Popen(
        [mpiexec, "-n", "2", sys.executable, script],
        env=clean_environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as launcher:  # fmt: skip
        ranks = [int(pid) for pid in launcher.stdout.readline().split()]
        try:
            for rank in ranks:
                os.kill(rank, signal.SIGSTOP)
            time.sleep(3)  # longer than the timeout
            assert [process_state(rank) for rank in ranks] == ["stopped"] * 2
            for rank in ranks:
                os.kill(rank, signal.SIGCONT)
            assert (launcher.wait(30), launcher.stderr.read()) == (0, "")
        finally:
            for rank in ranks:
                with suppress(ProcessLookupError):
                    os.kill(rank, signal.SIGKILL)


def test_no_limit_is_no_watchdog(end_of):
    run = end_of(
        "import threading\n"
        "print([t.name for t in threading.enumerate()], flush=True)\n"
        "start('cpu', timeout=0)\n"
        "print(sum(t.name == 'watchdog' for t in threading.enumerate()), flush=True)",
        ranks=1,
    )
    assert run.stdout.splitlines() == ["['MainThread', 'watchdog']", "1"]


@pytest.mark.parametrize("timeout", [-1.0, float("nan")])
def test_a_timeout_that_is_none_is_refused(timeout):
    with pytest.raises(SettingsError, match="the timeout is a number of seconds, 0 for none"):
        start(timeout=timeout)


def test_the_state_of_a_process_is_told():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert process_state(process.pid) == "busy"
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert process_state(process.pid) == "gone"
    assert process_state(process.pid) == "gone"
