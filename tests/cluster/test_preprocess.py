"""Graphs in any format become stores that are checked."""

import gzip

import pytest

from ogg_hpc.graphs.shards import GraphStore, check_store

pytestmark = pytest.mark.timeout(600)


def test_graphs_become_sound_stores_and_a_bad_file_fails_the_job(submit, tmp_path, graphs):
    with gzip.open(tmp_path / "graphs/packed.edges.gz", "wt") as stream:
        stream.write("1 2\n")
    (tmp_path / "graphs/bad.mtx").write_text("%%MatrixMarket nonsense\n")
    files = ["graphs/five.txt", "graphs/packed.edges.gz", "graphs/bad.mtx"]
    job = submit("preprocess.sh", "stores", *files)
    assert job.end() == "FAILED", job.report()
    assert "graphs/bad.mtx" in job.output()
    assert "Traceback" not in job.output()
    stores = sorted((tmp_path / "stores").iterdir())
    assert [store.name for store in stores] == ["five.h5", "packed.h5"]
    for store, edges in zip(stores, (5, 1), strict=True):
        assert check_store(store) == []
        with GraphStore(store) as opened:
            assert opened.read(0).m == edges

    made = {store: store.stat().st_mtime_ns for store in stores}
    again = submit("preprocess.sh", "stores", *files[:2])
    assert again.end() == "COMPLETED", again.report()
    assert again.output().count("sound") == 2
    assert {store: store.stat().st_mtime_ns for store in stores} == made


def test_two_graphs_of_one_name_are_refused(submit, tmp_path):
    job = submit("preprocess.sh", "stores", "a/graph.mtx", "b/graph.txt.gz")
    assert job.end() == "FAILED"
    assert job.field("ExitCode") == "2:0"
    assert "b/graph.txt.gz and a/graph.mtx would both be stores/graph.h5" in job.output()
    assert not list((tmp_path / "stores").iterdir())
