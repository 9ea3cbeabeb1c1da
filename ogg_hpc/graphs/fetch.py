"""Download of the catalogue's graphs, resumed where it broke off and checked in the end."""

from __future__ import annotations

import http.client
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.graphs.catalogue import CatalogueEntry
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.readers import read_graph
from ogg_hpc.graphs.shards import write_store
from ogg_hpc.runtime.files import sha256_of_file

_BLOCK = 1 << 18
_TIMEOUT = 60.0

Report = Callable[[int, int | None], None]
"""Called with the bytes that are there and, where known, the bytes in all."""


def fetch_graph(
    entry: CatalogueEntry,
    output: Path,
    *,
    url: str | None = None,
    report: Report = lambda done, total: None,
) -> Graph:
    """Download a graph, check it and write it to a store.

    The download goes to a hidden ``.part`` file beside `output`; a transfer that broke off
    leaves it there, and the next call resumes it.

    Parameters
    ----------
    entry
        What to fetch.
    output
        HDF5 file to write, whole or not at all.
    url
        A mirror to use in place of the entry's own address.
    report
        Told of the progress.

    Raises
    ------
    InputError
        A server that refuses, a transfer that broke off, or content of another size, checksum
        or number of nodes or edges than the catalogue states.
    SettingsError
        An address that is neither http nor https.
    """
    url = url or entry.url
    if urlsplit(url).scheme not in ("http", "https"):
        raise SettingsError(f"{url}: only http and https addresses are fetched")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(output, f"cannot be written: {error.strerror}") from error
    part = output.with_name(f".{output.stem}.part{Path(urlsplit(url).path).suffix}")
    _download(url, part, entry.bytes, report)
    try:
        digest = sha256_of_file(part)
        if entry.sha256 is not None and digest != entry.sha256:
            raise InputError(url, f"has SHA-256 {digest}, the catalogue says {entry.sha256}")
        graph = _read(entry, part, url)
    finally:
        # A complete download that is wrong would be wrong again.
        part.unlink(missing_ok=True)
    if (graph.n, graph.m) != (entry.nodes, entry.edges):
        raise InputError(
            url,
            f"holds {graph.n} nodes and {graph.m} edges, the catalogue says {entry.nodes} and "
            f"{entry.edges}; download it by hand and use data convert if that is right",
        )
    provenance = {
        "name": entry.name,
        "source": url,
        "source_sha256": digest,
        "page": entry.page,
        "licence": entry.licence,
    }
    write_store(output, [graph], provenance)
    return graph


def _download(url: str, part: Path, expected: int | None, report: Report) -> None:
    have = part.stat().st_size if part.exists() else 0
    # Servers that compress on the fly would change the size and the checksum.
    headers = {"User-Agent": "ogg-hpc", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    try:
        with urlopen(Request(url, headers=headers), timeout=_TIMEOUT) as response:
            content_range = response.headers.get("Content-Range", "")
            resumed = response.status == 206 and content_range.startswith(f"bytes {have}-")
            have = have if resumed else 0
            length = response.headers.get("Content-Length")
            total = have + int(length) if length is not None else None
            if None not in (total, expected) and total != expected:
                part.unlink(missing_ok=True)
                raise InputError(url, f"has {total} bytes, the catalogue says {expected}")
            with part.open("ab" if resumed else "wb") as stream:
                report(have, total)
                while block := response.read(_BLOCK):
                    stream.write(block)
                    have += len(block)
                    report(have, total)
    except HTTPError as error:
        if error.code == 416 and have:
            # The part is as long as the file, or left over from another one.
            if error.headers.get("Content-Range") == f"bytes */{have}":
                return
            part.unlink()
            _download(url, part, expected, report)
            return
        raise InputError(url, f"the server answers {error.code} {error.reason}") from error
    except http.client.IncompleteRead:
        pass
    except (URLError, OSError, http.client.HTTPException) as error:
        reason = error.reason if isinstance(error, URLError) else error
        raise InputError(url, f"cannot be fetched ({reason}); try again to resume") from error
    total = total if total is not None else expected
    if total is not None and have < total:
        raise InputError(
            url, f"the transfer broke off after {have} of {total} bytes; try again to resume"
        )
    if total is not None and have > total:
        part.unlink()
        raise InputError(url, f"has {have} bytes, expected {total}")


def _read(entry: CatalogueEntry, path: Path, url: str) -> Graph:
    try:
        if entry.member is None:
            return read_graph(path, format=entry.format, directed=entry.directed)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".unpack-") as folder:
            unpacked = Path(folder) / Path(entry.member).name
            _unpack(path, entry.member, unpacked)
            return read_graph(unpacked, format=entry.format, directed=entry.directed)
    except InputError as error:
        # The file is gone when the user reads this: name the source instead.
        _, message, line = error.args
        raise InputError(url, message, line) from error
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError) as error:
        raise InputError(url, f"is no intact archive ({error})") from error


def _unpack(archive: Path, member: str, target: Path) -> None:
    """Copy one member, whatever its folder, out of a zip or tar archive."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as content:
            names = [name for name in content.namelist() if _is_member(name, member)]
            if names:
                with content.open(names[0]) as source:
                    _copy(source, target)
                return
    else:
        with tarfile.open(archive) as content:
            found = [item for item in content if item.isfile() and _is_member(item.name, member)]
            if found and (stream := content.extractfile(found[0])) is not None:
                _copy(stream, target)
                return
    raise InputError(archive, f"the archive holds no {member}")


def _is_member(name: str, member: str) -> bool:
    return name == member or name.endswith(f"/{member}")


def _copy(source: IO[bytes], target: Path) -> None:
    with target.open("wb") as stream:
        shutil.copyfileobj(source, stream)
