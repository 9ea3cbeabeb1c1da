"""Edge lists: ``u v`` or ``u v weight`` a line, separated by blanks, tabs or commas."""

from __future__ import annotations

import csv
import re

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph, Labels
from ogg_hpc.graphs.readers.build import (
    Ids,
    build,
    integer_labels,
    labels_from,
    number_integers,
    number_names,
)
from ogg_hpc.graphs.readers.text import (
    Text,
    first_bad,
    is_int64,
    is_integer,
    parse_columns,
    show,
    split_weights,
    uniform_columns,
)

_EXPECTED = "'u v' or 'u v weight' (for another format than an edge list, name it by --format)"
# SNAP says "Directed graph", KONECT "% asym".
_DIRECTED = re.compile(rb"\b(directed|asym)\b", re.IGNORECASE)
_COLUMN_NAMES = {(b"source", b"target"), (b"from", b"to"), (b"src", b"dst")}
# Stands for a blank inside a label while blanks separate the tokens.
_INNER_BLANK = "\x1f"


def read(text: Text, directed: bool | None) -> Graph:
    """Read an edge list; lines that start with ``#`` or ``%`` are comments.

    Labels are integers if all of them are, otherwise text; nodes are in the order of their
    labels. A first line of column names is recognised and skipped with a warning. Cells of
    files separated by commas or tabs may be quoted and may hold blanks.
    """
    notes = []
    comments = text.starting_with(b"#%")
    if directed is None and _says_directed(text, comments):
        notes.append("a comment says that the graph is directed; it is read as undirected")
    text = text.without(comments)
    if not text.rows.size:
        raise text.error("holds no edges; expected lines " + _EXPECTED)
    text = _separated_by_blanks(text)
    columns = uniform_columns(text, text.rows, _EXPECTED)

    body = _without_column_names(text, columns)
    if body is not text:
        notes.append(f"line {text.rows[0] + 1} is skipped: it holds column names")
        text = body
    ids, weights = parse_columns(text, text.rows, columns)
    labels: Labels | None
    if ids is not None:
        numbers, places = number_integers(ids)
        n, labels = len(numbers), integer_labels(numbers)
    else:
        names, places = _number_names(text, columns)
        n, labels = len(names), labels_from(names)
        if any(is_integer(token) for token in text.tokens(text.rows[0])[:2]):
            number, token = first_bad(text, text.rows, slice(0, 2), is_int64)
            where = "" if number is None else f" on line {number + 1}"
            notes.append(f"labels are text because of {show(token)}{where}")
    return build(
        text.path,
        n,
        places[:, 0],
        places[:, 1],
        weights,
        rows=text.rows,
        labels=labels,
        directed=directed is True,
        warnings=tuple(notes),
    )


def _says_directed(text: Text, comments: NDArray[np.bool_]) -> bool:
    return any(_DIRECTED.search(text.line(i)) for i in np.flatnonzero(comments)[:50].tolist())


def _number_names(text: Text, columns: int) -> tuple[list[str], Ids]:
    """Return the distinct labels and the (e, 2) places of the end points among them."""
    tokens = text.buffer.tobytes() if columns == 2 else split_weights(text, text.rows)[0]
    names, places = number_names(tokens.split())
    return [name.replace(_INNER_BLANK, " ") for name in names], places.reshape(-1, 2)


def _without_column_names(text: Text, columns: int) -> Text:
    """Return the text without its first line if that names the columns, else the text itself."""
    if len(text.rows) < 2:
        return text
    first, second = text.tokens(text.rows[0]), text.tokens(text.rows[1])
    if any(is_integer(token) for token in first[:2]):
        return text
    header = np.zeros(len(text.counts), dtype=bool)
    header[text.rows[0]] = True
    if columns == 3 and _is_word(first[2]):
        # With a word under all weights the file is wrong, which is better said of line 1.
        return text if _is_word(second[2]) else text.without(header)
    known = (first[0].lower(), first[1].lower()) in _COLUMN_NAMES
    if not known and not all(is_integer(token) for token in second[:2]):
        return text
    body = text.without(header)
    return body if known or parse_columns(body, body.rows, columns)[0] is not None else text


def _is_word(token: bytes) -> bool:
    try:
        float(token)
    except ValueError:
        return True
    return False


def _separated_by_blanks(text: Text) -> Text:
    """Return the text with blanks in place of commas and of tabs between cells with blanks."""
    first = text.line(text.rows[0])
    if b"," in first:
        commas = np.flatnonzero(text.buffer == ord(","))
        cells = np.diff(np.searchsorted(commas, text.line_starts)) + 1
        plain = Text(text.path, text.buffer.tobytes().replace(b",", b" "))
        simple = b'"' not in first and np.array_equal(plain.counts[text.rows], cells[text.rows])
        return plain if simple else _cells_as_tokens(text, ",")
    if b"\t" in first and ((text.counts[text.rows] > 3).any() or b'"' in first):
        return _cells_as_tokens(text, "\t")
    return text


def _cells_as_tokens(text: Text, delimiter: str) -> Text:
    """Rewrite each line, cell by cell, so that a cell is a token."""
    lines = text.buffer.tobytes().decode().split("\n")
    for number in text.rows.tolist():
        try:
            row = next(csv.reader([lines[number]], delimiter=delimiter, strict=True))
        except csv.Error as error:
            raise text.error(f"not a line of cells ({error})", number) from None
        cells = [_INNER_BLANK.join(cell.split()) for cell in row]
        if not all(cells):
            raise text.error(f"expected {_EXPECTED}, found an empty cell", number)
        lines[number] = " ".join(cells)
    return Text(text.path, "\n".join(lines).encode())
