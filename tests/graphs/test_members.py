import os

import pytest

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.conversion.convert import convert
from ogg_hpc.graphs.conversion.request import Request
from ogg_hpc.graphs.generators import erdos_renyi
from ogg_hpc.graphs.members import members
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
