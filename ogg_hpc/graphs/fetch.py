"""From an entry of the catalogue to a store: downloaded, checked, unpacked, converted."""

from __future__ import annotations

import hashlib
import lzma
import os
import tarfile
import tempfile
import zipfile
import zlib
from contextlib import ExitStack
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.catalogue import CatalogueEntry
from ogg_hpc.graphs.conversion.convert import convert
from ogg_hpc.graphs.conversion.request import Converted, Request
from ogg_hpc.graphs.download import downloaded
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.files import check_writable, sync, write_block, writing
from ogg_hpc.runtime.progress import progress_bar
from ogg_hpc.runtime.signals import Came, none_came, refuse_after

_BLOCK = 1 << 20
# A damaged archive can claim anything: other compressions, encryption.
_DAMAGE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
    zlib.error,
    lzma.LZMAError,
)


def fetch_graph(
    comm: Communicator,
    entry: CatalogueEntry,
    output: Path,
    *,
    memory: int,
    url: str | None = None,
    came: Came = none_came,
) -> Converted:
    """Download a graph, check it and write it to a store (collective).

    Rank 0 downloads to a hidden file beside `output`, and all ranks convert it. A transfer that
    broke off and a conversion that was stopped leave what they have there, and the next call goes
    on with it.

    Parameters
    ----------
    comm
        All ranks.
    entry
        What to fetch.
    output
        HDF5 file to write, whole or not at all.
    memory
        Bytes that each rank may use.
    url
        A mirror to use in place of the entry's own address.
    came
        Tells of a signal to this rank, which ends the download or the conversion.

    Raises
    ------
    InputError
        A server that refuses, a transfer that broke off, or content of another size, checksum
        or number of nodes or edges than the catalogue states.
    SettingsError
        An address that is neither http nor https.
    StoppedError
        A signal has come.
    """
    source = url or entry.url
    new = output.with_name(f".{output.stem}.fetched{output.suffix}")
    with ExitStack() as kept:  # on rank 0

        def bring() -> tuple[Path, dict[str, str]]:
            check_writable(output)
            part = output.with_name(f".{output.stem}.part{Path(urlsplit(source).path).suffix}")
            with progress_bar(comm, f"fetching {entry.name}", 100) as update:

                def report(done: int, total: int | None) -> None:
                    refuse_after(came())
                    update(100 * done // total if total else 0, f"{done / 1e6:.1f} MB")

                kept.enter_context(downloaded(source, part, size=entry.bytes, report=report))
            provenance = {
                "name": entry.name,
                "source": source,
                "source_sha256": _checked(entry, part, source),
                "page": entry.page,
                "licence": entry.licence,
            }
            if entry.member is None:
                return part, provenance
            folder = tempfile.TemporaryDirectory(dir=output.parent, prefix=".unpack-")
            member = Path(kept.enter_context(folder)) / Path(entry.member).name
            _unpack(part, entry.member, member, source)
            return member, provenance

        path, provenance = comm.on_root(bring)
        request = Request(path, new, entry.format, entry.directed, attributes=provenance)
        try:
            converted = convert(comm, request, memory=memory, came=came)
        except InputError as error:
            raise _of_source(error, path, source) from error
        comm.on_root(lambda: _accept(entry, converted, new, output, source))
    return converted


def _checked(entry: CatalogueEntry, path: Path, source: str) -> str:
    """Return the SHA-256 of a download whose checksums are those of the catalogue."""
    found = {}
    for name, stated in (("sha1", entry.sha1), ("sha256", entry.sha256)):
        with path.open("rb") as stream:
            found[name] = hashlib.file_digest(stream, name).hexdigest()
        if stated not in (None, found[name]):
            title = name.replace("sha", "SHA-")
            raise InputError(source, f"has {title} {found[name]}, the catalogue says {stated}")
    return found["sha256"]


def _unpack(archive: Path, member: str, target: Path, source: str) -> None:
    """Copy one member, whatever its folder, out of a zip or tar archive."""
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as content:
                names = [name for name in content.namelist() if _is_member(name, member)]
                if names:
                    with content.open(names[0]) as packed:
                        _copy(packed, target)
                    return
        else:
            with tarfile.open(archive) as tarred:
                for item in tarred:
                    if item.isfile() and _is_member(item.name, member):
                        stream = tarred.extractfile(item)
                        assert stream is not None
                        _copy(stream, target)
                        return
    except _DAMAGE as error:
        raise InputError(source, f"is no intact archive ({error})") from error
    raise InputError(source, f"the archive holds no {member}")


def _is_member(name: str, member: str) -> bool:
    return name == member or name.endswith(f"/{member}")


def _copy(packed: IO[bytes], target: Path) -> None:
    with writing(target):
        stream = target.open("wb", buffering=0)
    with stream:
        while block := packed.read(_BLOCK):
            write_block(stream, block, target)


def _of_source(error: InputError, path: Path, source: str) -> InputError:
    """Return what is wrong with a download as said of its address: the file is gone soon."""
    blamed, message, line = error.args
    if blamed != str(path):
        return error
    said = InputError(source, message, line)
    return said.shared() if error.collective else said


def _accept(
    entry: CatalogueEntry, converted: Converted, new: Path, output: Path, source: str
) -> None:
    """Give a store its name, if it holds what the catalogue says."""
    nodes, edges = converted.built.nodes, converted.built.edges
    with writing(output):
        if (nodes, edges) != (entry.nodes, entry.edges):
            new.unlink()
            raise InputError(
                source,
                f"holds {nodes} nodes and {edges} edges, the catalogue says {entry.nodes} and "
                f"{entry.edges}; download it by hand and use data convert if that is right",
            )
        os.replace(new, output)
        sync(output.parent)
