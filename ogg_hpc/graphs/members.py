"""The graphs that a path stands for: one, or each graph of a store."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ogg_hpc.errors import InputError

_HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"


def is_store(path: str | Path) -> bool:
    """Return whether a path is a folder of shards or an HDF5 file."""
    path = Path(path)
    # Those of `os` take a path that cannot be looked at for nothing: its reader says what is wrong.
    if os.path.isdir(path):
        return True
    if not os.path.isfile(path):
        return False  # a look into a pipe would take away what whoever reads it needs
    try:
        with open(path, "rb") as stream:
            return stream.read(len(_HDF5_SIGNATURE)) == _HDF5_SIGNATURE
    except OSError:
        return False  # whoever reads the path says what is wrong with it


def split_index(path: str | Path) -> tuple[Path, int | None]:
    """Split ``PATH:INDEX`` unless a file has that very name."""
    path = Path(path)
    match = re.fullmatch(r"(.+):(\d{1,18})", str(path))
    if match is None or os.path.exists(path):
        return path, None
    return Path(match[1]), int(match[2])


def members(path: str | Path) -> list[str]:
    """Return ``STORE:INDEX`` for each graph of a store of several, else the path alone.

    Raises
    ------
    InputError
        A store that cannot be read, or holds no graph.
    """
    if is_store(path):
        from ogg_hpc.graphs.shards import GraphStore

        with GraphStore(path) as store:
            if not len(store):
                raise InputError(path, "the store holds no graph")
            if len(store) != 1:
                return [f"{path}:{index}" for index in range(len(store))]
    return [str(path)]
