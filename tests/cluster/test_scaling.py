"""Scaling studies: within one allocation, and as jobs of their own."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.timeout(600)

STUDY = """
name = "small"
ranks = [1, 2]
device = "cpu"

[[cases]]
kind = "inference"
graph = "er:n=200,p=0.1,seed=1"
engine = "reference"
steps = 2
"""


def test_study_is_measured_and_reported_by_the_site_file_as_it_is(submit, tmp_path):
    (tmp_path / ".venv").symlink_to(sys.prefix)
    (tmp_path / "study.toml").write_text(STUDY)
    job = submit(
        "scaling.sh", "study.toml", "runs/study",
        options=["--nodes=2", "--ntasks-per-node=1", "--cpus-per-task=1"], site="",
    )  # fmt: skip
    assert job.end() == "COMPLETED", job.report()
    records = [json.loads(path.read_text()) for path in (tmp_path / "runs/study/records").iterdir()]
    assert sorted(record["ranks"] for record in records) == [1, 2]
    assert (tmp_path / "runs/study/report.md").exists()


def test_planned_jobs_run_on_their_nodes(submit, places, tmp_path, clean_environment):
    (tmp_path / "study.toml").write_text(STUDY.replace("[1, 2]", "[1, 4]"))
    where = ("--output", "out", "--scheduler", "slurm", "--ranks-per-node", "2")
    command = [sys.executable, "-m", "ogg_hpc", "scale", "plan", "study.toml", *where]
    subprocess.run(command, cwd=tmp_path, env=clean_environment, check=True, timeout=120)
    for ranks, nodes in ((1, {"n1"}), (4, {"n1", "n2"})):
        job = submit(tmp_path / "out" / "jobs" / f"small-p000{ranks}.sh")
        assert job.end() == "COMPLETED", job.report()
        ran = places(job)
        assert (len(ran), {place.node for place in ran}) == (ranks, nodes)
        assert {place.threads for place in ran} == {"1"}
        path = tmp_path / "out" / "records" / f"inference-reference.p000{ranks}.json"
        record = json.loads(path.read_text())
        counted = sum(each["bytes"] for each in record["collectives"].values())
        assert (record["ranks"], counted) == (ranks, record["traffic"]["exact"])
