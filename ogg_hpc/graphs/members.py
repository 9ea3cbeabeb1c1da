"""The graphs that a text stands for: a file, a store, one graph of it, or a generator family."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ogg_hpc.errors import InputError, SettingsError

_HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"


def is_family(text: str) -> bool:
    """Return whether a text means a family of generated graphs rather than a file."""
    return re.match(r"\w+:(\w+=|$)", text) is not None


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


def name_of(graph: str | Path) -> str:
    """Return what to call files that are made from a graph: ``a.b.mtx.gz`` gives ``a.b``.

    Each graph has a name of its own: ``STORE:INDEX`` gives ``STORE.INDEX``, and a family its text.
    """
    if is_family(str(graph)):
        return str(graph).replace("/", "_")
    path, index = split_index(graph)
    if path.suffix in (".gz", ".bz2", ".xz", ".zst"):
        path = path.with_suffix("")
    return path.stem if index is None else f"{path.stem}.{index}"


def check_apart(output: str | Path, graph: str | Path) -> None:
    """Refuse to write over the file of the graph that is read.

    Raises
    ------
    SettingsError
        They are the same file.
    """
    path, _ = split_index(graph)
    if os.path.exists(output) and os.path.exists(path) and os.path.samefile(output, path):
        raise SettingsError(f"{output} is the graph itself; choose another --output")


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
