"""Classes of nodes, of which each node may have several."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ogg_hpc.embedding.evaluation.numbering import RowLabels
from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.graphs.readers.files import decode, read_bytes
from ogg_hpc.graphs.readers.matlab import read_variables
from ogg_hpc.graphs.readers.text import Text

#: Formats of files of classes.
FORMATS = ("mat", "communities", "lines")


class Classes(NamedTuple):
    """Which node has which classes.

    Attributes
    ----------
    members : (n, c) bool array
        Whether a row of the embedding has a class; rows without any are not labelled.
    names : list of str
        Of the classes.
    without_vector : int
        Labelled nodes of the file that the embedding has no vector for; they are left out.
    """

    members: NDArray[np.bool_]
    names: list[str]
    without_vector: int


def read_classes(path: str | Path, rows: RowLabels, name: str | None = None) -> Classes:
    """Read classes of nodes from a file.

    Parameters
    ----------
    path
        A MATLAB file with a matrix ``group`` (row i holds the classes of node i); a text of
        communities as SNAP has them (each line lists the nodes of one); or a text of lines
        ``node class [class ...]``. Texts may be compressed and have comments after ``#``.
    rows
        The labels of the embedding.
    name
        One of `FORMATS`; by default found by the name: ``.mat``, ``.cmty`` in it, else lines.

    Raises
    ------
    InputError
        A file that cannot be read, or in which no node of the embedding has a class.
    SettingsError
        An unknown format.
    """
    path = Path(path)
    if name is None:
        name = "mat" if path.suffix == ".mat" else "lines"
        name = "communities" if ".cmty" in path.name else name
    if name not in FORMATS:
        raise SettingsError(f"unknown format of classes {name!r}; expected {', '.join(FORMATS)}")
    nodes, classes, names = _READERS[name](path)
    at = rows.rows_of(nodes) if len(nodes) else np.empty(0, np.int64)
    found = at >= 0
    if not found.any():
        raise InputError(path, "gives no class of any node of the embedding")
    members = np.zeros((len(rows), len(names)), bool)
    members[at[found], classes[found]] = True
    return Classes(members, names, len(np.unique(nodes[~found])))


# Each reader returns (k,) nodes, (k,) numbers of their classes, and the names of the classes.
_Content = tuple[NDArray[Any], NDArray[np.int64], list[str]]


def _read_mat(path: Path) -> _Content:
    group = read_variables(path, read_bytes(path)).get("group")
    if group is None:
        raise InputError(path, "has no matrix 'group' of classes")
    matrix = scipy.sparse.coo_array(group)
    held = matrix.data != 0
    nodes, classes = matrix.coords
    names = [str(i) for i in range(matrix.shape[1])]
    return nodes[held].astype(np.int64), classes[held].astype(np.int64), names


def _read_communities(path: Path) -> _Content:
    text = _text(path)
    counts = text.counts[text.rows]
    classes = np.repeat(np.arange(len(counts)), counts)
    return _labels(text.buffer.tobytes().split()), classes, [str(i) for i in range(len(counts))]


def _read_lines(path: Path) -> _Content:
    text = _text(path)
    counts = text.counts[text.rows]
    alone = np.flatnonzero(counts < 2)
    if alone.size:
        raise text.error("expected 'node class [class ...]'", text.rows[alone[0]])
    tokens = np.array(text.buffer.tobytes().split())
    is_node = np.zeros(len(tokens), bool)
    is_node[np.cumsum(counts) - counts] = True
    names, classes = np.unique(tokens[~is_node], return_inverse=True)
    nodes = np.repeat(_labels(tokens[is_node].tolist()), counts - 1)
    return nodes, classes, [name.decode() for name in names.tolist()]


_READERS = {"mat": _read_mat, "communities": _read_communities, "lines": _read_lines}


def _text(path: Path) -> Text:
    text = Text(path, decode(path, read_bytes(path)))
    return text.without(text.starting_with(b"#"))


def _labels(tokens: list[bytes]) -> NDArray[Any]:
    """Return labels as integers if all are, else as text."""
    try:
        return np.array([int(token) for token in tokens], np.int64)
    except (ValueError, OverflowError):
        return np.array([token.decode() for token in tokens])
