"""Runs that embed a graph and are killed, or fail on one rank."""

import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest

from ogg_hpc.embedding.store import read_embedding

GRAPH = "ba:n=200,d=3"
OPTIONS = (
    *("--dim", "8", "--epochs", "60", "--walks", "1", "--walk-length", "10"),
    *("--checkpoint-minutes", "0", "--resume"),
)
LIMIT = 120.0  # seconds, on a loaded machine

pytestmark = pytest.mark.timeout(400)


def newest(folder):
    return max((path.name for path in folder.glob("checkpoints/step-*")), default="")


@pytest.fixture
def embed(start_job, tmp_path):
    """Embed on two ranks to a file, and kill one as often as asked for, after new checkpoints."""

    def run(output, kills):
        folder = Path(f"{output}.run")
        command = ("embed", GRAPH, "--output", output, *OPTIONS)
        for rank in kills:
            known = newest(folder)
            with start_job("2", *command) as job:
                assert job.wait_until(lambda: newest(folder) > known), job.errors  # noqa: B023
                os.kill(job.rank(rank), signal.SIGKILL)
                assert job.wait_for_the_end(LIMIT) != 0
            assert not output.exists()
        with start_job("2", *command) as job:
            assert job.wait_for_the_end(LIMIT) == 0, job.errors
            assert ("resumed at step " in job.errors) == bool(kills)
        return read_embedding(output), json.loads((folder / "record.json").read_text())

    return run


def test_a_run_that_is_killed_again_and_again_ends_with_the_same_vectors(embed, tmp_path):
    whole, record = embed(tmp_path / "whole.h5", kills=())
    killed, record_of_killed = embed(tmp_path / "killed.h5", kills=(0, 1, 0))
    np.testing.assert_array_equal(killed.vectors, whole.vectors)
    np.testing.assert_array_equal(killed.context, whole.context)
    assert record_of_killed["losses"] == record["losses"]


def test_a_mistake_on_one_rank_ends_the_job(start_job, tmp_path):
    sampler = f"{Path(__file__).with_name('failing_sampler.py')}:Failing"
    with start_job("2", "embed", GRAPH, "--method", sampler, *OPTIONS) as job:
        assert job.wait_for_the_end(LIMIT) == 1
        assert "[rank 1] ZeroDivisionError: a mistake" in job.errors
        assert "[rank 0]" not in job.errors
    assert not list(tmp_path.glob("*.h5"))
