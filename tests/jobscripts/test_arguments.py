"""Missing arguments of jobscripts, arrays with gaps, and solves that a signal has stopped."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from stand_in_launcher import LAUNCHER

ROOT = Path(__file__).parents[2]
SCRIPTS = [
    ROOT / "jobscripts" / name
    for name in (
        *("slurm/train.sh", "slurm/evolve.sh", "slurm/scaling.sh", "slurm/solve-array.sh"),
        *("lsf/train.sh", "lsf/evolve.sh", "lsf/scaling.sh", "lsf/solve-array.sh", "lsf/solve.sh"),
        *("slurm/convert.sh", "lsf/convert.sh", "lsf/preprocess.sh"),
        *("slurm/embed.sh", "lsf/embed.sh"),
        *("convert_each.sh", "install.sh"),
    )
]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_missing_argument_is_named_before_anything_is_done(script, tmp_path):
    environment = {"PATH": os.environ["PATH"], "OGG_HPC_SITE": str(tmp_path / "none.sh")}
    done = subprocess.run(
        ["bash", script], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode != 0
    [message] = done.stderr.splitlines()
    assert message.endswith((" is missing", " are missing"))
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(params=["slurm", "lsf"])
def solve_array(request, tmp_path):
    """Run solve-array.sh on the list ``list.txt`` with a solver that prints ``answer``."""
    (tmp_path / "jobscripts").symlink_to(ROOT / "jobscripts")
    (tmp_path / "site.sh").touch()
    (tmp_path / "hosts").write_text("launch\nnode\n")
    (tmp_path / "bin").mkdir()
    commands = {"srun": LAUNCHER, "jsrun": LAUNCHER, "ogg-hpc": "#!/bin/sh\nexec cat answer\n"}
    for name, text in commands.items():
        command = tmp_path / "bin" / name
        command.write_text(text)
        command.chmod(0o755)
    (tmp_path / "list.txt").write_text("graphs/a b.mtx\n")
    environment = {
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "OGG_HPC_SITE": "./site.sh",
        "SLURM_JOB_ID": "1",
        **{f"SLURM_ARRAY_TASK_{name}": "0" for name in ("ID", "MIN", "MAX")},
        **{f"SLURM_ARRAY_TASK_{name}": "1" for name in ("STEP", "COUNT")},
        "LSB_DJOB_HOSTFILE": "hosts",
        "LSB_JOBINDEX": "1",
        "LSB_JOBINDEX_END": "1",
    }

    def run(**variables):
        command = ["bash", f"jobscripts/{request.param}/solve-array.sh", "list.txt", "results"]
        return subprocess.run(command, cwd=tmp_path, env=environment | variables).returncode

    return run


def test_a_solve_that_was_stopped_by_a_signal_is_solved_again(solve_array, tmp_path):
    record = tmp_path / "results" / "graphs%a b.mtx.record.json"
    for stopped, code, done in (("signal", 1, False), (None, 0, True), ("signal", 0, True)):
        (tmp_path / "answer").write_text(json.dumps({"objective": 3, "stopped": stopped}) + "\n")
        assert solve_array() == code
        assert record.exists() == done
    assert json.loads(record.read_text())["stopped"] is None


@pytest.mark.parametrize("solve_array", ["slurm"], indirect=True)
@pytest.mark.parametrize(
    ("most", "step", "count", "code"), [(6, 1, 3, 2), (15, 1, 16, 0), (7, 4, 2, 0), (9, 4, 3, 0)]
)
def test_an_array_with_gaps_would_leave_graphs_out(solve_array, tmp_path, most, step, count, code):
    (tmp_path / "answer").write_text(json.dumps({"stopped": None}) + "\n")
    sizes = {"MAX": most, "STEP": step, "COUNT": count}
    variables = {f"SLURM_ARRAY_TASK_{name}": str(value) for name, value in sizes.items()}
    assert solve_array(**variables) == code


@pytest.mark.parametrize("solve_array", ["lsf"], indirect=True)
def test_an_array_of_lsf_with_gaps_would_leave_graphs_out(solve_array, tmp_path):
    (tmp_path / "answer").write_text(json.dumps({"stopped": None}) + "\n")
    assert solve_array(LSB_JOBINDEX_END="15", LSB_JOBINDEX_STEP="2") == 2
    assert solve_array(LSB_JOBINDEX_END="15", LSB_JOBINDEX_STEP="1") == 0
