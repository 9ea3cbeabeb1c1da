"""One large graph becomes a store on all ranks of a job, over as many parts as it takes."""

import numpy as np
import pytest

from ogg_hpc.graphs.conversion.convert import convert
from ogg_hpc.graphs.conversion.request import PIECE_BYTES, Request
from ogg_hpc.graphs.shards import check_store
from ogg_hpc.runtime.communicator import Communicator

pytestmark = pytest.mark.timeout(600)


def test_warned_conversion_goes_on_from_its_finished_parts(submit, places, tmp_path):
    pairs = np.random.default_rng(3).integers(10**7, 10**8, (6 * PIECE_BYTES // 18, 2))
    source, whole = tmp_path / "edges 1.txt", tmp_path / "whole.h5"
    source.write_text("".join(f"{u} {v}\n" for u, v in pairs.tolist()))
    convert(Communicator(), Request(source, whole), memory=1 << 30)

    options = ["--nodes=2", "--ntasks-per-node=1"]
    job = submit("convert.sh", source.name, "stores/edges 1.h5", options=options)
    parts = tmp_path / "stores/.edges 1.h5.parts"
    job.wait(lambda: any(parts.glob("piece-*")), "it has read a piece", 120)
    job.signal("URG")
    job.wait(lambda: job.restarts == 1, "it puts itself into the queue again")
    assert job.end() == "COMPLETED", job.report()
    assert "stopped by SIGURG: give the same command again" in job.output()
    assert [place.rank for place in places(job)] == list("0011")  # twice each
    store = tmp_path / "stores/edges 1.h5"
    assert store.read_bytes() == (tmp_path / "whole.h5").read_bytes()
    assert check_store(store) == []
    assert list(store.parent.iterdir()) == [store]
