import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ogg_hpc.graphs.generators import erdos_renyi
from ogg_hpc.problems.independence import independence_number
from ogg_hpc.runtime.launch import promised_size, start
from ogg_hpc.search.collection import listed
from ogg_hpc.search.evaluate import Evaluation, evaluate
from ogg_hpc.search.evaluation_tables import rows_from_csv
from ogg_hpc.search.methods import Search
from ogg_hpc.search.settings import SolveSettings

pytest.importorskip("matplotlib")
pytest.importorskip("ortools")
pytestmark = [
    pytest.mark.skipif(promised_size() is not None, reason="the script starts ranks itself"),
    pytest.mark.usefixtures("mpiexec"),
]

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    """Run the script as a user does, once, and return its folder and what it said."""
    folder = tmp_path_factory.mktemp("figures")
    script, summary = SCRIPTS / "reproduce_paper.py", folder / "summary.json"
    command = [sys.executable, script, "--quick", "--output", folder, "--summary", summary]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder, done.stderr


@pytest.fixture
def draw(trial, monkeypatch):
    """Return a function that runs the script on the same folder, in this process."""
    monkeypatch.syspath_prepend(SCRIPTS)
    import reproduce_paper

    def run(*arguments):
        command = ["script", "--quick", "--output", trial[0], *arguments]
        monkeypatch.setattr(sys, "argv", [str(word) for word in command])
        reproduce_paper.main()

    return run


def points(folder, figure):
    with open(folder / f"{figure}.csv", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize("figure", ["fig6", "fig7", "fig8", "fig9", "fig11"])
def test_every_figure_is_drawn_with_its_numbers(trial, figure):
    folder, _ = trial
    assert (folder / f"{figure}.png").read_bytes().startswith(b"\x89PNG")
    rows = points(folder, figure)
    assert {row["kind"] for row in rows} >= {"measured", "published"}
    assert all(float(row["least"]) <= float(row["mean"]) <= float(row["greatest"]) for row in rows)
    summary = json.loads((folder / "summary.json").read_text())
    assert set(summary["results"][figure]) == {row["panel"] for row in rows}


def test_a_figure_of_a_graph_that_is_not_given_is_left_out(trial):
    folder, said = trial
    assert "fig10 needs --graph" in said
    assert not (folder / "fig10.png").exists()


def test_ratios_are_to_the_smallest_covers(trial):
    folder, _ = trial
    rows = [
        row
        for path in (folder / "best-known").iterdir()
        for row in rows_from_csv(path.read_text(encoding="utf-8"))
    ]
    for row in rows:
        [graph] = listed([row.family])
        assert row.best == row.nodes - independence_number(graph.read())
    for figure in ("fig6", "fig8"):
        assert all(float(row["least"]) >= 1 for row in points(folder, figure))


def test_the_numbers_of_the_paper_are_drawn(trial):
    folder, _ = trial
    published = {
        (row["curve"].rpartition(", ")[2], float(row["x"])): float(row["mean"])
        for row in points(folder, "fig7")
        if row["kind"] == "published" and row["panel"] == "time of a solve"
    }
    assert published["one", 3000] == 407.5
    assert published["adaptive", 3000] == 109.9


def test_a_learning_curve_ends_with_what_the_learned_policy_finds(trial, monkeypatch):
    monkeypatch.syspath_prepend(SCRIPTS)
    import learning_curves

    folder, _ = trial
    comm = start("cpu")
    curves = learning_curves.LearningCurves(comm, folder, steps=20, every=5, tests=2, limit=0.5)
    tested = [learning_curves.Graphs("BA", 20), learning_curves.Graphs("BA", 45)]
    policy = folder / "runs" / "default-BA-20-seed-0"
    steps, ratios = curves.ratios(policy, tested)
    assert steps == [0, 5, 10, 15, 20]
    settings = SolveSettings(policy=str(policy / "last.npz"), select="one", reduce=False)
    for graphs, own in zip(tested, ratios, strict=True):
        known = {row.family: row.best for row in curves.compared(graphs)["exact"]}
        rows = evaluate(comm, Evaluation("mvc", listed(known), [Search("last", settings)]))
        found = np.mean([row.objective / known[row.family] for row in rows])
        np.testing.assert_allclose(own[-1], found, rtol=1e-12)


def test_what_is_finished_is_not_made_again(trial, draw, capsys):
    def losses():
        lines = (folder / "runs/paper-ER-45-tau-2-seed-0/metrics.jsonl").read_text().splitlines()
        return [json.loads(line).get("loss") for line in lines]

    folder, _ = trial
    before, drawn = losses(), points(folder, "fig8")
    draw("fig8")
    said = capsys.readouterr().err
    assert "resuming" in said
    assert "training" not in said
    assert "best known" not in said
    assert losses() == before
    assert points(folder, "fig8") == drawn


def test_more_ranks_than_cores_are_left_out(trial, draw, tmp_path, capsys):
    folder, _ = trial
    records = tmp_path / "times.json"
    time = {"step": "inference", "graph": "ER 15,000, p = 0.15", "engine": "scalar", "cores": 4}
    times = [{**time, "ranks": ranks, "seconds": 1 / ranks} for ranks in (8, 4, 2, 1)]
    records.write_text(json.dumps(times))
    draw("fig9", "--records", records)
    assert "8 ranks on 4 cores" in capsys.readouterr().err
    rows = [row for row in points(folder, "fig9") if row["curve"].startswith("ER 15,000")]
    assert [(float(row["x"]), float(row["mean"])) for row in rows] == [(1, 1), (2, 0.5), (4, 0.25)]


def test_speed_ups_on_a_real_world_graph_are_drawn(trial, draw, tmp_path):
    folder, _ = trial
    graph = tmp_path / "mine.txt"
    u, v, _ = erdos_renyi(100, 0.2, seed=1).edges()
    graph.write_text("".join(f"{a} {b}\n" for a, b in zip(u, v, strict=True)))
    draw("fig10", "--graph", graph)
    rows = [row for row in points(folder, "fig10") if row["kind"] == "measured"]
    cores = len(os.sched_getaffinity(0))
    assert [float(row["x"]) for row in rows] == list(range(1, cores + 1))
    assert float(rows[0]["mean"]) == 1


@pytest.mark.parametrize("content", [None, "[{}]", '{"results": {}}', "no JSON"])
def test_a_file_without_times_is_refused(draw, tmp_path, capsys, content):
    records = tmp_path / "times.json"
    if content is not None:
        records.write_text(content)
    with pytest.raises(SystemExit) as raised:
        draw("fig9", "--records", records)
    assert raised.value.code == 2
    assert str(records) in capsys.readouterr().err


def test_benchmark_records_hold_times_of_one_rank(draw, trial):
    folder, _ = trial
    benchmarks = SCRIPTS.parent / "benchmarks"
    draw("fig9", "fig11", "--records", benchmarks / "engines.json", benchmarks / "training.json")
    for figure, result in (("fig9", "engines"), ("fig11", "training")):
        record = json.loads((benchmarks / f"{result}.json").read_text())["results"]
        found = record["ER 21,000, p = 0.15"]
        found = found["policy"] if figure == "fig9" else found["paper"]
        drawn = {row["curve"]: row for row in points(folder, figure) if row["kind"] == "measured"}
        row = drawn["ER 21,000, p = 0.15, scalar engine"]
        assert float(row["x"]) == 1
        assert float(row["mean"]) == pytest.approx(found["step_seconds"], rel=1e-5)
