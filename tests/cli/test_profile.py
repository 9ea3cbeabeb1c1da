"""Whatever way a command ends, the ranks that live to see it write their traces."""

import subprocess
import sys

import pytest

from ogg_hpc.graphs.generators import erdos_renyi
from ogg_hpc.graphs.shards import write_store


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_store(tmp_path / "hard.h5", [erdos_renyi(200, 0.15, seed=1)])
    return tmp_path


def names(spans):
    return {span["name"] for span in spans}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["solve", "hard.h5", "--no-reduce"], {"solve", "read", "policy", "step", "verify"}),
        (["solve", "hard.h5", "--samples", "3"], {"solve", "sample", "policy"}),
        (["solve", "hard.h5", "--polish", "0.5"], {"solve", "polish", "round", "allreduce"}),
        (
            ["evaluate", "hard.h5", "--policy", "max-degree", "--policy", "mvc"],
            {"evaluate", "graph", "max-degree", "mvc", "step"},
        ),
        (["info"], {"info"}),
    ],
)
def test_every_parallel_command_writes_traces(ogg, here, read_trace, arguments, expected):
    code, _, _ = ogg(*arguments, "--profile", "profile")
    assert code == 0
    about, spans = read_trace(here / "profile" / "rank-00000.json")
    assert expected <= names(spans)
    assert about["ranks"] == 1


def test_a_step_says_how_many_candidates_there_were(ogg, here, read_trace):
    for engine in ("scalar", "reference"):
        assert ogg("solve", "hard.h5", "--no-reduce", "--engine", engine, "--select", "one",
                   "--profile", engine)[0] == 0  # fmt: skip
        _, spans = read_trace(here / engine / "rank-00000.json")
        left = [span["args"]["candidates"] for span in spans if span["name"] == "step"]
        assert left[0] == 200
        assert left == sorted(left, reverse=True)


def test_a_users_error_leaves_the_traces_of_all_ranks(run_ranks, here, read_trace):
    (here / "bad.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n2 2 9\n1 2\n")
    done = run_ranks(2, ["-m", "ogg_hpc", "solve", "bad.mtx", "--profile", "profile"])
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    for rank in range(2):
        _, spans = read_trace(here / "profile" / f"rank-{rank:05}.json")
        assert names(spans) == {"solve", "read"}


@pytest.mark.parametrize(("signal", "code"), [("SIGINT", 130), ("SIGTERM", 0)])
def test_a_signal_leaves_a_trace(here, read_trace, clean_environment, signal, code):
    """SIGINT a command that does not note it, SIGTERM one that comes to an end by it."""
    script = f"""
import os, signal, sys
from ogg_hpc.cli import main
from ogg_hpc.search import evaluate, solve

def signalled(function):
    def run(*arguments):
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.kill(os.getpid(), signal.{signal})
        return function(*arguments)
    return run

solve.polish = signalled(solve.polish)
sys.argv = ["ogg-hpc", "solve", "hard.h5", "--polish", "600", "--profile", "profile"]
main.main()
"""
    done = subprocess.run(
        [sys.executable, "-c", script], env=clean_environment, timeout=120, cwd=here,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    _, spans = read_trace(here / "profile" / "rank-00000.json")
    assert {"solve", "policy", "polish"} <= names(spans)


def test_a_folder_that_cannot_be_is_one_message(ogg, here):
    code, out, err = ogg("solve", "hard.h5", "--profile", "hard.h5")
    assert (code, out) == (2, "")
    assert err.startswith("ogg-hpc: ")
    assert "cannot be written" in err
    assert err.count("\n") == 1
