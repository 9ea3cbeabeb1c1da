"""What DIMACS and Gset files share: a header ``n m`` and one edge a line after it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.readers.build import build, check_size, one_based
from ogg_hpc.graphs.readers.text import Text, edge_columns, integers, is_int64, show


def read_header(text: Text) -> tuple[int, int, int]:
    """Return n, m and the line number of a first line ``n m``.

    Raises
    ------
    InputError
        No such line.
    """
    if not text.rows.size:
        raise text.error("holds no data; expected a header 'n m' and lines 'u v' after it")
    number = int(text.rows[0])
    tokens = text.tokens(number)
    if len(tokens) != 2 or not all(is_int64(t) and int(t) >= 0 for t in tokens):
        raise text.error(f"expected a header 'n m', found {show(text.line(number))}", number)
    return int(tokens[0]), int(tokens[1]), number


def read_edges(
    text: Text,
    n: int,
    m: int,
    header: int,
    directed: bool | None,
    expected: str,
    *,
    zero_based: bool,
) -> Graph:
    """Read all lines after the header at line `header` as edges.

    Ids are 1 … n. Where `zero_based` allows it and id 0 occurs they are 0 … n - 1. The header
    may count lines or distinct edges.

    Raises
    ------
    InputError
        An id outside this range, another number of edges than `m`, a line that is not as
        `expected` says.
    """
    rows, ids, weights = edge_columns(text, header + 1, expected)
    check_size(text.path, n, len(rows))
    low = 0 if zero_based and ids.size and ids.min() == 0 else 1
    high = n - 1 + low
    outside = (ids < low) | (ids > high)
    if outside.any():
        i = int(outside.any(axis=1).argmax())
        bad = int(ids[i][outside[i]][0])
        raise text.error(
            f"id {bad} is outside {low} … {high}, as the header on line {header + 1} declares",
            rows[i],
        )
    warnings: tuple[str, ...] = ()
    if n > 1 and ids.size and ids.max() == high - 1:
        warnings = (
            f"the header declares {n} nodes and the largest id is {high - 1}; "
            f"node {high} has no edges",
        )
    graph = build(
        text.path,
        n,
        ids[:, 0] - low,
        ids[:, 1] - low,
        weights,
        rows=rows,
        labels=one_based(n) if low else None,
        directed=directed is True,
        warnings=warnings,
    )
    if m not in (len(rows), graph.m):
        raise text.error(
            f"the header declares {m} edges and {len(rows)} follow; "
            "correct it, or name another format by --format",
            header,
        )
    return graph


def is_headed(text: Text) -> bool:
    """Whether the first line is a header ``n m`` and not the first edge of an edge list.

    It is one if the columns below differ in number from it; or if exactly m lines follow and
    all their ids are at most n. Otherwise it is an edge.

    Raises
    ------
    InputError
        At least ten edges follow and it almost is one: either exactly m follow but ids do not
        fit, or ids fit and m is larger than all of them or off by at most a tenth.
    """
    if not text.rows.size:
        return False
    tokens = text.tokens(text.rows[0])
    if len(tokens) != 2 or not all(is_int64(token) and int(token) >= 0 for token in tokens):
        return False
    n, m = map(int, tokens)
    rows = text.rows[1:]
    if not rows.size:
        return m == 0
    if np.mean(text.counts[rows] == 3) > 0.9:
        return True
    ids = integers(text.buffer[text.line_starts[rows[0]] :].tobytes(), 2 * len(rows))
    if ids is None or (text.counts[rows] != 2).any():
        return False
    low, high = int(ids.min()), int(ids.max())
    if low >= 0 and high <= n and len(rows) == m:
        return True
    check_no_header(text.path, int(text.rows[0]), n, m, len(rows), low, high)
    return False


def check_no_header(path: Path, line: int, n: int, m: int, edges: int, low: int, high: int) -> None:
    """Refuse a first edge ``n m`` that almost is a header.

    Parameters
    ----------
    path, line
        The file and the line, from 0, for the message.
    edges, low, high
        How many edges follow, and the range of their ids.

    Raises
    ------
    InputError
        See `is_headed`.
    """
    fits = low >= 0 and high <= n
    almost = m > n or abs(edges - m) <= m / 10 if fits else edges == m
    if almost and edges >= 10:
        raise InputError(
            path,
            f"'{n} {m}' may be a header of {n} nodes and {m} edges, but {edges} edges follow with "
            f"ids {low} … {high}; correct it, or pass --format edgelist if it is an edge",
            line + 1,
        )
