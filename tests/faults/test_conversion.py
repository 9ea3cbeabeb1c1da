"""A conversion that is killed or stopped leaves no store in part, and goes on when started anew."""

import json
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from watched_job import WatchedJob

from ogg_hpc.graphs.conversion.request import PIECE_BYTES
from ogg_hpc.graphs.shards import check_store
from ogg_hpc.runtime.files import sha256_of_file
from ogg_hpc.runtime.launch import promised_size

PROGRAM = Path(__file__).with_name("convert_in_small_pieces.py")
KILLS = 7
LIMIT = 120.0  # seconds to the end of a conversion, on a loaded machine


@pytest.fixture
def start_conversion(mpiexec, clean_environment, tmp_path):
    """Start a conversion in many pieces."""
    if promised_size() is not None:
        pytest.skip("starts ranks itself")
    rng = np.random.default_rng(1)
    pairs = rng.integers(0, 3000, (20_000, 2))
    source = tmp_path / "edges.txt"
    source.write_text("".join(f"user-{u} user-{v}\n" for u, v in pairs.tolist()))

    def start(ranks, output):
        words = [mpiexec, "-n", ranks, sys.executable, PROGRAM, source, output]
        return WatchedJob(words, clean_environment, tmp_path)

    return start


@pytest.mark.parametrize(("ranks", "whom"), [(1, "rank 0"), (2, "rank 1"), (2, "launcher")])
def test_killed_again_and_again_a_conversion_ends_with_the_same_bytes(
    start_conversion, tmp_path, ranks, whom
):
    undisturbed, output = tmp_path / "undisturbed.h5", tmp_path / "output.h5"
    start = time.monotonic()
    with start_conversion(ranks, undisturbed) as job:
        assert job.wait_for_the_end(LIMIT) == 0, job.errors
    taken = time.monotonic() - start
    kills = 0
    for moment in range(1, KILLS + 1):
        with start_conversion(ranks, output) as job:
            ends = time.monotonic() + taken * moment / (KILLS + 1)
            # The job may end before: an earlier one has done a part of the work.
            while time.monotonic() < ends and job.process.poll() is None:
                time.sleep(0.001)
            kills += kill(job, whom)
            job.wait_for_the_end(LIMIT)
            assert "Traceback" not in job.errors
        if output.exists():
            assert sha256_of_file(output) == sha256_of_file(undisturbed)
            output.unlink()
    assert kills > 0
    with start_conversion(ranks, output) as job:
        assert job.wait_for_the_end(LIMIT) == 0, job.errors
    assert sha256_of_file(output) == sha256_of_file(undisturbed)
    assert check_store(output) == []
    assert sorted(path.name for path in tmp_path.glob(".*")) == []


def kill(job, whom):
    """Kill a process of a job; return whether it was there."""
    pid = job.process.pid if whom == "launcher" else job.rank(int(whom.removeprefix("rank ")))
    if pid is None or job.process.poll() is not None:
        return False
    os.kill(pid, signal.SIGKILL)
    return True


def test_a_signal_stops_a_conversion_and_the_same_command_goes_on(start_job, tmp_path):
    source, output = tmp_path / "edges.txt", tmp_path / "output.h5"
    pairs = np.random.default_rng(2).integers(10**7, 10**8, (PIECE_BYTES // 15, 2))
    source.write_text("".join(f"{u} {v}\n" for u, v in pairs.tolist()))
    command = ("data", "convert", source, output, "--json")
    with start_job(1, *command) as job:
        parts = tmp_path / ".output.h5.parts"
        assert job.wait_until(lambda: any(parts.glob("piece-*"))), job.errors
        os.kill(job.rank(0), signal.SIGTERM)
        assert job.wait_for_the_end(LIMIT) == 75
        assert job.errors == "ogg-hpc: stopped by SIGTERM: give the same command again\n"
    assert not output.exists()
    assert (parts / "UNFINISHED").exists()
    with start_job(2, *command) as job:
        assert job.wait_for_the_end(LIMIT) == 0, job.errors
    assert json.loads((tmp_path / "output.txt").read_text())["edges"] > 10**6
    assert not parts.exists()
