"""Tokens and numbers of text, in compiled loops over its bytes.

These loops take what is usual, at the speed of memory; what is not is left to the callers, who know
the slow way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.graphs.readers.edgelist import INNER_BLANK
from ogg_hpc.graphs.readers.text import floats

# Kinds of bytes.
_INSIDE, _BLANK, _LINE_END, _SEPARATOR, _UNUSUAL = range(5)
BLANKS = b" \t\r\v\f"
_LETTERS = {_BLANK: BLANKS, _LINE_END: b"\n"}
_NEWLINE, _QUOTE, _SPACE = b'\n" '
_INNER = INNER_BLANK[0]
# Powers of ten that a float64 holds exactly.
_POWERS = np.array([float(10**i) for i in range(23)])
_MANTISSA = 2**53
_INT64_MAX = 2**63 - 1


@dataclass(frozen=True, eq=False)
class Tokens:
    """Where the tokens of lines ``u v`` or ``u v weight`` are.

    Attributes
    ----------
    starts, ends : (2e,) int
        The first two tokens of each line.
    weight_starts, weight_ends : (e,) int
        The third; empty where there is none.
    rows : (e,) int64, optional
        Their lines; None where edge i is on line i.
    lines : int
        How many lines there are.
    """

    starts: NDArray[Any]
    ends: NDArray[Any]
    weight_starts: NDArray[Any]
    weight_ends: NDArray[Any]
    rows: NDArray[np.int64] | None
    lines: int


def find_tokens(
    data: bytes,
    columns: int,
    *,
    separator: bytes = b"",
    unusual: bytes = b"",
    comments: bytes = b"",
) -> Tokens | None:
    """Find the tokens of all lines that are not blank.

    Parameters
    ----------
    data
        Lines of text.
    columns
        Tokens on a line, 2 or 3.
    separator
        A letter that stands between two tokens, once, beside any blanks; none by default.
    unusual
        Letters that make a line unusual.
    comments
        Letters that make a comment of a line that starts with one.

    Returns
    -------
    Tokens or None
        None if a line is unusual or has another number of tokens.
    """
    kinds = np.full(256, _INSIDE, dtype=np.uint8)
    for kind, letters in {**_LETTERS, _SEPARATOR: separator, _UNUSUAL: unusual}.items():
        kinds[list(letters)] = kind
    most = data.count(b"\n") + 1
    place = np.int32 if len(data) < 2**31 else np.int64
    starts, ends = np.empty(2 * most, place), np.empty(2 * most, place)
    thirds = most if columns == 3 else 0
    weight_starts, weight_ends = np.empty(thirds, place), np.empty(thirds, place)
    rows = np.empty(most, np.int64)
    edges, lines = _find_tokens(
        np.frombuffer(data, np.uint8),
        columns,
        len(separator) > 0,
        kinds,
        _members(comments),
        starts,
        ends,
        weight_starts,
        weight_ends,
        rows,
    )
    if edges < 0:
        return None
    return Tokens(
        starts[: 2 * edges],
        ends[: 2 * edges],
        weight_starts[:edges],
        weight_ends[:edges],
        None if edges == lines else rows[:edges],
        lines,
    )


def rewrite_cells(data: bytes, delimiter: bytes, comments: bytes) -> bytes | None:
    """Rewrite lines of cells as `readers.edgelist.cells_as_tokens` does, comments as blank lines.

    Returns
    -------
    bytes or None
        None if there is an empty cell, or a quote that is doubled or not closed.
    """
    written = np.empty(len(data), np.uint8)
    size = _rewrite_cells(
        np.frombuffer(data, np.uint8), delimiter[0], _members(BLANKS), _members(comments), written
    )
    return None if size < 0 else written[:size].tobytes()


def _members(letters: bytes) -> NDArray[np.bool_]:
    """(256,) whether each byte is one of some letters."""
    members = np.zeros(256, dtype=bool)
    members[list(letters)] = True
    return members


def parse_integers(
    data: bytes, starts: NDArray[Any], ends: NDArray[Any]
) -> tuple[NDArray[np.int64], int | None]:
    """Parse tokens as the integers that `readers.text.integers` takes.

    Returns
    -------
    values : (t,) int64
        The numbers.
    bad : int, optional
        Which token is the first that is none.
    """
    values = np.empty(len(starts), np.int64)
    bad = _parse_integers(np.frombuffer(data, np.uint8), starts, ends, values)
    return values, None if bad < 0 else int(bad)


def parse_weights(
    data: bytes, starts: NDArray[Any], ends: NDArray[Any]
) -> NDArray[np.float64] | None:
    """Parse tokens as finite numbers, rounded as `float` does; None if one is no such number."""
    values = np.empty(len(starts), np.float64)
    hard = np.empty(len(starts), np.int64)
    buffer = np.frombuffer(data, np.uint8)
    count, size = _parse_decimals(buffer, starts, ends, _POWERS, values, hard)
    if count:
        hard = hard[:count]
        letters = np.empty(size, np.uint8)
        _join(buffer, starts, ends, hard, letters)
        exact = floats(letters.tobytes(), count)
        if exact is None or not np.isfinite(exact).all():
            return None
        values[hard] = exact
    return values


@njit(cache=True)
def _find_tokens(
    buffer: Any,
    columns: Any,
    separated: Any,
    kinds: Any,
    remarks: Any,
    starts: Any,
    ends: Any,
    weight_starts: Any,
    weight_ends: Any,
    rows: Any,
) -> Any:
    """Fill the arrays; return the numbers of edges and lines, -1 at a line that is unusual."""
    size = len(buffer)
    edge, line, i = 0, 0, 0
    while i < size:
        tokens, separators = 0, 0
        while i < size:
            kind = kinds[buffer[i]]
            if kind == _LINE_END:
                break
            if kind == _BLANK:
                i += 1
            elif kind == _SEPARATOR:
                separators += 1
                i += 1
            elif tokens + separators == 0 and remarks[buffer[i]]:
                while i < size and buffer[i] != 10:
                    i += 1
            else:
                if tokens == columns or (separated and separators != tokens):
                    return -1, line
                start = i
                while kind == _INSIDE:
                    i += 1
                    if i == size:
                        break
                    kind = kinds[buffer[i]]
                if kind == _UNUSUAL:
                    return -1, line
                if tokens < 2:
                    starts[2 * edge + tokens] = start
                    ends[2 * edge + tokens] = i
                else:
                    weight_starts[edge] = start
                    weight_ends[edge] = i
                tokens += 1
        i += 1
        if tokens + separators > 0:
            if tokens != columns or (separated and separators != columns - 1):
                return -1, line
            rows[edge] = line
            edge += 1
        line += 1
    return edge, line


@njit(cache=True)
def _rewrite_cells(buffer: Any, delimiter: Any, blanks: Any, remarks: Any, written: Any) -> Any:
    """Fill `written`; return how much of it, -1 at a cell that is unusual."""
    size = len(buffer)
    i, end = 0, 0
    while i < size:
        first = i
        while first < size and blanks[buffer[first]]:
            first += 1
        if first == size or buffer[first] == _NEWLINE or remarks[buffer[first]]:
            while i < size and buffer[i] != _NEWLINE:
                i += 1
        while i < size and buffer[i] != _NEWLINE:
            start, gap = end, False
            quoted = buffer[i] == _QUOTE
            i += quoted
            while i < size and buffer[i] != (_QUOTE if quoted else delimiter):
                if buffer[i] == _NEWLINE:
                    break
                if blanks[buffer[i]]:
                    gap = end > start
                else:
                    if gap:
                        written[end] = _INNER
                        end += 1
                    written[end] = buffer[i]
                    end += 1
                    gap = False
                i += 1
            if quoted:
                if i == size or buffer[i] != _QUOTE:
                    return -1
                i += 1
                if i < size and buffer[i] != delimiter and buffer[i] != _NEWLINE:
                    return -1
            if end == start:
                return -1
            if i < size and buffer[i] == delimiter:
                i += 1
                if i == size or buffer[i] == _NEWLINE:
                    return -1
                written[end] = _SPACE
                end += 1
        if i < size:
            written[end] = _NEWLINE
            end += 1
            i += 1
    return end


@njit(cache=True)
def _parse_integers(buffer: Any, starts: Any, ends: Any, values: Any) -> Any:
    """Fill the values; return the index of the first token that is no int64, or -1."""
    limit = np.uint64(_INT64_MAX // 10)
    for token in range(len(starts)):
        i, end = starts[token], ends[token]
        negative = buffer[i] == 45  # -
        if negative or buffer[i] == 43:  # +
            i += 1
        if i == end:
            return token
        value = np.uint64(0)
        while i < end:
            digit = np.uint64(buffer[i]) - np.uint64(48)
            if digit > np.uint64(9) or value > limit:
                return token
            value = value * np.uint64(10) + digit
            i += 1
        # The limits of the type themselves stand for whatever is beyond them.
        if value >= np.uint64(_INT64_MAX) + np.uint64(negative):
            return token
        values[token] = -np.int64(value) if negative else np.int64(value)
    return -1


@njit(cache=True)
def _parse_decimals(
    buffer: Any, starts: Any, ends: Any, powers: Any, values: Any, hard: Any
) -> Any:
    """Fill the values where one division or multiplication of exact numbers gives them.

    Clinger's fast path (PLDI 1990). Return how many tokens are left and the size of a text of them.
    """
    count, size = 0, 0
    for token in range(len(starts)):
        i, end = starts[token], ends[token]
        negative = buffer[i] == 45
        if negative or buffer[i] == 43:
            i += 1
        mantissa: Any = np.int64(0)
        exponent: Any = np.int64(0)
        digits, point, easy = 0, False, True
        while i < end:
            letter = buffer[i]
            if letter == 46 and not point:  # .
                point = True
            elif 48 <= letter <= 57:
                if mantissa >= _MANTISSA:
                    easy = False
                    break
                mantissa = mantissa * 10 + (np.int64(letter) - 48)
                digits += 1
                if point:
                    exponent -= 1
            else:
                break
            i += 1
        if easy and i < end and digits > 0 and (buffer[i] == 101 or buffer[i] == 69):  # e, E
            i += 1
            below = bool(i < end and buffer[i] == 45)
            if i < end and (below or buffer[i] == 43):
                i += 1
            first = i
            power: Any = np.int64(0)
            while i < end and 48 <= buffer[i] <= 57 and power < 1000:
                power = power * 10 + (np.int64(buffer[i]) - 48)
                i += 1
            if i == first:
                easy = False
            exponent += -power if below else power
        exact = easy and i == end and digits > 0 and mantissa <= _MANTISSA
        if exact and -23 < exponent < 23:
            value = np.float64(mantissa)
            value = value / powers[-exponent] if exponent < 0 else value * powers[exponent]
            values[token] = -value if negative else value
        else:
            hard[count] = token
            count += 1
            size += end - starts[token] + 1
    return count, size


@njit(cache=True)
def _join(buffer: Any, starts: Any, ends: Any, chosen: Any, letters: Any) -> None:
    """Write some tokens one after the other, a blank after each."""
    k = 0
    for token in chosen:
        for i in range(starts[token], ends[token]):
            letters[k] = buffer[i]
            k += 1
        letters[k] = 32
        k += 1
