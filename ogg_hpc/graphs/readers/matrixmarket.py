"""MatrixMarket coordinate files of adjacency matrices."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.readers.build import (
    Ids,
    Weights,
    build,
    build_from_matrix,
    check_size,
    one_based,
    zeros_note,
)
from ogg_hpc.graphs.readers.text import Text, edge_columns, is_int64, show

# Files of networkrepository.com have one % only.
BANNER = re.compile(rb"\s*%{1,2}\s*MatrixMarket\b(.*)", re.IGNORECASE)


COMMENTS = b"%"


def read(text: Text, directed: bool | None) -> Graph:
    """Read the adjacency matrix of a graph; labels are 1 … n.

    A file declared symmetric holds an undirected graph, one declared general a directed graph
    unless its matrix is symmetric. The size line may be ``n n entries`` or ``n entries``.
    """
    header = read_header(text)
    text = text.without(text.starting_with(COMMENTS))
    rows, ids, values = read_entries(text, header, header.line + 1)
    check_entries(text.path, header, len(rows))
    u, v = ids[:, 0] - 1, ids[:, 1] - 1
    n, labels = header.n, one_based(header.n)
    if not header.symmetric:
        return build_from_matrix(text.path, n, u, v, values, directed, rows=rows, labels=labels)
    warnings: tuple[str, ...] = ()
    if values is not None and not values.all():
        kept = values != 0
        warnings = zeros_note(np.count_nonzero(~kept))
        u, v, values, rows = u[kept], v[kept], values[kept], rows[kept]
    return build(text.path, n, u, v, values, rows=rows, labels=labels, warnings=warnings)


class Header(NamedTuple):
    """What stands before the entries.

    Attributes
    ----------
    n, entries : int
        Rows of the square matrix, and stored entries.
    field : str
        ``pattern``, ``integer``, ``real`` or ``double``.
    symmetric : bool
        Whether entries above the diagonal are left out.
    line : int
        Number of the size line, from 0.
    """

    n: int
    entries: int
    field: str
    symmetric: bool
    line: int

    @property
    def columns(self) -> int:
        """Tokens of an entry."""
        return 2 if self.field == "pattern" else 3

    @property
    def expected(self) -> str:
        """What the line of an entry should be, for messages."""
        return "'row column'" if self.columns == 2 else f"'row column value' ({self.field})"


def read_header(text: Text) -> Header:
    """Return what the banner and the size line say."""
    field, symmetry = _read_banner(text)
    n, entries, line = _read_sizes(text.without(text.starting_with(COMMENTS)))
    return Header(n, entries, field, symmetry == "symmetric", line)


def read_entries(
    text: Text, header: Header, start: int, before: int | None = None
) -> tuple[Ids, Ids, Weights | None]:
    """Read the entries from line `start` on, in a text without comments.

    Returns and arguments are those of `edge_columns`; ids count from 1.
    """
    rows, ids, values = edge_columns(text, start, header.expected, before)
    if len(rows) and (values is None) != (header.columns == 2):
        raise text.error(f"expected {header.expected}, as the first line declares", rows[0])
    outside = ((ids < 1) | (ids > header.n)).any(axis=1)
    if outside.any():
        i = int(outside.argmax())
        raise text.error(
            f"entry ({ids[i, 0]}, {ids[i, 1]}) is outside the declared {header.n} × {header.n} "
            "matrix",
            rows[i],
        )
    return rows, ids, values


def check_entries(path: Path, header: Header, entries: int) -> None:
    """Refuse another number of entries than the size line declares."""
    if entries != header.entries:
        raise InputError(
            path,
            f"the size line declares {header.entries} entries and {entries} follow; the file may "
            "be cut off",
            header.line + 1,
        )
    check_size(path, header.n, entries)


def _read_banner(text: Text) -> tuple[str, str]:
    """Return the field and the symmetry of the first line."""
    number = int(text.rows[0]) if text.rows.size else 0
    banner = BANNER.match(text.line(number))
    words = banner[1].decode(errors="replace").lower().split() if banner else []
    wanted = (
        len(words) >= 4
        and words[:2] == ["matrix", "coordinate"]
        and words[2] in ("pattern", "integer", "real", "double")
        and words[3] in ("general", "symmetric")
    )
    if not wanted:
        raise text.error(
            "expected '%%MatrixMarket matrix coordinate pattern|integer|real general|symmetric', "
            f"found {show(text.line(number))}",
            number,
        )
    return words[2], words[3]


def _read_sizes(text: Text) -> tuple[int, int, int]:
    """Return n, the number of entries and the number of the size line."""
    if not text.rows.size:
        raise text.error("has no size line; expected 'rows columns entries' after the comments")
    number = int(text.rows[0])
    tokens = text.tokens(number)
    if len(tokens) not in (2, 3) or not all(is_int64(t) and int(t) >= 0 for t in tokens):
        raise text.error(
            f"expected the size line 'rows columns entries', found {show(text.line(number))}",
            number,
        )
    sizes = [int(token) for token in tokens]
    if len(sizes) == 3 and sizes[0] != sizes[1]:
        raise text.error(
            f"a {sizes[0]} × {sizes[1]} matrix; the adjacency matrix of a graph is square", number
        )
    return sizes[0], sizes[-1], number
