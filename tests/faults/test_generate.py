"""Who generates graphs and is killed goes on where it was, with the same command."""

import os
import signal

import pytest

LIMIT = 120
FILE = ["rmat", "--nodes", "131072", "--d", "24"]  # three blocks of edges
FOLDER = ["ba", "--nodes", "20000", "--d", "8", "--count", "12", "--graphs-per-shard", "1"]


def contents(path):
    if path.is_dir():
        return {file.name: file.read_bytes() for file in path.iterdir()}
    return path.read_bytes()


@pytest.mark.parametrize(
    ("kind", "name", "finished"),
    [
        (FILE, "g.h5", ".g.h5.parts/run-000001.*"),
        (FILE, "g.h5", ".g.h5.parts/range-000000.*"),
        (FOLDER, "set", ".set.parts/shard-00002.*"),
    ],
    ids=["sorting blocks", "sorting ranges", "shards"],
)
def test_a_killed_generation_goes_on(start_job, tmp_path, kind, name, finished):
    output, expected = tmp_path / name, tmp_path / f"whole-{name}"
    with start_job(2, "data", "generate", *kind, "--output", output) as job:
        assert job.wait_until(lambda: any(tmp_path.glob(finished))), job.errors
        os.kill(job.rank(1), signal.SIGKILL)
        assert job.wait_for_the_end(LIMIT) != 0
    assert not (output / "manifest.json" if output.is_dir() else output).exists()
    with start_job(3, "data", "generate", *kind, "--output", output) as job:
        assert job.wait_for_the_end(LIMIT) == 0, job.errors
    with start_job(1, "data", "generate", *kind, "--output", expected) as job:
        assert job.wait_for_the_end(LIMIT) == 0, job.errors
    assert contents(output) == contents(expected)
    assert [path.name for path in tmp_path.glob(".*.parts")] == []
