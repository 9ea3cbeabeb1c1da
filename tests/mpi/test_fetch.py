"""Graphs of the catalogue on several ranks: one downloads, all convert."""

import io
import zipfile
from contextlib import nullcontext

import pytest
from file_server import file_server

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.catalogue import CatalogueEntry
from ogg_hpc.graphs.fetch import fetch_graph
from ogg_hpc.graphs.shards import GraphStore, check_store

EDGES = b"".join(b"n%d n%d\n" % (i, i * i % 101) for i in range(1000))


@pytest.fixture
def server(comm):
    """A server of rank 0, whose address all know."""
    with file_server() if comm.rank == 0 else nullcontext() as server:
        if comm.rank == 0:
            server.files["/edges.txt"] = EDGES
            with io.BytesIO() as packed:
                with zipfile.ZipFile(packed, "w") as archive:
                    archive.writestr("folder/edges.txt", EDGES)
                server.files["/edges.zip"] = packed.getvalue()
        yield comm.broadcast_object(server.url if comm.rank == 0 else None), server
        comm.barrier()


@pytest.fixture
def folder(comm, tmp_path):
    return comm.broadcast_object(tmp_path)


def entry(url, **changes):
    stated = {"nodes": 1000, "edges": 998, "format": "edgelist"}
    about = {"name": "g", "family": "f", "about": "a", "page": "p", "licence": "l"}
    return CatalogueEntry(url=url, **{**about, **stated, **changes})


@pytest.mark.parametrize("file", ["edges.txt", "edges.zip"])
def test_all_ranks_convert_what_one_downloads(comm, server, folder, file):
    url, files = server
    member = "edges.txt" if file.endswith("zip") else None
    wanted = entry(f"{url}/{file}", member=member)
    converted = fetch_graph(comm, wanted, folder / "g.h5", memory=1 << 28)
    assert (converted.built.nodes, converted.built.edges) == (1000, 998)
    if comm.rank == 0:
        assert len(files.asked) == 1
        assert [path.name for path in folder.iterdir()] == ["g.h5"]
        assert check_store(folder / "g.h5") == []
        with GraphStore(folder / "g.h5") as store:
            assert store.attributes["licence"] == "l"
            assert store.attributes["source"] == f"{url}/{file}"
    comm.barrier()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"edges": 5}, "998 edges, the catalogue says 1000 and 5"),
        ({"bytes": 5}, "the catalogue says 5"),
        ({"format": "gset"}, "edges.txt:1"),
    ],
)
def test_all_ranks_hear_what_is_wrong(comm, server, folder, changes, message):
    url, _ = server
    with pytest.raises(InputError, match=message) as caught:
        fetch_graph(comm, entry(f"{url}/edges.txt", **changes), folder / "g.h5", memory=1 << 28)
    assert str(caught.value).startswith(url)
    assert caught.value.collective
    assert comm.rank != 0 or list(folder.iterdir()) == []
    comm.barrier()
