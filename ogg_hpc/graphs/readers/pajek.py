"""Pajek networks: ``*Vertices``, ``*Arcs`` and ``*Edges``."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph, Labels
from ogg_hpc.graphs.readers.build import build, check_size, labels_from, one_based
from ogg_hpc.graphs.readers.text import Text, edge_columns, is_int64, show

_VERTEX = re.compile(rb'\s*(\d{1,18})(?:\s+(?:"([^"]*)"|(\S+)))?(?:\s.*)?')
_EXPECTED = "'u v' or 'u v weight'"


def read(text: Text, directed: bool | None) -> Graph:
    """Read a Pajek network; labels are those of its vertices, 1 … n where those are not distinct.

    ``*Arcs`` give a directed graph unless `directed` is False; ``*Edges`` of such a graph are
    arcs both ways. An edge without a weight counts 1 where others have one. Words after the
    weight (colour and the like) are skipped.
    """
    text = text.without(text.starting_with(b"%"))
    starts = np.flatnonzero(text.starting_with(b"*"))
    if not starts.size or starts[0] != text.rows[0]:
        number = int(text.rows[0]) if text.rows.size else None
        raise text.error("expected a Pajek network, which starts with '*Vertices n'", number)
    section_of = np.cumsum(text.starting_with(b"*")) - 1
    section_of[starts] = -1

    n: int | None = None
    labels: Labels | None = None
    warnings: tuple[str, ...] = ()
    arcs: list[_Part] = []
    edges: list[_Part] = []
    for section, start in enumerate(starts.tolist()):
        words = text.tokens(start)
        name = words[0].lower()
        members = section_of == section
        if name == b"*network":
            continue
        if name == b"*vertices" and n is None:
            n = _read_size(text, start, words)
            labels, warnings = _read_labels(text, text.rows[members[text.rows]], n)
        elif name in (b"*arcs", b"*edges") and n is not None:
            into = arcs if name == b"*arcs" else edges
            into.extend(_read_edges(text, members, columns, n) for columns in (2, 3))
        else:
            raise text.error(
                f"section {show(words[0])} is not read; expected *Vertices first, then *Arcs and "
                "*Edges",
                start,
            )
    if n is None:
        raise text.error("has no section *Vertices")

    has_arcs = any(len(part.rows) for part in arcs)
    is_directed = has_arcs and directed is not False
    if is_directed:
        edges += [_Part(part.rows, part.ids[:, ::-1], part.weights) for part in edges]
    parts = [_Part.empty(), *arcs, *edges]
    ids = np.concatenate([part.ids for part in parts]) - 1
    return build(
        text.path,
        n,
        ids[:, 0],
        ids[:, 1],
        np.concatenate([part.weights for part in parts]),
        rows=np.concatenate([part.rows for part in parts]),
        labels=labels,
        directed=is_directed,
        warnings=warnings,
    )


class _Part(NamedTuple):
    """Some edges: their lines, (e, 2) one-based ids and weights."""

    rows: NDArray[np.int64]
    ids: NDArray[np.int64]
    weights: NDArray[np.float64]

    @staticmethod
    def empty() -> _Part:
        return _Part(np.empty(0, np.int64), np.empty((0, 2), np.int64), np.empty(0))


def _read_size(text: Text, number: int, words: list[bytes]) -> int:
    if len(words) < 2 or not is_int64(words[1]) or int(words[1]) < 0:
        raise text.error(f"expected '*Vertices n', found {show(text.line(number))}", number)
    n = int(words[1])
    check_size(text.path, n, len(text.rows))
    return n


def _read_labels(
    text: Text, rows: NDArray[np.int64], n: int
) -> tuple[Labels | None, tuple[str, ...]]:
    """Return the labels of the vertices and a warning if they are of no use."""
    if not rows.size:
        return one_based(n), ()
    names = [str(i) for i in range(1, n + 1)]
    seen: set[int] = set()
    for number in rows.tolist():
        match = _VERTEX.fullmatch(text.line(number))
        if match is None:
            raise text.error(f"expected 'id \"label\"', found {show(text.line(number))}", number)
        vertex = int(match[1])
        if not 1 <= vertex <= n:
            raise text.error(f"vertex {vertex} is outside 1 … {n}", number)
        if vertex in seen:
            raise text.error(f"vertex {vertex} is given twice", number)
        seen.add(vertex)
        label = match[2] or match[3]
        if label:
            names[vertex - 1] = label.decode()
    if len(set(names)) < n:
        return one_based(n), ("labels are not distinct; nodes are called 1, 2, … instead",)
    return labels_from(names), ()


def _read_edges(text: Text, members: NDArray[np.bool_], columns: int, n: int) -> _Part:
    """Return the edges of a section with two columns, or those with three or more."""
    chosen = members & ((text.counts > 2) if columns == 3 else (text.counts <= 2))
    rows, ids, weights = edge_columns(text.without(~chosen).first_columns(3), 0, _EXPECTED)
    outside = ((ids < 1) | (ids > n)).any(axis=1)
    if outside.any():
        i = int(outside.argmax())
        raise text.error(f"edge ({ids[i, 0]}, {ids[i, 1]}) is outside 1 … {n}", rows[i])
    return _Part(rows, ids, np.ones(len(rows)) if weights is None else weights)
