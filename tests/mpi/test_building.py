"""Stores that many ranks build, against those that one builds."""

from pathlib import Path

import numpy as np
import pytest
from edge_blocks import build, digest, random_edges, small_pieces

from ogg_hpc.errors import InputError, StoppedError
from ogg_hpc.graphs.building.edges import ConflictingEdgesError, Edges
from ogg_hpc.graphs.names import Names
from ogg_hpc.graphs.shards import check_store
from ogg_hpc.runtime.parts import Parts


@pytest.fixture(autouse=True, scope="module")
def _small_pieces():
    with small_pieces():
        yield


@pytest.fixture
def folder(comm, tmp_path) -> Path:
    """A folder that all ranks share."""
    return Path(comm.broadcast_object(str(tmp_path)))


def share_of(values, rank, shares):
    """Return a rank's consecutive part of something, where shares are sizes relative to all."""
    ends = np.cumsum([0, *shares]) * len(values) // sum(shares)
    return values[ends[rank] : ends[rank + 1]]


def shares_of(size):
    yield [1] * size
    yield [0] * (size - 1) + [1]
    yield [1] + [0] * (size - 1)
    yield [1 + 7 * (rank % 2) for rank in range(size)]


@pytest.mark.parametrize(("n", "e"), [(0, 0), (2, 1), (3, 20), (60, 250)], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_bytes_are_those_of_one_rank(comm, alone, folder, tmp_path, n, e, weighted):
    edges = random_edges(n, e, seed=5, weighted=weighted)
    for directed, matrix in ((False, False), (True, False), (None, True)):
        options = {"directed": directed, "matrix": matrix}
        expected = build(alone, tmp_path / "one.h5", n, edges, **options)
        for block, memory in ((7, 1), (300, 1 << 30)):
            path = folder / "many.h5"
            assert build(comm, path, n, edges, block=block, memory=memory, **options) == expected
            assert digest(path) == digest(tmp_path / "one.h5")
            comm.barrier()


@pytest.mark.parametrize("text", [False, True])
def test_labels_may_be_divided_in_any_way(comm, alone, folder, tmp_path, text):
    n, edges = 150, random_edges(150, 200, seed=6)
    labels = Names.from_strings("x" * (i % 9) + str(i) for i in range(n))
    labels = labels if text else np.arange(n) * 5
    node_weights = np.arange(n) + 0.5
    options = {"labels": labels, "node_weights": node_weights}
    build(alone, tmp_path / "one.h5", n, edges, **options)
    for shares in shares_of(comm.size):
        mine = {name: share_of(values, comm.rank, shares) for name, values in options.items()}
        build(comm, folder / "many.h5", n, edges, **mine)
        assert digest(folder / "many.h5") == digest(tmp_path / "one.h5")
        comm.barrier()
    assert check_store(folder / "many.h5") == []


def test_all_ranks_hear_of_the_first_conflict(comm, folder):
    sources = np.array([5, 3, 9, 1, 2, 8])
    targets = np.array([4, 8, 2, 1, 9, 3])
    weights = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    with pytest.raises(ConflictingEdgesError) as found:
        build(comm, folder / "a.h5", 10, Edges(sources, targets, weights), block=2)
    assert found.value.args == (2, 9, (3.0, 5.0))
    assert found.value.collective
    assert not (folder / "a.h5").exists()


@pytest.mark.parametrize("share", [0.1, 1.2, 2.2])
def test_all_ranks_end_when_one_is_told_to_stop(comm, folder, share):
    def report(done, total):
        if comm.rank == comm.size - 1 and done >= share * total / 3:
            raise StoppedError("stopped by a signal")

    with pytest.raises(StoppedError, match="stopped by a signal"):
        build(comm, folder / "a.h5", 12, random_edges(12, 60, seed=3), report=report)
    assert not (folder / "a.h5").exists()


@pytest.fixture
def fill_disk(monkeypatch):
    """Let a rank write some parts and then no more; return those that it has written."""
    write = Parts.write

    def fill(count):
        written = []

        def limited(self, name, **arrays):
            if len(written) == count:
                raise InputError(self.path(name), "cannot be written: No space left on device")
            write(self, name, **arrays)
            written.append(name)

        monkeypatch.setattr(Parts, "write", limited)
        return written

    return fill


@pytest.mark.parametrize("count", [0, 1, 2, 4])
def test_another_number_of_ranks_goes_on(comm, alone, folder, tmp_path, fill_disk, count):
    n, edges = 12, random_edges(12, 60, seed=3)
    path = folder / "a.h5"
    build(alone, tmp_path / "one.h5", n, edges)

    # Many ranks begin: the disk of the last one is full. One rank goes on.
    before = fill_disk(count if comm.rank == comm.size - 1 else -1)
    before = _written(comm, before, lambda: build(comm, path, n, edges))
    after = fill_disk(-1)
    if comm.rank == 0:
        build(alone, path, n, edges)
        assert set(after).isdisjoint(before)
        assert digest(path) == digest(tmp_path / "one.h5")
        path.unlink()
    comm.barrier()

    # One rank begins, many go on.
    before = fill_disk(5 * count)
    if comm.rank == 0:
        with pytest.raises(InputError):
            build(alone, path, n, edges)
    before = comm.broadcast_object(before)
    after = fill_disk(-1)
    build(comm, path, n, edges)
    assert set(after).isdisjoint(before)
    assert digest(path) == digest(tmp_path / "one.h5")


def _written(comm, written, work):
    """Do work that fails on all ranks alike; return the parts that all have written."""
    with pytest.raises(InputError, match="No space left on device"):
        work()
    return [name for names in comm.gather_objects(written) for name in names]
