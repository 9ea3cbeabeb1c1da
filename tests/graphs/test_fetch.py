import gzip
import io
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha1, sha256
from pathlib import Path
from signal import SIGTERM
from typing import Any

import pytest
from file_server import FileServer, file_server

from ogg_hpc.errors import InputError, SettingsError, StoppedError
from ogg_hpc.graphs import fetch
from ogg_hpc.graphs.catalogue import CatalogueEntry, find_entry, load_catalogue
from ogg_hpc.graphs.conversion.request import Converted
from ogg_hpc.graphs.readers import read_graph
from ogg_hpc.graphs.shards import GraphStore, check_store
from ogg_hpc.runtime.communicator import Communicator

EDGES = b"".join(b"%d %d\n" % (i, i + 1) for i in range(500))
SHA256 = sha256(EDGES).hexdigest()
ENTRY = CatalogueEntry(
    name="path",
    family="test",
    about="a path",
    page="http://example.org",
    licence="none",
    url="unset",
    nodes=501,
    edges=500,
    format="edgelist",
)


@pytest.fixture
def server() -> Iterator[FileServer]:
    with file_server() as server:
        server.files["/path.txt"] = EDGES
        yield server


def fetch_graph(wanted: CatalogueEntry, output: Path, **options: Any) -> Converted:
    return fetch.fetch_graph(Communicator(), wanted, output, memory=1 << 28, **options)


def entry(server: FileServer, path: str = "/path.txt", **changes: Any) -> CatalogueEntry:
    return replace(ENTRY, url=server.url + path, **changes)


def test_a_graph_is_fetched_checked_and_stored_with_its_source(
    server: FileServer, tmp_path: Path
) -> None:
    output = tmp_path / "new" / "path.h5"
    wanted = entry(server, bytes=len(EDGES), sha256=SHA256, sha1=sha1(EDGES).hexdigest())
    built = fetch_graph(wanted, output).built
    assert (built.nodes, built.edges) == (501, 500)
    assert check_store(output) == []
    with GraphStore(output) as store:
        assert store.attributes["source"] == wanted.url
        assert store.attributes["licence"] == "none"
        assert store.attributes["source_sha256"] == SHA256
    assert list(output.parent.iterdir()) == [output]


def test_a_broken_transfer_is_resumed_by_the_next_fetch(server: FileServer, tmp_path: Path) -> None:
    server.broken = 1
    with pytest.raises(InputError, match="broke off after"):
        fetch_graph(entry(server), tmp_path / "path.h5")
    assert not (tmp_path / "path.h5").exists()
    assert fetch_graph(entry(server), tmp_path / "path.h5").built.edges == 500
    assert server.asked[1]["Range"] == f"bytes={len(EDGES) // 2}-"
    assert [p.name for p in tmp_path.iterdir()] == ["path.h5"]


def test_a_signal_leaves_what_has_come_for_the_next_fetch(
    server: FileServer, tmp_path: Path
) -> None:
    for questions in (1, 3):  # while it is downloaded, and while it is converted
        left = iter(range(questions))
        with pytest.raises(StoppedError, match="SIGTERM"):
            fetch_graph(
                entry(server),
                tmp_path / "path.h5",
                came=lambda left=left: SIGTERM if next(left, None) is None else None,
            )
        assert not (tmp_path / "path.h5").exists()
    assert (tmp_path / ".path.part.txt").read_bytes() == EDGES
    assert fetch_graph(entry(server), tmp_path / "path.h5").built.edges == 500
    assert [p.name for p in tmp_path.iterdir()] == ["path.h5"]


def test_mirrors_are_taken_in_place_of_the_source(server: FileServer, tmp_path: Path) -> None:
    mirror = server.url + "/path.txt"
    assert fetch_graph(ENTRY, tmp_path / "b.h5", url=mirror).built.edges == 500
    with GraphStore(tmp_path / "b.h5") as store:
        assert store.attributes["source"] == mirror


def test_a_failed_fetch_leaves_the_store_that_was_there(server: FileServer, tmp_path: Path) -> None:
    fetch_graph(entry(server), tmp_path / "path.h5")
    before = (tmp_path / "path.h5").read_bytes()
    with pytest.raises(InputError, match="SHA-256"):
        fetch_graph(entry(server, sha256="0" * 64), tmp_path / "path.h5")
    assert (tmp_path / "path.h5").read_bytes() == before


