"""From an entry of the catalogue to a store: downloaded, checked, unpacked, converted."""

from __future__ import annotations

import hashlib
import shutil
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.catalogue import CatalogueEntry
from ogg_hpc.graphs.download import Report, downloaded
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.readers import read_graph
from ogg_hpc.graphs.shards import write_store
from ogg_hpc.runtime.files import writing


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
    with writing(output):
        output.parent.mkdir(parents=True, exist_ok=True)
    part = output.with_name(f".{output.stem}.part{Path(urlsplit(url).path).suffix}")
    with downloaded(url, part, size=entry.bytes, report=report) as path:
        digest = _checked(entry, path, url)
        graph = _read(entry, path, url)
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


def _checked(entry: CatalogueEntry, path: Path, url: str) -> str:
    """Return the SHA-256 of a download whose checksums are those of the catalogue."""
    found = {}
    for name, stated in (("sha1", entry.sha1), ("sha256", entry.sha256)):
        with path.open("rb") as stream:
            found[name] = hashlib.file_digest(stream, name).hexdigest()
        if stated not in (None, found[name]):
            title = name.replace("sha", "SHA-")
            raise InputError(url, f"has {title} {found[name]}, the catalogue says {stated}")
    return found["sha256"]


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
