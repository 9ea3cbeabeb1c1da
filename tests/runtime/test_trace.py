import json
import time
from pathlib import Path

import numpy as np
import pytest

from ogg_hpc.errors import InputError
from ogg_hpc.runtime import trace as module
from ogg_hpc.runtime.clock import Clock
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.trace import NO_TRACE, profiled

DEBIAN = Path(__file__).parents[2] / "datasets" / "debian-bookworm.h5"


@pytest.fixture
def comm():
    return Communicator()


def test_spans_are_written_with_their_times_and_arguments(comm, tmp_path, read_trace):
    with profiled(comm, tmp_path / "new"), comm.trace.span("outer", of=3):
        start = time.perf_counter()
        with comm.trace.span("inner"):
            pass
        end = time.perf_counter()
        comm.trace.add("step", "step", start, end, left=7)
    about, spans = read_trace(tmp_path / "new" / "rank-00000.json")
    assert (about["format"], about["ranks"], about["left_out"]) == ("ogg-hpc-trace/1", 1, {})
    by_name = {span["name"]: span for span in spans}
    assert by_name["outer"]["args"] == {"of": 3}
    assert by_name["step"]["args"] == {"left": 7}
    assert by_name["step"]["dur"] == pytest.approx(1e6 * (end - start), abs=0.01)
    assert by_name["inner"]["dur"] <= by_name["step"]["dur"] <= by_name["outer"]["dur"]


def test_phases_and_collectives_are_spans(comm, tmp_path, read_trace):
    with profiled(comm, tmp_path):
        clock = Clock(comm, "learn", "average")
        with clock("learn"):
            comm.allreduce(np.zeros(4))
            with clock("average"):
                comm.alone().allgatherv(np.zeros((2, 3)), [2])
    _, spans = read_trace(tmp_path / "rank-00000.json")
    assert {span["name"]: span["cat"] for span in spans} == {
        "learn": "phase", "average": "phase", "allreduce": "collective",
        "allgatherv": "collective",
    }  # fmt: skip
    by_name = {span["name"]: span for span in spans}
    assert by_name["allreduce"]["args"] == {"bytes": 0, "path": "host"}
    seconds = clock.report()  # a phase inside another counts once there, and is nested here
    assert by_name["average"]["dur"] == pytest.approx(1e6 * seconds["average"], abs=0.01)
    both = 1e6 * (seconds["learn"] + seconds["average"])
    assert by_name["learn"]["dur"] == pytest.approx(both, abs=0.01)


def test_spans_of_a_name_are_bounded_and_the_rest_is_counted(
    comm, tmp_path, monkeypatch, read_trace
):
    monkeypatch.setattr(module, "MOST_OF_A_NAME", 10)
    with profiled(comm, tmp_path):
        for _ in range(25):
            start = time.perf_counter()
            comm.trace.add("step", "step", start, start + 0.5)
        with comm.trace.span("last"):
            pass
    document = json.loads((tmp_path / "rank-00000.json").read_text())
    names = [event["name"] for event in document["traceEvents"] if event["ph"] == "X"]
    assert names == ["step"] * 10 + ["last"]
    assert document["otherData"]["left_out"] == {
        "step": {"spans": 15, "seconds": pytest.approx(7.5)}
    }
    [labels] = [e["args"] for e in document["traceEvents"] if e["name"] == "process_labels"]
    assert "15 step left out" in labels["labels"]


