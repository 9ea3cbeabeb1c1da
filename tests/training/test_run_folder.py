"""What the folder of a run tells of where it ran, what it said and where its time went."""

import json
import re
import signal
import socket
import sys

import pytest

from ogg_hpc.errors import SettingsError, StoppedError
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.environment import commit
from ogg_hpc.settings import build
from ogg_hpc.training.run import train
from ogg_hpc.training.settings import TrainSettings


@pytest.fixture
def evolution():
    return build(
        TrainSettings,
        {
            "policy": "degree-messages",
            "method": "evolution",
            "train": [{"family": "er", "nodes": 20, "p": 0.2, "count": 2}],
            "validation": [{"family": "er", "nodes": 20, "p": 0.2, "count": 2, "seed": 9}],
            "evolution": {"generations": 2, "population": 4},
            "output": {"tensorboard": False},
        },
    )


def starts(folder):
    return json.loads((folder / "environment.json").read_text())


def said(folder):
    """The first line of each entry of the log, without its time."""
    text = (folder / "log.txt").read_text()
    return re.findall(r"^\d{4}-\S+ \[rank 0\] (.*)$", text, flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("method", "parts"),
    [("q-learning", {"act", "learn", "average"}), ("evolution", {"draw", "play", "tell"})],
)
def test_record_says_where_the_time_went(small_settings, evolution, tmp_path, method, parts):
    settings = small_settings() if method == "q-learning" else evolution
    record = train(Communicator(), settings, tmp_path)
    assert set(record["phases"]) == {"setup", "evaluate", "checkpoint", "total", *parts}
    middle = {name: spread["median"] for name, spread in record["phases"].items()}
    assert all(
        spread["min"] == middle[name] == spread["max"] >= 0
        for name, spread in record["phases"].items()
    )
    total = middle.pop("total")
    assert 0 < sum(middle.values()) <= total <= record["seconds"]
    assert all(middle[name] > 0 for name in {"setup", "evaluate", *parts})
    assert record["commit"] == commit()
    assert record["hosts"] == [{"host": socket.gethostname(), "ranks": 1}]
    assert json.loads((tmp_path / "record.json").read_text()) == record


def test_every_start_and_all_that_was_said_stay(small_settings, tmp_path, capsys):
    train(Communicator(), small_settings(learning={"steps": 10}), tmp_path)
    train(Communicator(), small_settings(learning={"steps": 20}), tmp_path, resume=True)
    first, second = starts(tmp_path)
    assert (first["step"], second["step"]) == (0, 10)
    assert first["command"] == sys.argv
    assert first["hosts"][0]["host"] == socket.gethostname()
    assert {"versions", "commit", "mpi", "launcher", "time", "device"} <= set(second)
    lines = capsys.readouterr().err.splitlines()
    assert said(tmp_path) == lines
    assert [line.partition(":")[0] for line in lines] == [
        "step 0", "step 10", "resumed at step 10 of 20", "step 10", "step 20",
    ]  # fmt: skip


def test_a_damaged_list_of_starts_is_begun_anew(small_settings, tmp_path):
    (tmp_path / "environment.json").write_text("[{")
    train(Communicator(), small_settings(learning={"steps": 2}), tmp_path)
    assert len(starts(tmp_path)) == 1


@pytest.mark.filterwarnings("ignore:invalid value")
def test_the_log_says_why_a_run_ended(small_settings, tmp_path):
    with pytest.raises(StoppedError):
        train(Communicator(), small_settings(), tmp_path / "a", stop=lambda: signal.SIGTERM)
    assert said(tmp_path / "a")[-1].startswith("stopped by SIGTERM at step 0 of ")
    diverging = small_settings(learning={"learning_rate": 1e300})
    with pytest.raises(SettingsError):
        train(Communicator(), diverging, tmp_path / "b")
    assert said(tmp_path / "b")[-1].startswith("the loss is no longer finite")


def test_the_log_holds_common_mistakes(small_settings, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("OMP_NUM_THREADS", "1000")
    train(Communicator(), small_settings(learning={"steps": 2}), tmp_path)
    assert any("set OMP_NUM_THREADS=" in line for line in said(tmp_path))
    assert "OMP_NUM_THREADS" not in capsys.readouterr().err
    assert "set OMP_NUM_THREADS=" in starts(tmp_path)[0]["warnings"][0]


def test_ranks_trace_the_parts_of_a_step(run_ranks, tmp_path, read_trace):
    overrides = ["--set", "learning.steps=12", "--set", "learning.batch=4"]
    arguments = ["train", "default", "--output", tmp_path / "run", "--profile", tmp_path / "trace"]
    done = run_ranks(2, ["-m", "ogg_hpc", *arguments, *overrides, "--json"], limit=240)
    record = json.loads(done.stdout)
    for rank in range(2):
        _, spans = read_trace(tmp_path / "trace" / f"rank-{rank:05}.json")
        seconds = {
            name: sum(span["dur"] for span in spans if span["name"] == name) / 1e6
            for name in record["phases"]
        }
        for name in ("act", "average", "evaluate", "checkpoint", "setup"):
            spread = record["phases"][name]
            assert spread["min"] - 1e-4 <= seconds[name] <= spread["max"] + 1e-4
        # learning itself, and in it the Allreduce of the gradients
        alone, average = record["phases"]["learn"], record["phases"]["average"]
        assert seconds["learn"] >= alone["min"] + average["min"] - 1e-4
        assert len([span for span in spans if span["name"] == "act"]) == 12
        # a step that writes none is no checkpoint
        assert len([span for span in spans if span["name"] == "checkpoint"]) == 1
