"""MatrixMarket coordinate files of adjacency matrices."""

from __future__ import annotations

import re

import numpy as np

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.readers.build import build, build_from_matrix, check_size, one_based
from ogg_hpc.graphs.readers.text import Text, edge_columns, is_int64, show

# Files of networkrepository.com have one % only.
BANNER = re.compile(rb"\s*%{1,2}\s*MatrixMarket\b(.*)", re.IGNORECASE)


def read(text: Text, directed: bool | None) -> Graph:
    """Read the adjacency matrix of a graph; labels are 1 … n.

    A file declared symmetric holds an undirected graph, one declared general a directed graph
    unless its matrix is symmetric. The size line may be ``n n entries`` or ``n entries``.
    """
    field, symmetry = _read_banner(text)
    text = text.without(text.starting_with(b"%"))
    n, entries, header = _read_sizes(text)
    columns = 2 if field == "pattern" else 3
    expected = "'row column'" if columns == 2 else f"'row column value' ({field})"
    rows, ids, values = edge_columns(text, header + 1, expected)
    check_size(text.path, n, len(rows))
    if len(rows) != entries:
        raise text.error(
            f"the size line declares {entries} entries and {len(rows)} follow; the file may be "
            "cut off",
            header,
        )
    if len(rows) and (values is None) != (columns == 2):
        raise text.error(f"expected {expected}, as the first line declares", rows[0])
    outside = ((ids < 1) | (ids > n)).any(axis=1)
    if outside.any():
        i = int(outside.argmax())
        raise text.error(
            f"entry ({ids[i, 0]}, {ids[i, 1]}) is outside the declared {n} × {n} matrix", rows[i]
        )
    u, v = ids[:, 0] - 1, ids[:, 1] - 1
    if symmetry == "general":
        return build_from_matrix(
            text.path, n, u, v, values, directed, rows=rows, labels=one_based(n)
        )
    warnings: tuple[str, ...] = ()
    if values is not None and not values.all():
        kept = values != 0
        warnings = (f"{np.count_nonzero(~kept)} stored zeros are not edges",)
        u, v, values, rows = u[kept], v[kept], values[kept], rows[kept]
    return build(text.path, n, u, v, values, rows=rows, labels=one_based(n), warnings=warnings)


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
