import gzip
import os
from collections.abc import Iterator
from http.client import HTTPMessage
from pathlib import Path
from threading import Event
from urllib.error import HTTPError
from urllib.request import Request

import pytest
from file_server import FileServer, file_server

from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.graphs.download import _Redirects, downloaded

CONTENT = b"".join(b"%d %d\n" % (i, i + 1) for i in range(500))
OTHER = CONTENT[::-1]


@pytest.fixture
def server() -> Iterator[FileServer]:
    with file_server() as server:
        server.files["/edges.txt"] = CONTENT
        yield server


@pytest.fixture
def part(tmp_path: Path) -> Path:
    return tmp_path / ".edges.part.txt"


def download(server: FileServer, part: Path, path: str = "/edges.txt", **options: object) -> bytes:
    with downloaded(server.url + path, part, **options) as whole:  # type: ignore[arg-type]
        content = whole.read_bytes()
    assert list(part.parent.iterdir()) == []
    return content


def break_off(server: FileServer, part: Path, message: str = "broke off after") -> None:
    server.broken = 1
    with pytest.raises(InputError, match=message) as caught:
        download(server, part)
    assert str(caught.value).startswith(server.url)


def ranges(server: FileServer) -> list[str | None]:
    return [asked.get("Range") for asked in server.asked]


def test_progress_is_told_to_the_end(server: FileServer, part: Path) -> None:
    told: list[tuple[int, int | None]] = []
    options = {"size": len(CONTENT), "report": lambda done, total: told.append((done, total))}
    assert download(server, part, **options) == CONTENT
    assert told[0] == (0, len(CONTENT))
    assert told[-1] == (len(CONTENT), len(CONTENT))


VALIDATORS = [
    {},
    {"ETag": '"one"'},
    {"ETag": 'W/"weak"', "Last-Modified": "Mon, 02 Nov 2026 10:00:00 GMT"},
]


@pytest.mark.parametrize("headers", VALIDATORS)
def test_only_the_rest_is_asked_for(
    server: FileServer, part: Path, headers: dict[str, str]
) -> None:
    server.headers = headers
    break_off(server, part)
    break_off(server, part)
    assert download(server, part) == CONTENT
    half = len(CONTENT) // 2
    three_quarters = half + (len(CONTENT) - half) // 2
    assert ranges(server) == [None, f"bytes={half}-", f"bytes={three_quarters}-"]
    tag = headers.get("Last-Modified", headers.get("ETag"))
    assert [asked.get("If-Range") for asked in server.asked] == [None, tag, tag]


def test_a_server_without_ranges_sends_all_again(server: FileServer, part: Path) -> None:
    server.ranges = False
    break_off(server, part)
    assert download(server, part) == CONTENT


@pytest.mark.parametrize("headers", VALIDATORS[1:])
def test_a_file_that_changed_in_between_is_fetched_from_its_start(
    server: FileServer, part: Path, headers: dict[str, str]
) -> None:
    server.headers = headers
    break_off(server, part)
    server.files["/edges.txt"] = OTHER  # as long as before
    server.headers = {name: value.replace("o", "0") for name, value in headers.items()}
    assert download(server, part) == OTHER


