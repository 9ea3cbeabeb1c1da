"""A graph is embedded over as many parts of a job as it takes."""

import json

import numpy as np
import pytest

from ogg_hpc.embedding.run import embed
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.embedding.store import read_embedding
from ogg_hpc.runtime.communicator import Communicator

pytestmark = pytest.mark.timeout(600)

GRAPH = "ba:n=300,d=3"
SIZES = {"dim": 8, "epochs": 150, "walks": 1, "walk_length": 10}


def test_warned_embedding_goes_on_to_the_same_vectors(submit, places, tmp_path):
    embed(Communicator(), GRAPH, EmbedSettings(**SIZES), tmp_path / "whole.h5")

    sizes = [f"--{name.replace('_', '-')}={value}" for name, value in SIZES.items()]
    options = ["--cpus-per-task=1", "--nodes=2", "--ntasks-per-node=1"]
    job = submit("embed.sh", GRAPH, "emb/a b.h5", *sizes, options=options)
    curve = tmp_path / "emb/a b.h5.run/metrics.jsonl"
    job.wait(curve.exists, "it trains", 120)
    job.signal("URG")
    job.wait(lambda: job.restarts == 1, "it puts itself into the queue again")
    assert job.end() == "COMPLETED", job.report()
    assert "stopped by SIGURG at step " in job.output()
    assert "resumed at step " in job.output()
    assert [place.rank for place in places(job)] == list("0011")  # twice each
    record = json.loads(curve.with_name("record.json").read_text())
    assert record["ranks"] == 2
    # Two ranks add up in another order than one, and 150 epochs carry the last bits on.
    found, whole = read_embedding(tmp_path / "emb/a b.h5"), read_embedding(tmp_path / "whole.h5")
    np.testing.assert_allclose(found.vectors, whole.vectors, rtol=0, atol=1e-4)
    np.testing.assert_allclose(found.context, whole.context, rtol=0, atol=1e-4)
