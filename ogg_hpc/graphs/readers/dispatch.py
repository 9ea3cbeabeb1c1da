"""One way in for all formats of graph files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.graphs.graph import ConflictingWeightsError, Graph
from ogg_hpc.graphs.members import is_store, split_index
from ogg_hpc.graphs.readers import (
    dimacs,
    edgelist,
    graphml,
    gset,
    matlab,
    matrixmarket,
    metis,
    pajek,
    parquet,
    scipy_npz,
)
from ogg_hpc.graphs.readers.build import conflict
from ogg_hpc.graphs.readers.detect import detect_binary, detect_text
from ogg_hpc.graphs.readers.files import decode, read_bytes
from ogg_hpc.graphs.readers.text import Text

# The last argument is True for a directed graph, False for an undirected one, None for what the
# file says.
_TEXT_READERS: dict[str, Callable[[Text, bool | None], Graph]] = {
    "edgelist": edgelist.read,
    "matrixmarket": matrixmarket.read,
    "dimacs": dimacs.read,
    "metis": metis.read,
    "gset": gset.read,
    "pajek": pajek.read,
}
_BYTES_READERS: dict[str, Callable[[Path, bytes, bool | None], Graph]] = {
    "graphml": graphml.read,
    "npz": scipy_npz.read,
    "mat": matlab.read,
    "parquet": parquet.read,
}

#: Names of the formats that `read_graph` knows.
FORMATS = (*_TEXT_READERS, *_BYTES_READERS, "hdf5")


def read_graph(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002
    directed: bool = False,
    undirected: bool = False,
) -> Graph:
    """Read a graph from a file.

    Parameters
    ----------
    path
        A file, text also compressed by gzip, bzip2, xz or Zstandard; or a store of this package
        (a file or a folder), where ``PATH:INDEX`` names one of several graphs.
    format
        One of `FORMATS`; by default it is found by content first and by suffix second.
    directed
        Take each line ``u v`` of a list, or each entry of a matrix, as an arc from u to v.
    undirected
        Take each arc of a directed input as an undirected edge.

    Returns
    -------
    Graph
        With the labels of the file: integers if all are, else text; 1 … n for formats that
        count from 1. Repeated edges are merged, self loops are dropped, both are counted.
        Weights that are all 1 are none. What the user should know is in ``warnings``.

    Raises
    ------
    InputError
        A file that is missing, damaged or not as its format wants it.
    SettingsError
        An unknown format, or both `directed` and `undirected`.

    Notes
    -----
    A list of edges whose first line is ``n m`` is ambiguous. That line is a header if the lines
    below have a third column, or if exactly m lines follow and their ids are at most n; then
    ids count from 1 unless 0 occurs, and a declared n one above the largest id is a warning.
    Otherwise it is an edge. A line that is almost a header is an error.
    """
    wanted = check_options(format, directed, undirected)
    path, index = split_index(Path(path))
    if format == "hdf5" or (format is None and _is_store(path)):
        graph = _read_store(path, index)
    elif index is not None:
        raise InputError(f"{path}:{index}", "only a store holds several graphs; drop the index")
    else:
        graph = _read_file(path, format, wanted)
    if directed and not graph.directed:
        raise no_directions(path)
    if undirected:
        try:
            graph = graph.to_undirected()
        except ConflictingWeightsError as error:
            raise conflict(path, error) from None
    return graph


def check_options(
    format: str | None,  # noqa: A002
    directed: bool,
    undirected: bool,
) -> bool | None:
    """Return whether a graph is to be directed, None for what the file says.

    Raises
    ------
    SettingsError
        As by `read_graph`.
    """
    if directed and undirected:
        raise SettingsError("a graph is read as directed or as undirected, not both")
    if format is not None and format not in FORMATS:
        raise SettingsError(f"unknown format {format!r}; expected one of {', '.join(FORMATS)}")
    return True if directed else False if undirected else None


def no_directions(path: Path) -> InputError:
    """Return the complaint about an undirected graph that is wanted as directed, to be raised."""
    return InputError(path, "the file holds an undirected graph; it cannot be read as directed")


def _read_file(path: Path, name: str | None, directed: bool | None) -> Graph:
    data = read_bytes(path)
    name = name or detect_binary(path, data)
    text = None
    if name is None:
        text = Text(path, decode(path, data))
        name = detect_text(text)
    if name in _BYTES_READERS:
        return _BYTES_READERS[name](path, data, directed)
    return _TEXT_READERS[name](text or Text(path, decode(path, data)), directed)


def _is_store(path: Path) -> bool:
    if os.path.isdir(path):
        from ogg_hpc.graphs.shards import MANIFEST

        return (path / MANIFEST).is_file()
    return is_store(path)


def _read_store(path: Path, index: int | None) -> Graph:
    from ogg_hpc.graphs.shards import read_store_graph

    if not path.exists():
        raise InputError(path, "no such file; check the path")
    return read_store_graph(path, index)
