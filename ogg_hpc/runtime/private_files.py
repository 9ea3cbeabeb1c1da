"""Files that their owner alone can read, from their first moment on, whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ogg_hpc.runtime.files import sync, writing


def write_private(path: Path, content: bytes) -> None:
    """Write a file, in place of one that is there.

    Raises
    ------
    InputError
        It cannot be written.
    """
    with writing(path), _prepared(path, content) as temporary:
        os.replace(temporary, path)
        sync(path.parent)


def write_private_once(path: Path, content: bytes) -> None:
    """Write a file unless there is one; of several that do so at once, one wins.

    Raises
    ------
    InputError
        It cannot be written.
    """
    with writing(path), _prepared(path, content) as temporary:
        with suppress(FileExistsError):
            os.link(temporary, path)
        sync(path.parent)


@contextmanager
def _prepared(path: Path, content: bytes) -> Iterator[str]:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Processes of several nodes may do this at once: their numbers can be equal.
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        yield temporary
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
