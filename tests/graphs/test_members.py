import os

import pytest

from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.graphs.conversion.convert import convert
from ogg_hpc.graphs.conversion.request import Request
from ogg_hpc.graphs.generators import erdos_renyi
from ogg_hpc.graphs.members import check_apart, members, name_of
from ogg_hpc.graphs.readers import read_graph
from ogg_hpc.graphs.shards import write_shards, write_store
from ogg_hpc.runtime.communicator import Communicator


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("write", [write_store, lambda p, graphs: write_shards(p, graphs, 2)])
def test_each_graph_of_a_store_is_named_where_there_are_several(tmp_path, write, count):
    path = tmp_path / "store.h5"
    write(path, [erdos_renyi(5, 0.5, seed) for seed in range(count)])
    names = [str(path)] if count == 1 else [f"{path}:{i}" for i in range(count)]
    assert members(path) == names


def test_any_other_path_is_one_graph_and_left_to_its_reader(tmp_path):
    assert members("no/such/file:3") == ["no/such/file:3"]
    (tmp_path / "edges.txt").write_text("1 2\n")
    assert members(tmp_path / "edges.txt") == [str(tmp_path / "edges.txt")]


def test_a_store_without_graphs_is_refused(tmp_path):
    write_store(tmp_path / "store.h5", [])
    with pytest.raises(InputError, match="holds no graph"):
        members(tmp_path / "store.h5")


def test_a_pipe_is_left_whole_to_its_reader():
    reader, writer = os.pipe()
    try:
        with open(writer, "w") as stream:
            stream.write("".join(f"{node} {node + 1}\n" for node in range(100)))
        path = f"/dev/fd/{reader}"
        assert members(path) == [path]
        assert read_graph(path).m == 100
    finally:
        os.close(reader)


def test_a_path_that_cannot_be_looked_at_is_a_message(tmp_path):
    path = tmp_path / ("x" * 300)
    request = Request(path, tmp_path / "out.h5")
    for read in (read_graph, lambda path: convert(Communicator(), request, memory=1 << 28)):
        with pytest.raises(InputError, match="File name too long"):
            read(path)


@pytest.mark.parametrize(
    ("graph", "name"),
    [
        ("runs/a.b.mtx.gz", "a.b"),
        ("store.h5", "store"),
        ("graphs/store.h5:3", "store.3"),
        ("folder:12", "folder.12"),
        ("er:n=9,p=0.25,seed=1", "er:n=9,p=0.25,seed=1"),
    ],
)
def test_files_are_named_after_their_graph_and_no_other(graph, name):
    assert name_of(graph) == name


def test_the_file_of_a_graph_is_no_output_under_any_of_its_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_store("store.h5", [erdos_renyi(5, 0.5, 0), erdos_renyi(5, 0.5, 1)])
    os.symlink("store.h5", "link.h5")
    for output in ("store.h5", "./store.h5", tmp_path / "store.h5", "link.h5"):
        for graph in ("store.h5", "store.h5:1", "link.h5"):
            with pytest.raises(SettingsError, match=f"{output} is the graph itself; choose"):
                check_apart(output, graph)
    (tmp_path / "other.h5").write_text("")
    check_apart("other.h5", "store.h5")
    check_apart("new.h5", "store.h5")
    check_apart("store.h5", "missing.h5")
