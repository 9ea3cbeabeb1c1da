"""Edge lists: ``u v`` or ``u v weight`` a line, separated by blanks, tabs or commas."""

from __future__ import annotations

import csv
import re

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import InputError
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
    floats,
    is_int64,
    is_integer,
    parse_columns,
    show,
    split_weights,
    uniform_columns,
)

EXPECTED = "'u v' or 'u v weight' (for another format than an edge list, name it by --format)"
COMMENTS = b"#%"
DIRECTED_NOTE = "a comment says that the graph is directed; it is read as undirected"
# SNAP says "Directed graph", KONECT "% asym".
_DIRECTED = re.compile(rb"\b(directed|asym)\b", re.IGNORECASE)
#: Names of columns of end points, in lower case.
COLUMN_NAMES = ((b"source", b"target"), (b"from", b"to"), (b"src", b"dst"))
# Stands for a blank inside a label while blanks separate the tokens.
INNER_BLANK = b"\x1f"


def read(text: Text, directed: bool | None) -> Graph:
    """Read an edge list; lines that start with ``#`` or ``%`` are comments.

    Labels are integers if all of them are, otherwise text; nodes are in the order of their
    labels. A first line of column names is recognised and skipped with a warning. Cells of
    files separated by commas or tabs may be quoted and may hold blanks.
    """
    notes = []
    comments = text.starting_with(COMMENTS)
    if directed is None and says_directed(text, comments):
        notes.append(DIRECTED_NOTE)
    text = text.without(comments)
    if not text.rows.size:
        raise no_edges(text)
    text = _separated_by_blanks(text)
    columns = uniform_columns(text, text.rows, EXPECTED)

    body = _without_column_names(text, columns)
    if body is not text:
        notes.append(names_note(int(text.rows[0])))
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
            if number is not None:
                notes.append(text_note(number, with_blanks(token)))
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


def no_edges(text: Text) -> InputError:
    """Return the complaint about a file of comments alone, to be raised."""
    return text.error("holds no edges; expected lines " + EXPECTED)


def names_note(number: int) -> str:
    """Return the warning about a line of column names, whose number counts from 0."""
    return f"line {number + 1} is skipped: it holds column names"


def text_note(number: int, label: bytes) -> str:
    """Return the warning about a label that is no integer, on a line that counts from 0."""
    return f"labels are text because of {show(label)} on line {number + 1}"


def says_directed(text: Text, comments: NDArray[np.bool_]) -> bool:
    """Whether one of the first 50 comments before all edges says that they are directed."""
    first = int(np.argmax((text.counts > 0) & ~comments))
    before = np.flatnonzero(comments[:first])
    return any(_DIRECTED.search(text.line(i)) for i in before[:50].tolist())


def with_blanks(token: bytes) -> bytes:
    """Return the label that a token of `cells_as_tokens` stands for."""
    return token.replace(INNER_BLANK, b" ")


def _number_names(text: Text, columns: int) -> tuple[list[str], Ids]:
    """Return the distinct labels and the (e, 2) places of the end points among them."""
    data = text.buffer.tobytes() if columns == 2 else split_weights(text, text.rows)[0]
    tokens = data.split()
    if INNER_BLANK in data:
        tokens = [with_blanks(token) for token in tokens]
    names, places = number_names(tokens)
    return names, places.reshape(-1, 2)


def _without_column_names(text: Text, columns: int) -> Text:
    """Return the text without its first line if that names the columns, else the text itself."""
    if len(text.rows) < 2:
        return text
    names = are_column_names(text.tokens(text.rows[0]), text.tokens(text.rows[1]), columns)
    if names is False:
        return text
    header = np.zeros(len(text.counts), dtype=bool)
    header[text.rows[0]] = True
    body = text.without(header)
    return body if names or parse_columns(body, body.rows, columns)[0] is not None else text


def are_column_names(first: list[bytes], second: list[bytes], columns: int) -> bool | None:
    """Whether the first of two lines of tokens names the columns.

    None if it does so only where all labels that follow are integers.
    """
    if any(is_integer(token) for token in first[:2]):
        return False
    if columns == 3 and _is_word(first[2]):
        # With a word under all weights the file is wrong, which is better said of line 1.
        return not _is_word(second[2])
    if (first[0].lower(), first[1].lower()) in COLUMN_NAMES:
        return True
    return None if all(is_integer(token) for token in second[:2]) else False


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
        plain = Text(text.path, text.buffer.tobytes().replace(b",", b" "))
        return plain if _is_simple(text, plain) else cells_as_tokens(text, ",")
    if b"\t" in first and _needs_cells(text):
        return cells_as_tokens(text, "\t")
    return text


def _needs_cells(text: Text) -> bool:
    """Whether lines whose first one has a tab are cells that hold blanks, not tokens."""
    columns = int(text.counts[text.rows[0]])
    if columns > 3 or not are_tokens(text, columns):
        return True
    if columns < 3:
        return False
    names = len(text.rows) > 1 and are_column_names(
        text.tokens(text.rows[0]), text.tokens(text.rows[1]), columns
    )
    rows = text.rows if names is False else text.rows[1:]
    weights = floats(split_weights(text, rows)[1], len(rows))
    return weights is None or not np.isfinite(weights).all()


def _is_simple(text: Text, plain: Text) -> bool:
    """Whether commas stand between two tokens each, as they are in `plain`, and none is quoted."""
    commas = np.flatnonzero(text.buffer == ord(","))
    cells = np.diff(np.searchsorted(commas, text.line_starts)) + 1
    if (text.buffer == ord('"')).any() or not np.array_equal(
        plain.counts[text.rows], cells[text.rows]
    ):
        return False
    # Cell i of a line comes after i commas, or an empty one is among them.
    before = np.searchsorted(commas, plain.token_starts)
    rows = np.repeat(np.arange(len(plain.counts)), plain.counts)
    cell = np.arange(len(before)) - plain.first_token[rows]
    return np.array_equal(before - np.searchsorted(commas, text.line_starts)[rows], cell)


def are_tokens(text: Text, columns: int) -> bool:
    """Whether blanks and tabs separate `columns` tokens on each line, none of them quoted."""
    return bool((text.counts[text.rows] == columns).all() and (text.buffer != ord('"')).all())


def cells_as_tokens(text: Text, delimiter: str) -> Text:
    """Rewrite each line, cell by cell, so that a cell is a token; `with_blanks` undoes it.

    Raises
    ------
    InputError
        A line that is not as `csv` wants it, or has an empty cell.
    """
    lines = text.buffer.tobytes().decode().split("\n")
    for number in text.rows.tolist():
        try:
            row = next(csv.reader([lines[number]], delimiter=delimiter, strict=True))
        except csv.Error as error:
            raise text.error(f"not a line of cells ({error})", number) from None
        # As for tokens, only the blanks of ASCII count.
        cells = [INNER_BLANK.join(cell.encode().split()).decode() for cell in row]
        if not all(cells):
            raise text.error(f"expected {EXPECTED}, found an empty cell", number)
        lines[number] = " ".join(cells)
    return Text(text.path, "\n".join(lines).encode())
