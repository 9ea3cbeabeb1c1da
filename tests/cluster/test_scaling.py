"""A scaling study within one allocation."""

import json

import pytest

STUDY = """
name = "small"
ranks = [1, 2]
device = "cpu"

[[cases]]
kind = "inference"
graph = "er:n=200,p=0.1,seed=1"
steps = 2
"""


@pytest.mark.timeout(600)
def test_study_is_measured_and_reported(submit, tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    job = submit(
        "scaling.sh", "study.toml", "runs/study",
        options=["--nodes=2", "--ntasks-per-node=1", "--cpus-per-task=1"],
    )  # fmt: skip
    assert job.end(300) == "COMPLETED", job.report()
    records = [json.loads(path.read_text()) for path in (tmp_path / "runs/study/records").iterdir()]
    assert sorted(record["ranks"] for record in records) == [1, 2]
    assert (tmp_path / "runs/study/report.md").exists()
