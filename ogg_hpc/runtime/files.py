"""Files that appear whole or not at all."""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import InputError

_CHUNK = 1 << 20


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
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.part{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        with open(temporary, "rb+") as stream:
            os.fsync(stream.fileno())
        os.replace(temporary, path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise InputError(path, f"cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def check_writable(path: str | Path) -> None:
    """Find out that a file cannot be written before hours of work are spent on its content.

    Raises
    ------
    InputError
        Its folder cannot be made or written, or the name is that of a folder.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(path, "cannot be written: it is a folder")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise InputError(path, f"cannot be written: {error.strerror or error}") from error


def sha256_of_file(path: str | Path) -> str:
    """Return the hexadecimal SHA-256 digest of a file's content."""
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def read_arrays(path: str | Path, what: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of an ``.npz`` archive.

    Parameters
    ----------
    path
        The archive.
    what
        What it should be, for the message.

    Raises
    ------
    FileNotFoundError
        There is none.
    InputError
        It is no archive of arrays, or a damaged one: each member carries a checksum.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return {
                name.removesuffix(".npy"): _read_array(archive, name) for name in archive.namelist()
            }
    except FileNotFoundError:
        raise
    # A damaged header can claim anything: other versions, encryption, sizes beyond memory.
    except (OSError, ValueError, EOFError, RuntimeError, MemoryError, zipfile.BadZipFile) as error:
        raise InputError(path, f"not {what}, or a damaged one ({error})") from None


def _read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with archive.open(name) as stream:
        array: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
        return array
