"""Lines, tokens and numbers of a text file, found with whole-array operations."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import InputError

# What C's isspace() and bytes.split() take as blank.
_BLANK = np.zeros(256, dtype=bool)
_BLANK[list(b" \t\n\r\v\f")] = True
_SPACE, _NEWLINE = b" \n"
_INTEGER = re.compile(rb"[+-]?\d+")
_LONE_SIGN = re.compile(rb"[+-](?:\s|\Z)")
_INT64 = np.iinfo(np.int64)


class Text:
    """A text file as an array of bytes with the places of its lines and tokens.

    Line numbers count from 0 here and from 1 in messages.

    Attributes
    ----------
    path : Path
        The file, for messages.
    buffer : (size,) uint8
        Its bytes; the last one ends a line.
    line_starts : (L + 1,) int64
        Offset of each line in `buffer`, and the size.
    token_starts : (T,) int64
        Offset of each token, a run of bytes that are not blank.
    first_token : (L + 1,) int64
        Index into `token_starts` of the first token on or after each line start.
    """

    def __init__(self, path: Path, data: bytes) -> None:
        self.path = path
        self.buffer = np.frombuffer(data if data.endswith(b"\n") else data + b"\n", np.uint8)
        blank = _BLANK[self.buffer]
        starts = ~blank
        starts[1:] &= blank[:-1]
        self.token_starts = np.flatnonzero(starts)
        self.line_starts = np.append(0, np.flatnonzero(self.buffer == _NEWLINE) + 1)
        self.first_token = np.searchsorted(self.token_starts, self.line_starts)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """(L,) number of tokens on each line."""
        return np.diff(self.first_token)

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """Numbers of the lines that are not blank."""
        return np.flatnonzero(self.counts)

    @cached_property
    def lead(self) -> NDArray[np.uint8]:
        """(L,) first byte of each line that is not blank, 0 on blank lines."""
        lead = np.zeros(len(self.counts), dtype=np.uint8)
        lead[self.rows] = self.buffer[self.token_starts[self.first_token[self.rows]]]
        return lead

    def line(self, number: int) -> bytes:
        """Return one line without its end."""
        start, end = self.line_starts[number : number + 2]
        return self.buffer[start : end - 1].tobytes()

    def tokens(self, number: int) -> list[bytes]:
        """Return the tokens of one line."""
        return self.line(number).split()

    def starting_with(self, letters: bytes) -> NDArray[np.bool_]:
        """(L,) whether the first byte of each line that is not blank is one of `letters`."""
        return np.isin(self.lead, np.frombuffer(letters, np.uint8))

    def without(self, lines: NDArray[np.bool_]) -> Text:
        """Return the text with some lines, given by an (L,) mask, made blank."""
        if not lines.any():
            return self
        erased = np.repeat(lines, np.diff(self.line_starts)) & (self.buffer != _NEWLINE)
        return Text(self.path, np.where(erased, np.uint8(_SPACE), self.buffer).tobytes())

    def without_prefix(self, prefix: bytes) -> Text:
        """Return the text with the one-letter first token `prefix` of a line made blank."""
        at = self.token_starts[self.first_token[:-1][self.starting_with(prefix)]]
        buffer = self.buffer.copy()
        buffer[at[_BLANK[buffer[at + 1]]]] = _SPACE
        return Text(self.path, buffer.tobytes())

    def first_columns(self, columns: int) -> Text:
        """Return the text with all tokens of a line after the first `columns` made blank."""
        long = np.flatnonzero(self.counts > columns)
        if not long.size:
            return self
        rest = self.after_token(long, columns)
        return Text(self.path, np.where(rest, np.uint8(_SPACE), self.buffer).tobytes())

    def after_token(self, rows: NDArray[np.int64], token: int) -> NDArray[np.bool_]:
        """(size,) mask of `buffer` from the given token of lines `rows` to the end of the line."""
        edge = np.zeros(len(self.buffer), dtype=np.int8)
        edge[self.token_starts[self.first_token[rows] + token]] = 1
        edge[self.line_starts[rows + 1] - 1] = -1
        return np.cumsum(edge, dtype=np.int8).astype(bool)

    def error(self, message: str, number: int | None = None) -> InputError:
        """Return an error about the file or one of its lines, to be raised."""
        return InputError(self.path, message, None if number is None else int(number) + 1)


def integers(data: bytes, count: int) -> NDArray[np.int64] | None:
    """Parse exactly `count` blank-separated integers; None if that is not what `data` holds."""
    values = _numbers(data, np.int64)
    if values is None or len(values) != count:
        return None
    # The parser takes a sign without digits as 0.
    if (b"-" in data or b"+" in data) and _LONE_SIGN.search(data):
        return None
    # The parser cuts larger numbers off at the limits of the type.
    if count and (values.max() == _INT64.max or values.min() == _INT64.min):
        return None
    return values


def floats(data: bytes, count: int) -> NDArray[np.float64] | None:
    """Parse exactly `count` blank-separated numbers; None if that is not what `data` holds."""
    values = _numbers(data, np.float64)
    return None if values is None or len(values) != count else values


def _numbers(data: bytes, dtype: type[np.generic]) -> NDArray[Any] | None:
    if not data or data.isspace():
        return np.empty(0, dtype)
    with warnings.catch_warnings():
        # Data that is no number is a warning, later an error, from fromstring.
        warnings.simplefilter("error", DeprecationWarning)
        try:
            return np.fromstring(data, dtype, sep=" ")
        except (DeprecationWarning, ValueError):
            return None


def is_integer(token: bytes) -> bool:
    """Whether a token is a decimal integer."""
    return _INTEGER.fullmatch(token) is not None


def is_int64(token: bytes) -> bool:
    """Whether a token is a decimal integer that `integers` can hold."""
    # Lengths come first: int() refuses thousands of digits, leading zeros among them.
    short = len(token) < 1000 and len(token.lstrip(b"+-0")) <= 19
    return short and is_integer(token) and _INT64.min < int(token) < _INT64.max


def is_number(token: bytes) -> bool:
    """Whether a token is a finite number."""
    try:
        return b"_" not in token and bool(np.isfinite(float(token)))
    except ValueError:
        return False


def uniform_columns(
    text: Text, rows: NDArray[np.int64], expected: str, before: int | None = None
) -> int:
    """Return the number of columns, 2 or 3, that all lines `rows` share.

    Parameters
    ----------
    text, rows
        Lines of a text.
    expected
        What the message says that a line should be.
    before
        How many columns earlier lines have, if there are some.

    Raises
    ------
    InputError
        The first line that differs.
    """
    counts = text.counts[rows]
    columns = before
    if columns is None:
        columns = int(counts[0]) if counts[0] in (2, 3) else 2
    wrong = np.flatnonzero(counts != columns)
    if wrong.size:
        i = int(wrong[0])
        found = f"{counts[i]} column{'s' if counts[i] > 1 else ''}"
        known = f", {columns} before" if i or before is not None else ""
        raise text.error(f"expected {expected}, found {found}{known}", rows[i])
    return columns


def parse_columns(
    text: Text, rows: NDArray[np.int64], columns: int
) -> tuple[NDArray[np.int64] | None, NDArray[np.float64] | None]:
    """Parse lines ``u v`` or ``u v weight``, where no other line after the first is filled.

    Returns
    -------
    ids : (e, 2) int64, or None where an id is not an integer
    weights : (e,) float64, or None where there is no third column

    Raises
    ------
    InputError
        A weight that is not a finite number.
    """
    body = text.buffer[text.line_starts[rows[0]] :]
    if columns == 2:
        pairs = integers(body.tobytes(), 2 * len(rows))
        return (None if pairs is None else pairs.reshape(-1, 2)), None
    triples = integers(body.tobytes(), 3 * len(rows))
    if triples is not None:
        triples = triples.reshape(-1, 3)
        return triples[:, :2], triples[:, 2].astype(np.float64)
    ids_text, weights_text = split_weights(text, rows)
    weights = floats(weights_text, len(rows))
    if weights is None or not np.isfinite(weights).all():
        number, token = first_bad(text, rows, slice(2, 3), is_number)
        raise text.error(f"weight {show(token)} is not a finite number", number)
    pairs = integers(ids_text, 2 * len(rows))
    return (None if pairs is None else pairs.reshape(-1, 2)), weights


def split_weights(text: Text, rows: NDArray[np.int64]) -> tuple[bytes, bytes]:
    """Return the first two columns and the third column of lines with three tokens."""
    origin = text.line_starts[rows[0]]
    body = text.buffer[origin:]
    third = text.after_token(rows, 2)[origin:]
    space = np.uint8(_SPACE)
    ids, weights = np.where(third, space, body), np.where(third, body, space)
    return ids.tobytes(), weights.tobytes()


def first_bad(
    text: Text, rows: NDArray[np.int64], columns: slice, good: Callable[[bytes], bool]
) -> tuple[int | None, bytes]:
    """Return line number and token of the first token in `columns` that is not `good`.

    This is the slow pass, run only to say in a message which line is to blame.
    """
    for number in rows.tolist():
        for token in text.tokens(number)[columns]:
            if not good(token):
                return number, token
    return None, b"?"


def show(token: bytes) -> str:
    """Return a token as it is quoted in messages: at most 40 characters."""
    word = token.decode(errors="replace")
    return repr(word if len(word) <= 40 else word[:37] + "...")


def edge_columns(
    text: Text, start: int, expected: str, before: int | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64] | None]:
    """Parse all filled lines from line `start` on as ``u v`` or ``u v weight``.

    `expected` says in messages what a line should be, `before` is as for `uniform_columns`.

    Returns
    -------
    rows : (e,) line number of each edge
    ids : (e, 2) int64
    weights : (e,) float64 or None

    Raises
    ------
    InputError
        A line with another number of columns, an id that is no integer, a weight that is not a
        finite number.
    """
    rows = text.rows[text.rows >= start]
    if not rows.size:
        return rows, np.empty((0, 2), np.int64), None
    columns = uniform_columns(text, rows, expected, before)
    ids, weights = parse_columns(text, rows, columns)
    if ids is None:
        number, token = first_bad(text, rows, slice(0, 2), is_int64)
        raise text.error(f"expected {expected}, found {show(token)}", number)
    return rows, ids, weights