@pytest.mark.parametrize(
    ("path", "changes", "message"),
    [
        ("/absent", {}, "404"),
        ("/path.txt", {"bytes": 5}, f"has {len(EDGES)} bytes, the catalogue says 5"),
        ("/path.txt", {"sha1": "0" * 40}, "has SHA-1 .*, the catalogue says 0000"),
        ("/path.txt", {"sha256": "0" * 64}, "has SHA-256 .*, the catalogue says 0000"),
        ("/path.txt", {"edges": 499}, "501 nodes and 500 edges, the catalogue says 501 and 499"),
        ("/path.txt", {"format": "gset"}, "path.txt"),
        ("/path.txt", {"member": "path.txt"}, "no intact archive"),
    ],
)
def test_wrong_content_is_refused_and_leaves_nothing(
    server: FileServer, tmp_path: Path, path: str, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        fetch_graph(entry(server, path, **changes), tmp_path / "path.h5")
    assert str(caught.value).startswith(server.url)
    assert list(tmp_path.iterdir()) == []


def archives() -> dict[str, bytes]:
    packed, tarred = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("readme.html", "hello")
        archive.writestr("path.txt", EDGES)
    with tarfile.open(fileobj=tarred, mode="w:bz2") as archive:
        info = tarfile.TarInfo("folder/path.txt")
        info.size = len(EDGES)
        archive.addfile(info, io.BytesIO(EDGES))
    return {"/path.zip": packed.getvalue(), "/path.tar.bz2": tarred.getvalue()}


def test_archives_are_unpacked(server: FileServer, tmp_path: Path) -> None:
    server.files |= archives()
    for path in archives():
        fetched = fetch_graph(entry(server, path, member="path.txt"), tmp_path / "path.h5")
        assert fetched.built.edges == 500
        with pytest.raises(InputError, match=r"holds no other\.txt"):
            fetch_graph(entry(server, path, member="other.txt"), tmp_path / "path.h5")


@pytest.mark.parametrize("name", archives())
def test_a_damaged_archive_is_one_message(tmp_path: Path, name: str) -> None:
    whole = archives()[name]
    target = tmp_path / "path.txt"
    damaged = tmp_path / "archive"
    complaints = []
    for place in range(0, len(whole), max(1, len(whole) // 150)):
        content = bytearray(whole)
        content[place] ^= 0x5A
        for broken in (bytes(content), whole[:place]):
            damaged.write_bytes(broken)
            try:
                fetch._unpack(damaged, "path.txt", target, "https://example.org/a")
            except InputError as error:
                complaints.append(str(error))
            else:
                assert target.read_bytes() == EDGES
    assert len(complaints) > 150
    assert all(said.startswith("https://example.org/a: ") for said in complaints)


def test_a_full_disk_is_not_blamed_on_the_archive(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    archive.write_bytes(archives()["/path.zip"])
    with pytest.raises(InputError, match=r"^/dev/full: cannot be written: No space left"):
        fetch._unpack(archive, "path.txt", Path("/dev/full"), "https://example.org/a")


def test_compressed_files_are_read(server: FileServer, tmp_path: Path) -> None:
    server.files["/path.txt.gz"] = gzip.compress(EDGES)
    assert fetch_graph(entry(server, "/path.txt.gz"), tmp_path / "path.h5").built.edges == 500
    server.files["/path.txt.gz"] = gzip.compress(EDGES)[:-20]
    with pytest.raises(InputError, match="path"):
        fetch_graph(entry(server, "/path.txt.gz"), tmp_path / "path.h5")


# The catalogue

SCHOOLS = (
    "American75", "Caltech36", "Haverford76", "MIT", "Reed98", "Simmons81", "Swarthmore42",
    "Vanderbilt48",
)  # fmt: skip
GSET = ("G1", "G14", "G22", "G32", "G39", "G43", "G55", "G70")


def test_the_catalogue_states_source_size_and_licence_of_each_graph() -> None:
    entries = load_catalogue()
    assert {"socfb-Vanderbilt48", "G14", "brock200_2", "frb30-15-1"} <= set(entries)
    assert {"vc-exact_009", "wiki-Vote", "com-youtube", "soc-LiveJournal1"} <= set(entries)
    for known in entries.values():
        assert known.url.startswith("https://")
        assert "{" not in known.url + (known.member or "")
        assert known.licence
        assert known.page.startswith("https://")
        assert known.sha1 is None or len(bytes.fromhex(known.sha1)) == 20
        assert known.sha256 is None or len(bytes.fromhex(known.sha256)) == 32
        assert 0 < known.edges <= known.nodes * (known.nodes - 1)


def test_no_name_differs_from_another_by_case_alone() -> None:
    names = [name.lower() for name in load_catalogue()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("name", "file"),
    [
        *((f"socfb-{name}", f"socfb/socfb-{name}.mtx") for name in SCHOOLS),
        *((name, f"gset/{name}.txt") for name in GSET),
        ("wiki-Vote", "embed/wiki-Vote.txt"),
        ("C125.9", "mvc/C125.9.clq"),
        ("brock200_2", "mvc/brock200_2.clq"),
        ("frb30-15-2", "mvc/frb30-15-2.clq"),
    ],
)
def test_the_catalogue_agrees_with_a_real_file(shared_data: Path, name: str, file: str) -> None:
    known = load_catalogue()[name]
    # The copies of clique graphs have other headers than those at the source.
    form = None if known.format == "dimacs" else known.format
    graph = read_graph(shared_data / file, format=form, directed=known.directed or None)
    assert (graph.n, graph.m) == (known.nodes, known.edges)


def test_the_catalogue_agrees_with_a_real_file_whose_copy_declares_one_node_more(
    shared_data: Path,
) -> None:
    known = load_catalogue()["vc-exact_009"]
    graph = read_graph(shared_data / "mvc" / "vc-exact_009.txt")
    assert (graph.n - 1, graph.m) == (known.nodes, known.edges)
    assert graph.degrees[-1] == 0


def test_names_are_found_in_any_case() -> None:
    assert find_entry(load_catalogue(), "com-Youtube").name == "com-youtube"
    assert find_entry(load_catalogue(), "socfb-mit").name == "socfb-MIT"


def test_an_unknown_name_gets_a_suggestion() -> None:
    with pytest.raises(SettingsError, match="did you mean socfb-MIT"):
        find_entry(load_catalogue(), "socfb-mti")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("version = 2", "version 2"),
        ("version = ", "no TOML"),
        ('version = 1\n[[family]]\nname = "f"\ngraphs = [{ name = "g" }]', "'g': missing"),
        (
            'version = 1\n[[family]]\nname = "f"\nabout = "a"\npage = "p"\nlicence = "l"\n'
            'url = "u"\ngraphs = [{ name = "g", nodes = "3", edges = 2 }]',
            "key 'nodes' must be int",
        ),
    ],
)
def test_a_broken_catalogue_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "site.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        load_catalogue(path)
    with pytest.raises(InputError, match="no such file"):
        load_catalogue(tmp_path / "absent.toml")
