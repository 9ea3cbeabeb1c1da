import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STUDY = """\
name = "small"
ranks = [1, 2]
device = "cpu"
[[cases]]
name = "search"
graph = "er:n=40,p=0.3,seed=1"
engine = "reference"
steps = 2
[[cases]]
name = "grows"
scaling = "weak"
graph = "ba:n=200,d=2,seed=1"
engine = "scalar"
steps = 2
[[cases]]
name = "broken"
graph = "er:n=40,p=0.3,seed=1"
policy = "none.npz"
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path / "study.toml"


@pytest.fixture(scope="module")
def finished(tmp_path_factory, mpiexec, clean_environment):
    """A study that has been run: the process, and its folder."""
    folder = tmp_path_factory.mktemp("scale")
    (folder / "study.toml").write_text(STUDY)
    done = subprocess.run(
        [sys.executable, "-m", "ogg_hpc", "scale", "run", "study.toml", "--output", "out"],
        cwd=folder, env={**clean_environment, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=280,
    )  # fmt: skip
    return done, folder / "out"


def test_a_study_ends_with_its_report(finished):
    done, folder = finished
    assert "small: " in done.stdout
    assert "grows: the model" in done.stdout
    assert "Not measured, and not drawn: broken.p0001, broken.p0002." in done.stdout
    assert {"report.md", "measured.csv", "time.png"} <= {path.name for path in folder.iterdir()}


def test_points_that_fail_are_named_and_the_others_go_on(finished):
    done, folder = finished
    assert done.returncode == 1
    assert "[2/6] search.p0002: " in done.stderr
    assert "[5/6] broken.p0001: failed: none.npz" in done.stderr
    assert done.stderr.endswith("ogg-hpc: 2 points failed: broken.p0001, broken.p0002\n")
    names = sorted(path.stem for path in (folder / "records").iterdir())
    assert names == ["grows.p0001", "grows.p0002", "search.p0001", "search.p0002"]


def test_records_hold_what_was_measured(finished):
    _, folder = finished
    one, two = (
        json.loads((folder / "records" / f"grows.p000{ranks}.json").read_text()) for ranks in (1, 2)
    )
    assert (one["nodes"], two["nodes"], two["scaling"]) == (200, 400, "weak")
    assert (two["ranks"], two["engine"], two["device"], two["threads"]) == (2, "scalar", "cpu", 1)
    search = json.loads((folder / "records" / "search.p0002.json").read_text())
    counted = sum(each["bytes"] for each in search["collectives"].values())
    assert counted == search["traffic"]["exact"] == 8 * 40 * 32 // 2 + 32


def test_a_study_goes_on_where_it_was(finished, tmp_path, ogg):
    folder = shutil.copytree(finished[1], tmp_path / "copy")
    code, out, err = ogg("scale", "run", folder, "--launcher", "false {ranks}")
    assert code == 1
    assert [line.split(":")[0] for line in err.splitlines()[:-1]] == [
        "[1/2] broken.p0001",
        "[2/2] broken.p0002",
    ]
    assert "search: the model" in out


def test_a_report_alone_takes_a_modelled_network(finished, tmp_path, ogg):
    folder = shutil.copytree(finished[1], tmp_path / "copy")
    options = ("--up-to", 16, "--latency", "2e-6", "--bandwidth", "12.5e9")
    code, out, _ = ogg("scale", "report", folder, *options)
    assert code == 0
    text = " ".join(out.split())
    assert "α = 2e-06 s and β = 8e-11 s a byte of the network that was given, not measured" in text
    assert (folder / "predicted.csv").read_text().count("\nsearch,") == 5


def test_planning_counts_points_and_writes_jobscripts(ogg, study):
    options = ("--scheduler", "slurm", "--ranks-per-node", 2)
    code, out, _ = ogg("scale", "plan", study, "--output", "out", *options)
    assert code == 0
    assert out.splitlines() == [
        "out/jobs/small-p0001.sh",
        "out/jobs/small-p0002.sh",
        "out: 6 points, 6 without a record",
    ]


def test_submitting_plans_if_needed(ogg, study, tmp_path, monkeypatch):
    sbatch = tmp_path / "bin" / "sbatch"
    sbatch.parent.mkdir()
    sbatch.write_text("#!/bin/sh\ngrep -c '#SBATCH'\n")
    sbatch.chmod(sbatch.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{sbatch.parent}{os.pathsep}{os.environ['PATH']}")
    options = ("--scheduler", "slurm", "--ranks-per-node", 2, "--submit")
    code, out, _ = ogg("scale", "run", study, "--output", "out", *options)
    assert code == 0
    assert out.splitlines()[2:] == ["small-p0001.sh: 10", "small-p0002.sh: 10"]


def test_settings_are_listed(ogg):
    code, out, _ = ogg("scale", "plan", "--settings")
    assert code == 0
    assert "[[cases]] scaling" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plan", "study.toml"], "name the study and its folder"),
        (["run", "study.toml"], "name the folder of the study: --output DIR"),
        (["run", "none.toml", "--output", "out"], "none.toml: cannot read the settings"),
        (["report", "."], "study.json: no scaling study: No such file or directory"),
        (["run", "study.toml", "--output", "out", "--latency", "1"], "takes both --latency and"),
        (
            ["run", "study.toml", "--output", "out", "--latency", "inf", "--bandwidth", "1"],
            "--latency must be finite",
        ),
        (
            ["run", "study.toml", "--output", "out", "--latency", "1", "--bandwidth", "1e-320"],
            "--bandwidth must be positive",
        ),
        (["run", "study.toml", "--output", "out", "--launcher", "true"], "write {ranks} where"),
        (
            ["plan", "study.toml", "--output", "out", "--scheduler", "lsf"],
            "--scheduler lsf needs --ranks-per-node R",
        ),
        (["measure", "study.toml", "--output", "r.json"], "no point of a scaling study"),
    ],
)
def test_mistakes_are_one_message(ogg, study, arguments, message):
    code, out, err = ogg("scale", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("ogg-hpc: ")
    assert message in err
    assert err.count("\n") == 1


def test_a_mistake_in_a_study_is_told_with_file_line_and_key(ogg, study):
    study.write_text(STUDY.replace("steps = 2", "stepz = 2", 1))
    code, _, err = ogg("scale", "run", study, "--output", "out")
    assert code == 2
    assert f"{study}:8: unknown key cases[0].stepz; did you mean steps?" in err


def test_without_matplotlib_nothing_is_measured(ogg, study, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    code, _, err = ogg("scale", "run", study, "--output", "out")
    assert code == 2
    assert "pip install 'ogg-hpc[plot]'" in err
    assert not Path("out").exists()


def test_the_driver_is_no_rank(ogg, study, monkeypatch):
    monkeypatch.setattr("ogg_hpc.runtime.launch.promised_size", lambda: ("mpiexec", 2))
    code, _, err = ogg("scale", "run", study, "--output", "out")
    assert code == 2
    assert "scale run starts ranks itself: run it without mpiexec" in err
