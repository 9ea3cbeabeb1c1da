"""Files that appear whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import zipfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from io import RawIOBase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ogg_hpc.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

# What reading a damaged ``.npz`` archive raises.
DAMAGE = (OSError, ValueError, EOFError, RuntimeError, KeyError, zipfile.BadZipFile)

_CHUNK = 1 << 20
# What `temporary_name` gives, with the number of the process.
_TEMPORARY = re.compile(r"\.(?P<stem>.+)\.(?P<process>\d+)\.part(?P<suffix>\.[^.]*)?")


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Say of a write that fails within the block what could not be written, and why.

    Raises
    ------
    InputError
        The place cannot be written, or the disk is full.
    """
    try:
        yield
    except OSError as error:
        raise InputError(path, f"cannot be written: {error.strerror or error}") from error


def write_block(stream: RawIOBase, block: bytes, path: str | Path) -> None:
    """Write all of a block to the unbuffered stream of a file.

    Closing such a stream writes nothing, and so cannot fail where nobody says of what.

    Raises
    ------
    InputError
        It cannot be written, or the disk is full.
    """
    left = memoryview(block)
    with writing(path):
        while left:
            left = left[stream.write(left) or 0 :]


@contextmanager
def write_whole(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path that becomes `path` when the block ends without an error.

    The content is flushed to disk before the rename and the folder after it, so that a
    killed process or a crashed machine leaves the old file or the new one, never a part.

    Parameters
    ----------
    path
        The final name; its folder is created when missing.

    Yields
    ------
    Path
        A name in the same folder, with the same suffix, to be written by the caller.

    Raises
    ------
    InputError
        The folder or the file cannot be written, or the disk is full.
    """
    path = Path(path)
    temporary = temporary_name(path)
    try:
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            yield temporary
            sync(temporary)
            os.replace(temporary, path)
            sync(path.parent)
    finally:
        with suppress(OSError):
            temporary.unlink()


def temporary_name(path: Path) -> Path:
    """Return the name under which this process prepares a file or a folder, beside it."""
    return path.with_name(f".{path.stem}.{os.getpid()}.part{path.suffix}")


def sync(path: Path) -> None:
    """Bring a file's content, or a folder's list of names, to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_leftovers(folder: Path, name: str | None = None) -> None:
    """Remove what killed processes have left half-written in a folder, if there is one.

    What a living process of this machine prepares stays, but nothing under the number of the
    present one: it must not have begun to write yet.

    Parameters
    ----------
    folder
        The folder.
    name
        That of the file to whose leftovers this is limited: in folders that others use as well.
    """
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        match = _TEMPORARY.fullmatch(path.name)
        if match is None or _is_another_living_process(int(match["process"])):
            continue
        if name not in (None, match["stem"] + (match["suffix"] or "")):
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                path.unlink()


def _is_another_living_process(number: int) -> bool:
    if number == os.getpid():
        return False
    try:
        os.kill(number, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    try:
        stat = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:  # no Linux, or it has just ended
        return True
    # One that has ended has a number for as long as nobody has asked how.
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def write_json(path: str | Path, value: Any) -> None:
    """Write a value as JSON, whole or not at all."""
    with write_whole(path) as temporary:
        temporary.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


def read_json(path: str | Path, what: str) -> dict[str, Any]:
    """Return the JSON object that a file holds.

    Parameters
    ----------
    path
        The file.
    what
        What it should be, for the message.

    Raises
    ------
    InputError
        There is no such file, or it holds no JSON object.
    """
    try:
        value = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(path, f"no {what}: {error.strerror}") from None
    except ValueError as error:
        raise InputError(path, f"no {what}: not JSON: {error}") from None
    if not isinstance(value, dict):
        raise InputError(path, f"no {what}: not a JSON object")
    return value


def check_writable(path: str | Path) -> None:
    """Find out that a file cannot be written before hours of work are spent on its content.

    Raises
    ------
    InputError
        Its folder cannot be made or written, or the name is too long or that of a folder.
    """
    path = Path(path)
    with writing(path):
        if path.is_dir():
            raise InputError(path, "cannot be written: it is a folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = temporary_name(path)
        temporary.touch()
        temporary.unlink()


def sha256_of_file(path: str | Path) -> str:
    """Return the hexadecimal SHA-256 digest of a file's content."""
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def read_arrays(
    path: str | Path, what: str, names: Collection[str] = ()
) -> dict[str, NDArray[Any]]:
    """Return the arrays of an ``.npz`` archive.

    Parameters
    ----------
    path
        The archive.
    what
        What it should be, for the message.
    names
        Those to be read; all by default.

    Raises
    ------
    FileNotFoundError
        There is none.
    InputError
        It is no archive of arrays, or a damaged one: each member carries a checksum.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = [f"{name}.npy" for name in names] or archive.namelist()
            return {name.removesuffix(".npy"): _read_array(archive, name) for name in members}
    except FileNotFoundError:
        raise
    # A damaged header can claim anything: other versions, encryption, sizes beyond memory.
    except (*DAMAGE, MemoryError) as error:
        raise InputError(path, f"not {what}, or a damaged one ({error})") from None


def _read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    import numpy as np  # help texts need none of it

    with archive.open(name) as stream:
        array: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
        return array
