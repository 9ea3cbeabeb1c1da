"""Files that appear whole or not at all."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.part{path.suffix}")
    try:
        yield temporary
        with open(temporary, "rb+") as stream:
            os.fsync(stream.fileno())
        os.replace(temporary, path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    finally:
        temporary.unlink(missing_ok=True)


def sha256_of_file(path: str | Path) -> str:
    """Return the hexadecimal SHA-256 digest of a file's content."""
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
