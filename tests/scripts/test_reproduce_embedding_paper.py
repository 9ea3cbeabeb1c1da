import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from ogg_hpc.runtime.launch import promised_size

pytest.importorskip("matplotlib")
pytestmark = [
    pytest.mark.skipif(promised_size() is not None, reason="the script starts ranks itself"),
    pytest.mark.usefixtures("mpiexec"),
    pytest.mark.timeout(900),  # the trial starts ranks three times
]

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    """Run the script as a user does, once, and return its folder and what it printed."""
    folder = tmp_path_factory.mktemp("figures")
    script, summary = SCRIPTS / "reproduce_embedding_paper.py", folder / "summary.json"
    command = [sys.executable, script, "--quick", "--output", folder, "--summary", summary]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPTS)
    import reproduce_embedding_paper

    return reproduce_embedding_paper


@pytest.mark.parametrize("figure", ["loss", "traffic", "time"])
def test_every_figure_is_drawn_with_its_numbers(trial, figure):
    folder, _ = trial
    assert (folder / f"{figure}.png").read_bytes().startswith(b"\x89PNG")
    with open(folder / f"{figure}.csv", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    strategies = {row["curve"].partition(",")[0] for row in rows}
    assert strategies == {"simple", "dot", "partitioned"}
    models = {row["curve"] for row in rows if "model" in row["curve"]}
    assert len(models) == (3 if figure == "time" else 0)


def test_the_loss_and_the_bytes_are_as_the_paper_claims(trial):
    folder, printed = trial
    claims = json.loads((folder / "summary.json").read_text())["results"]["claims"]
    [found] = claims.values()
    same, first, below, formulas = found.values()
    assert same["holds"]
    assert below["holds"]
    assert formulas["holds"]
    assert first["least bytes"] == {"2": "dot"}  # and nothing on more ranks
    assert len(printed.splitlines()) == 4


def test_what_is_finished_is_not_made_again(trial, script, monkeypatch):
    folder, _ = trial
    monkeypatch.setattr(script, "_embed", lambda *args: pytest.fail("a run was made"))
    monkeypatch.setattr(sys, "argv", ["script", "--quick", "--output", str(folder)])
    script.main()


def run(script, losses=(2.0, 1.0), counted=100):
    return script.Run(losses, 10, counted, 100, 1.0, 1.0)


def test_claims_that_do_not_hold_are_told(script):
    better = {1: run(script, counted=0), 2: run(script, counted=50), 8: run(script, counted=120)}
    runs = {name: {1: run(script), 2: run(script), 8: run(script)} for name in script.STRATEGIES}
    runs["dot"] = better
    holds = [claim["holds"] for claim in script.check({"a": runs})["a"].values()]
    assert holds == [True, True, False, False]
    runs["partitioned"][8] = run(script, losses=(2.0, 1.01))
    runs["dot"][8] = run(script, counted=50)
    holds = [claim["holds"] for claim in script.check({"a": runs})["a"].values()]
    assert holds == [False, False, False, False]


def test_an_unknown_graph_and_a_failed_run_are_told(script, monkeypatch, tmp_path, capsys):
    for arguments, message in (
        (["--graphs", "moon"], "no graph moon; choose from"),
        (["--ranks", "1"], "one worker sends nothing"),
        (["--ranks", "0", "2"], "--ranks are at least 1"),
        (["--data", str(tmp_path), "--ranks", "2"], "wiki-Vote.txt"),
    ):
        command = ["script", "--output", str(tmp_path / "out"), *arguments]
        monkeypatch.setattr(sys, "argv", command)
        with pytest.raises(SystemExit) as raised:
            script.main()
        assert raised.value.code == 2
        assert message in capsys.readouterr().err