def test_nothing_is_recorded_without_a_folder(comm, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with profiled(comm, None), comm.trace.span("work"):
        comm.allreduce(np.zeros(4))
        assert comm.trace is NO_TRACE
    assert vars(NO_TRACE) == {}
    assert list(tmp_path.iterdir()) == []


def test_an_error_leaves_a_trace(comm, tmp_path, read_trace):
    def fail():
        with profiled(comm, tmp_path), comm.trace.span("work"):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    _, [span] = read_trace(tmp_path / "rank-00000.json")
    assert span["name"] == "work"
    assert comm.trace is NO_TRACE


def test_a_trace_that_cannot_be_written_hides_no_other_error(comm, tmp_path):
    def lose_folder(folder, error):
        with profiled(comm, folder):
            folder.rmdir()
            folder.touch()
            if error is not None:
                raise error

    with pytest.raises(ZeroDivisionError):
        lose_folder(tmp_path / "a", ZeroDivisionError())
    with pytest.raises(InputError, match="cannot be written"):
        lose_folder(tmp_path / "b", None)
    assert comm.trace is NO_TRACE


def test_traces_of_an_earlier_run_go_and_other_files_stay(comm, tmp_path):
    for name in ("rank-00000.json", "rank-00007.json", "rank-100000.json"):
        (tmp_path / name).write_text("earlier")
    for name in ("rank-7.json", "all.json"):
        (tmp_path / name).write_text("mine")
    with profiled(comm, tmp_path):
        assert {path.name for path in tmp_path.iterdir()} == {"rank-7.json", "all.json"}
    assert "earlier" not in (tmp_path / "rank-00000.json").read_text()


def test_a_folder_that_cannot_be_is_an_error_before_the_work(comm, tmp_path):
    (tmp_path / "file").touch()
    worked = False
    with pytest.raises(InputError, match="cannot be written"), profiled(comm, tmp_path / "file"):
        worked = True
    assert not worked


def test_times_of_ranks_are_of_one_clock(monkeypatch):
    """Three ranks on two machines, whose clocks differ by 1,000 seconds."""

    class Ranks(Communicator):
        rank, size = 2, 3

        def gather_objects(self, value):
            (machine, moments) = value
            late = np.linspace(0, 1e-4, len(moments))
            return [
                ("one", [moment - 1000 + x for moment, x in zip(moments, late, strict=True)]),
                (machine, moments),
                (machine, [moment + 0.5 for moment in moments]),  # preempted
            ]

    offset, accuracy, zero = module._agree_on_time(Ranks())
    assert offset == pytest.approx(-1000 + 0.5e-4, abs=1e-9)
    assert accuracy == pytest.approx(0.5e-4, abs=1e-9)
    assert zero + 1000 == pytest.approx(time.perf_counter(), abs=60)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_each_rank_of_a_solve_writes_a_trace(run_ranks, tmp_path, read_trace, ranks):
    start = time.perf_counter()
    folder = tmp_path / "profile"
    arguments = ["solve", DEBIAN, "--output", tmp_path / "a.json"]
    arguments += ["--json", "--profile", folder]
    done = run_ranks(ranks, ["-m", "ogg_hpc", *arguments], limit=240)
    wall = time.perf_counter() - start
    record = json.loads(done.stdout)
    assert len(list(folder.iterdir())) == ranks
    for rank in range(ranks):
        about, spans = read_trace(folder / f"rank-{rank:05}.json")
        assert (about["rank"], about["ranks"]) == (rank, ranks)
        [whole] = [span for span in spans if span["name"] == "solve"]
        phases = [span for span in spans if span["name"] in record["phases"]]
        assert {span["name"] for span in phases} >= {"read", "reduce", "policy", "bound"}
        assert record["phases"]["policy"]["min"] <= whole["dur"] / 1e6 <= wall
        for phase, spread in record["phases"].items():
            if phase == "total":
                continue
            seconds = sum(span["dur"] for span in phases if span["name"] == phase) / 1e6
            assert spread["min"] - 1e-4 <= seconds <= spread["max"] + 1e-4
        collectives = [span for span in spans if span["cat"] == "collective"]
        if rank == 0:
            for name, count in record["collectives"].items():
                of_name = [span["args"] for span in collectives if span["name"] == name]
                assert len(of_name) == count["calls"]
                assert sum(args["bytes"] for args in of_name) == count["bytes"]


def test_a_rank_that_fails_alone_leaves_its_trace(run_ranks, tmp_path, read_trace):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\n"
        "from ogg_hpc.runtime.launch import start\n"
        "from ogg_hpc.runtime.trace import profiled\n"
        "comm = start('cpu')\n"
        "with profiled(comm, sys.argv[1]), comm.trace.span('work'):\n"
        "    if comm.rank == 1: raise ZeroDivisionError\n"
        "    comm.barrier()\n"
    )
    done = run_ranks(2, [script, tmp_path / "profile"])
    assert done.returncode != 0
    _, [span] = read_trace(tmp_path / "profile" / "rank-00001.json")
    assert span["name"] == "work"
