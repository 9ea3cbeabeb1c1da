"""Jobs that are killed, or have no space left, while they build a store."""

import resource
from pathlib import Path

import pytest
from edge_blocks import build, digest, random_edges, small_pieces

from ogg_hpc.errors import InputError
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.launch import promised_size

JOB = f"""
import os, signal, sys
sys.path.append({str(Path(__file__).parents[2])!r})
from pathlib import Path
from edge_blocks import build, random_edges, small_pieces
from ogg_hpc.runtime.launch import start

path, doomed, moment = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
comm = start(device="cpu")
replace, calls = os.replace, 0

def die(*names):
    global calls
    calls += 1
    if calls == moment:
        os.kill(os.getpid(), signal.SIGKILL)
    replace(*names)

if comm.rank == doomed:
    os.replace = die
with small_pieces():
    build(comm, path, 12, random_edges(12, 60, seed=4))
"""


@pytest.mark.parametrize(
    ("doomed", "moments"),
    [(0, (2, 7)), (1, (1, 4, 3))],
    ids=["rank 0 is killed", "another rank is killed"],
)
def test_killed_jobs_go_on_on_any_number_of_ranks(tmp_path, run_ranks, doomed, moments):
    if promised_size() is not None:
        pytest.skip("starts ranks itself")
    with small_pieces():
        build(Communicator(), tmp_path / "expected.h5", 12, random_edges(12, 60, seed=4))
    folder = tmp_path / "job"
    for moment in moments:
        run = run_ranks(2, ["-c", JOB, folder / "a.h5", doomed, moment])
        assert run.returncode != 0
        assert [path.name for path in folder.iterdir()] == [".a.h5.parts"]
    run = run_ranks(3, ["-c", JOB, folder / "a.h5", 9, 0])
    assert run.returncode == 0, run.stderr
    assert [path.name for path in folder.iterdir()] == ["a.h5"]
    assert digest(folder / "a.h5") == digest(tmp_path / "expected.h5")


@pytest.fixture
def limit_files():
    """Limit the size of files as long as the test lasts."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size=before[0]: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("size", [1_000, 10_000], ids=["for a part", "for the store"])
def test_a_store_for_which_there_is_no_space_leaves_the_old_one(tmp_path, limit_files, size):
    comm, path, edges = Communicator(), tmp_path / "a.h5", random_edges(300, 600, seed=7)
    path.write_text("old")
    with small_pieces():
        limit_files(size)
        with pytest.raises(InputError) as found:
            build(comm, path, 300, edges, block=100)
        assert str(found.value) == f"{path}: cannot be written: File too large"
        assert sorted(p.name for p in tmp_path.iterdir()) == [".a.h5.parts", "a.h5"]
        assert path.read_text() == "old"
        limit_files()
        build(comm, path, 300, edges, block=100)
        build(comm, tmp_path / "b.h5", 300, edges, block=100)
    assert digest(path) == digest(tmp_path / "b.h5")
