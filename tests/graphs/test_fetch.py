import gzip
import io
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.graphs.catalogue import CatalogueEntry, find_entry, load_catalogue
from ogg_hpc.graphs.fetch import fetch_graph
from ogg_hpc.graphs.shards import GraphStore, check_store

EDGES = b"".join(b"%d %d\n" % (i, i + 1) for i in range(500))
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


@dataclass
class Server:
    """Serves bytes by path; the first `broken` answers stop half way."""

    files: dict[str, bytes] = field(default_factory=dict)
    broken: int = 0
    ranges: bool = True
    asked: list[str | None] = field(default_factory=list)
    url: str = ""


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args: Any) -> None:
            pass

        def do_GET(self) -> None:
            state.asked.append(self.headers["Range"])
            if self.path == "/moved":
                self.send_response(302)
                self.send_header("Location", "/path.txt")
                self.end_headers()
                return
            if self.path not in state.files:
                self.send_error(404)
                return
            content = state.files[self.path]
            start = 0
            if self.headers["Range"] and state.ranges:
                start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
                if start >= len(content):
                    self.send_response(416)
                    self.send_header("Content-Range", f"bytes */{len(content)}")
                    self.end_headers()
                    return
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {start}-{len(content)}/{len(content)}")
            else:
                self.send_response(200)
            rest = content[start:]
            self.send_header("Content-Length", str(len(rest)))
            self.end_headers()
            if state.broken > 0:
                state.broken -= 1
                rest = rest[: len(rest) // 2]
            self.wfile.write(rest)

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    state.url = f"http://127.0.0.1:{http.server_address[1]}"
    state.files["/path.txt"] = EDGES
    yield state
    http.shutdown()
    thread.join()
    http.server_close()


def entry(server: Server, path: str = "/path.txt", **changes: Any) -> CatalogueEntry:
    return replace(ENTRY, url=server.url + path, **changes)


def test_a_graph_is_fetched_checked_and_stored_with_its_source(
    server: Server, tmp_path: Path
) -> None:
    output = tmp_path / "new" / "path.h5"
    told: list[tuple[int, int | None]] = []
    wanted = entry(server, bytes=len(EDGES), sha256=sha256(EDGES).hexdigest())
    graph = fetch_graph(wanted, output, report=lambda done, total: told.append((done, total)))
    assert (graph.n, graph.m) == (501, 500)
    assert told[-1] == (len(EDGES), len(EDGES))
    assert check_store(output) == []
    with GraphStore(output) as store:
        assert store.attributes["source"] == wanted.url
        assert store.attributes["licence"] == "none"
    assert list(output.parent.iterdir()) == [output]


@pytest.mark.parametrize("ranges", [True, False])
def test_a_broken_transfer_is_resumed(server: Server, tmp_path: Path, ranges: bool) -> None:
    server.broken, server.ranges = 2, ranges
    for _ in range(2):
        with pytest.raises(InputError, match="broke off after"):
            fetch_graph(entry(server), tmp_path / "path.h5")
        assert not (tmp_path / "path.h5").exists()
    fetch_graph(entry(server), tmp_path / "path.h5")
    assert server.asked[0] is None
    assert server.asked[1] == f"bytes={len(EDGES) // 2}-"
    assert [p.name for p in tmp_path.iterdir()] == ["path.h5"]


def test_a_complete_part_is_not_fetched_again(server: Server, tmp_path: Path) -> None:
    (tmp_path / ".path.part.txt").write_bytes(EDGES)
    assert fetch_graph(entry(server), tmp_path / "path.h5").m == 500


def test_a_part_of_something_larger_is_dropped(server: Server, tmp_path: Path) -> None:
    (tmp_path / ".path.part.txt").write_bytes(EDGES * 2)
    assert fetch_graph(entry(server), tmp_path / "path.h5").m == 500


def test_redirects_and_mirrors_are_followed(server: Server, tmp_path: Path) -> None:
    assert fetch_graph(entry(server, "/moved"), tmp_path / "a.h5").m == 500
    mirror = server.url + "/path.txt"
    assert fetch_graph(ENTRY, tmp_path / "b.h5", url=mirror).m == 500


@pytest.mark.parametrize(
    ("path", "changes", "message"),
    [
        ("/absent", {}, "404"),
        ("/path.txt", {"bytes": 5}, f"has {len(EDGES)} bytes, the catalogue says 5"),
        ("/path.txt", {"sha256": "0" * 64}, "SHA-256"),
        ("/path.txt", {"edges": 499}, "501 nodes and 500 edges, the catalogue says 501 and 499"),
        ("/path.txt", {"format": "gset"}, "path.txt"),
        ("/path.txt", {"member": "path.txt"}, "no intact archive"),
    ],
)
def test_wrong_content_is_refused_and_leaves_nothing(
    server: Server, tmp_path: Path, path: str, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        fetch_graph(entry(server, path, **changes), tmp_path / "path.h5")
    assert str(caught.value).startswith(server.url)
    assert list(tmp_path.iterdir()) == []


def test_an_unreachable_server_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"127\.0\.0\.1:9"):
        fetch_graph(ENTRY, tmp_path / "path.h5", url="http://127.0.0.1:9/x")
    with pytest.raises(SettingsError, match="http"):
        fetch_graph(ENTRY, tmp_path / "path.h5", url="file:///etc/hostname")


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


def test_archives_are_unpacked(server: Server, tmp_path: Path) -> None:
    server.files |= archives()
    for path in archives():
        graph = fetch_graph(entry(server, path, member="path.txt"), tmp_path / "path.h5")
        assert graph.m == 500
        with pytest.raises(InputError, match=r"holds no other\.txt"):
            fetch_graph(entry(server, path, member="other.txt"), tmp_path / "path.h5")


def test_compressed_files_are_read(server: Server, tmp_path: Path) -> None:
    server.files["/path.txt.gz"] = gzip.compress(EDGES)
    assert fetch_graph(entry(server, "/path.txt.gz"), tmp_path / "path.h5").m == 500
    server.files["/path.txt.gz"] = gzip.compress(EDGES)[:-20]
    with pytest.raises(InputError, match="path"):
        fetch_graph(entry(server, "/path.txt.gz"), tmp_path / "path.h5")


# The catalogue


def test_the_catalogue_states_source_size_and_licence_of_each_graph() -> None:
    entries = load_catalogue()
    assert {"socfb-Vanderbilt48", "G14", "brock200_2", "frb30-15-1"} <= set(entries)
    assert {"vc-exact_009", "wiki-Vote", "com-youtube", "soc-LiveJournal1"} <= set(entries)
    for known in entries.values():
        assert known.url.startswith("https://")
        assert "{" not in known.url + (known.member or "")
        assert known.licence
        assert 0 < known.edges <= known.nodes * (known.nodes - 1)


def test_the_catalogue_agrees_with_real_files(shared_data: Path) -> None:
    from ogg_hpc.graphs.readers import read_graph

    entries = load_catalogue()
    for path in [
        *(shared_data / "socfb").glob("*.mtx"),
        *(shared_data / "gset").glob("*.txt"),
        shared_data / "embed" / "wiki-Vote.txt",
    ]:
        known = entries[path.stem]
        graph = read_graph(path, format=known.format, directed=known.directed)
        assert (graph.n, graph.m) == (known.nodes, known.edges), path


def test_an_unknown_name_gets_a_suggestion() -> None:
    with pytest.raises(SettingsError, match="did you mean socfb-MIT"):
        find_entry(load_catalogue(), "socfb-mit")


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