@pytest.mark.parametrize("other", [OTHER * 3, CONTENT[: len(CONTENT) // 3]])
def test_a_change_of_length_is_noticed_without_a_validator(
    server: FileServer, part: Path, other: bytes
) -> None:
    break_off(server, part)
    server.files["/edges.txt"] = other
    if len(other) > len(CONTENT):
        with pytest.raises(InputError, match="another part than asked for"):
            download(server, part)
    assert download(server, part) == other


def test_a_part_of_another_address_is_not_used(server: FileServer, part: Path) -> None:
    break_off(server, part)
    server.files["/mirror.txt"] = OTHER
    assert download(server, part, "/mirror.txt") == OTHER
    assert ranges(server) == [None, None]


def test_a_part_of_unknown_origin_is_not_used(server: FileServer, part: Path) -> None:
    part.write_bytes(OTHER[:100])
    assert download(server, part) == CONTENT


def test_a_complete_part_is_not_asked_for_again(server: FileServer, part: Path) -> None:
    with downloaded(server.url + "/edges.txt", part):
        left = {path: path.read_bytes() for path in part.parent.iterdir()}
    for path, content in left.items():  # as after a kill
        path.write_bytes(content)
    with pytest.raises(InputError, match="the catalogue says 5"):
        download(server, part, size=5)
    for path, content in left.items():
        path.write_bytes(content)
    asked = len(server.asked)
    assert download(server, part) == CONTENT
    assert len(server.asked) == asked


def test_a_server_that_falls_silent_is_left_and_resumed(server: FileServer, part: Path) -> None:
    server.silent = Event()
    with pytest.raises(InputError, match=r"timed out.*try again to resume"):
        download(server, part, timeout=0.2)
    server.silent.set()
    server.silent = None
    assert download(server, part) == CONTENT
    assert ranges(server) == [None, f"bytes={len(CONTENT) // 2}-"]


def test_content_of_unstated_length_is_taken_whole(server: FileServer, part: Path) -> None:
    server.lengths = False
    assert download(server, part) == CONTENT
    assert download(server, part, size=len(CONTENT)) == CONTENT
    break_off_at = len(CONTENT) // 2
    server.broken = 1
    with pytest.raises(InputError, match=f"after {break_off_at} of {len(CONTENT)} bytes"):
        download(server, part, size=len(CONTENT))


def test_too_much_of_unstated_length_is_refused(server: FileServer, part: Path) -> None:
    server.lengths = False
    with pytest.raises(InputError, match=f"has {len(CONTENT)} bytes, expected 5"):
        download(server, part, size=5)
    assert not part.exists()


def test_a_wrong_size_is_refused_before_it_is_fetched(server: FileServer, part: Path) -> None:
    server.silent = Event()  # it would wait for the second half
    with pytest.raises(InputError, match=f"has {len(CONTENT)} bytes, the catalogue says 5"):
        download(server, part, size=5)
    assert not part.exists()


def test_redirections_are_followed_and_resumed(server: FileServer, part: Path) -> None:
    server.moved = {"/old": "/newer", "/newer": f"{server.url}/edges.txt"}
    server.broken = 1
    with pytest.raises(InputError, match="broke off"):
        download(server, part, "/old")
    assert download(server, part, "/old") == CONTENT
    assert ranges(server)[-1] == f"bytes={len(CONTENT) // 2}-"


@pytest.mark.parametrize(
    ("to", "message"),
    [
        ("/circle", "infinite loop"),
        ("file:///etc/hostname", "file:///etc/hostname' is not allowed"),
        ("ftp://127.0.0.1/edges.txt", "ftp://127.0.0.1/edges.txt is not allowed"),
        ("data:text/plain,1 2", "not allowed"),
    ],
)
def test_redirections_lead_to_no_circle_and_no_other_scheme(
    server: FileServer, part: Path, to: str, message: str
) -> None:
    server.moved["/circle"] = to
    with pytest.raises(InputError, match=message) as caught:
        download(server, part, "/circle")
    assert "\n" not in str(caught.value)
    assert not part.exists()


def test_no_redirection_leads_from_https_to_http() -> None:
    request = Request("https://example.org/a")
    with pytest.raises(HTTPError, match="not allowed"):
        _Redirects().redirect_request(
            request,
            None,
            302,
            "Found",
            HTTPMessage(),
            "http://example.org/a",  # type: ignore[arg-type]
        )


@pytest.mark.parametrize("page", [b"<!DOCTYPE html>\n<p>moved", b"\n <html lang=en>sign in"])
def test_a_web_page_is_not_taken_for_the_file(server: FileServer, part: Path, page: bytes) -> None:
    server.files["/edges.txt"] = page
    with pytest.raises(InputError, match="is a web page, not the file"):
        download(server, part)
    assert not part.exists()


def test_a_gzip_coded_transfer_is_decoded(server: FileServer, part: Path) -> None:
    server.files["/edges.txt"] = gzip.compress(CONTENT)
    server.headers["Content-Encoding"] = "gzip"
    assert download(server, part, size=len(CONTENT)) == CONTENT
    break_off(server, part, "broke off.*from the start")
    assert not part.exists()
    assert download(server, part) == CONTENT
    server.files["/edges.txt"] = CONTENT
    with pytest.raises(InputError, match="cannot be fetched"):
        download(server, part)


def test_the_coding_of_a_compressed_file_itself_is_kept(server: FileServer, part: Path) -> None:
    packed = gzip.compress(CONTENT)
    server.files["/edges.txt.gz"] = packed
    server.headers["Content-Encoding"] = "x-gzip"
    assert download(server, part, "/edges.txt.gz", size=len(packed)) == packed


def test_an_unknown_coding_is_refused(server: FileServer, part: Path) -> None:
    server.headers["Content-Encoding"] = "br"
    with pytest.raises(InputError, match="coded as br"):
        download(server, part)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_named_and_not_blamed_on_the_server(server: FileServer, part: Path) -> None:
    part.symlink_to("/dev/full")
    with pytest.raises(InputError, match="cannot be written: No space left on device") as caught:
        download(server, part)
    assert str(caught.value).startswith(str(part))


def test_two_downloads_to_one_place_do_not_mix(server: FileServer, part: Path) -> None:
    with downloaded(server.url + "/edges.txt", part) as first:
        with pytest.raises(InputError, match="another process is fetching it"):
            download(server, part)
        assert first.read_bytes() == CONTENT
    assert download(server, part) == CONTENT


def test_a_part_that_another_process_removes_is_not_written(
    server: FileServer, part: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def removed_meanwhile(stream: object, operation: int) -> None:
        part.unlink()

    monkeypatch.setattr("ogg_hpc.graphs.download.fcntl.flock", removed_meanwhile)
    with pytest.raises(InputError, match="another process is fetching it"):
        download(server, part)


def test_refusals_name_the_address_and_leave_nothing(server: FileServer, part: Path) -> None:
    with pytest.raises(InputError, match="the server answers 404") as caught:
        download(server, part, "/absent")
    assert str(caught.value).startswith(server.url)
    assert not part.exists()
    with (
        pytest.raises(InputError, match=r"127\.0\.0\.1:9/x: cannot be fetched"),
        downloaded("http://127.0.0.1:9/x", part),
    ):
        pass
    assert os.listdir(part.parent) == []


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://example.org/a", "edges.txt"])
def test_only_web_addresses_are_fetched(part: Path, url: str) -> None:
    with pytest.raises(SettingsError, match="only http and https"), downloaded(url, part):
        pass
