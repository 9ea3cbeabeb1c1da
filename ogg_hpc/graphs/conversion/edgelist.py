"""Edge lists in pieces.

How a list is read follows from its first lines, as long as no piece says otherwise: labels are
integers until one is not, and tabs separate tokens until one shows that they separate cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import InputError, OggError
from ogg_hpc.graphs.conversion.numbering import number_integers, number_names
from ogg_hpc.graphs.conversion.piece import (
    Block,
    DoubtError,
    Piece,
    PieceLabels,
    Summary,
    WholeFileError,
    WiderDialectError,
)
from ogg_hpc.graphs.conversion.source import TextSource
from ogg_hpc.graphs.conversion.tokens import (
    Tokens,
    find_tokens,
    parse_integers,
    parse_weights,
    rewrite_cells,
)
from ogg_hpc.graphs.readers import edgelist
from ogg_hpc.graphs.readers.files import as_lines, with_line_feeds
from ogg_hpc.graphs.readers.headed import check_no_header
from ogg_hpc.graphs.readers.metis import Header, sizes_fit
from ogg_hpc.graphs.readers.text import Text, is_integer, parse_columns, uniform_columns
from ogg_hpc.runtime.communicator import Communicator


@dataclass(frozen=True)
class FirstLine:
    """One of the first two lines of a list that are no comments.

    Attributes
    ----------
    line : bytes
        The line, without its end.
    number : int
        Its number in the file, from 0.
    start, end : int
        Offsets in the text of the line and of the next one.
    """

    line: bytes
    number: int
    start: int
    end: int


@dataclass(frozen=True)
class EdgeList:
    """An edge list in pieces; see `Input`.

    Parameters
    ----------
    source
        Where its text comes from.
    first
        The first two lines that are no comments, or the only one.
    header
        The first line as a METIS header ``n m …``, where it may be one rather than an edge.
    notes
        What the comments say.
    cells
        Whether tabs separate cells that may hold blanks or be quoted, rather than tokens.
    text
        Whether labels are text.
    """

    source: TextSource
    first: tuple[FirstLine, ...]
    header: Header | None = None
    notes: tuple[str, ...] = ()
    cells: bool = False
    text: bool = False

    nodes = None
    matrix = False
    symmetric = False

    @property
    def path(self) -> Path:  # noqa: D102
        return self.source.path

    @property
    def plan(self) -> dict[str, object]:  # noqa: D102
        return {"format": "edgelist", "cells": self.cells, "text": self.text}

    @property
    def labels(self) -> str:  # noqa: D102
        return "text" if self.text else "integers"

    @property
    def weighted(self) -> bool:  # noqa: D102
        return self._columns == 3

    @property
    def lines_before(self) -> int:  # noqa: D102
        return self.first[0].number + self._named

    def rounds(  # noqa: D102
        self, comm: Communicator, size: int, wanted: Callable[[int], bool]
    ) -> Iterator[Block | None]:
        start = self.first[0].end if self._named else self.first[0].start
        return self.source.rounds(comm, start, size, wanted)

    def wider(self, error: WiderDialectError) -> EdgeList:  # noqa: D102
        # What was text between tabs may be an integer in a quoted cell.
        if error.cells:
            return replace(self, cells=True, text=False, header=None)
        return replace(self, text=True)

    def parse(self, block: Block) -> Piece:  # noqa: D102
        data = as_lines(self.path, block.read())
        quotes = b'"' if self._separator == b"," or self._tabs else b""
        unusual = edgelist.INNER_BLANK + quotes
        tokens = None
        if not self.cells:
            tokens = find_tokens(
                data,
                self._columns,
                separator=self._separator,
                unusual=unusual,
                comments=edgelist.COMMENTS,
            )
        plain = tokens is None
        if tokens is None and self._separator:
            cells = rewrite_cells(data, self._separator, edgelist.COMMENTS)
            if cells is not None:
                tokens = find_tokens(cells, self._columns)
                data = data if tokens is None else cells
        if tokens is None:
            data = self._with_plain_tokens(data, block.number)
            tokens = find_tokens(data, self._columns)
            assert tokens is not None
        weights = None
        if self.weighted:
            weights = parse_weights(data, tokens.weight_starts, tokens.weight_ends)
            if weights is None and self._tabs:
                raise WiderDialectError(cells=True)
            if weights is None:
                # The reader says what is wrong.
                data = data if plain else self._with_plain_tokens(data, block.number)
                text = Text(self.path, data)
                parse_columns(text, text.rows, 3)
                raise AssertionError("a weight is refused by one parser alone")
        integers, bad = parse_integers(data, tokens.starts, tokens.ends)
        labels: PieceLabels
        if self.text:
            letters = edgelist.with_blanks(data)
            labels, numbers = number_names(
                np.frombuffer(letters, np.uint8), tokens.starts, tokens.ends
            )
        elif bad is None:
            labels, numbers = number_integers(integers)
        else:
            raise WiderDialectError(text=True)
        return Piece(
            labels,
            np.ascontiguousarray(numbers[0::2]),
            np.ascontiguousarray(numbers[1::2]),
            weights,
            tokens.rows,
            self._summary(data, tokens, integers, bad, block.number),
        )

    def judge(self, summaries: Sequence[Summary]) -> tuple[str, ...]:  # noqa: D102
        self._check_header(summaries)
        notes = self.notes
        if self._named:
            notes += (edgelist.names_note(self.first[0].number),)
        tokens = self._tokens[self._named]
        if self.text and any(is_integer(token) for token in tokens[:2]):
            line = self.lines_before
            for summary in summaries:
                if summary.text is not None:
                    row, label = summary.text
                    return (*notes, edgelist.text_note(line + row, label.encode()))
                line += summary.lines
        return notes

    # What the first lines say.

    @property
    def _tabs(self) -> bool:
        """Whether tabs may turn out to separate cells."""
        return b"\t" in self.first[0].line and self._separator != b"," and not self.cells

    @property
    def _separator(self) -> bytes:
        """What separates cells, if blanks do not."""
        if b"," in self.first[0].line:
            return b","
        return b"\t" if self.cells else b""

    @cached_property
    def _tokens(self) -> list[list[bytes]]:
        """The tokens of the first lines, none of a line that pieces will refuse."""
        tokens = []
        for line in self.first:
            text = Text(self.path, line.line)
            try:
                if self._separator:
                    text = edgelist.cells_as_tokens(text, self._separator.decode())
                tokens.append(text.tokens(0))
            except InputError:
                tokens.append([])
        return tokens

    @property
    def _columns(self) -> int:
        columns = len(self._tokens[0])
        return columns if columns in (2, 3) else 2

    @property
    def _named(self) -> bool:
        """Whether the first line is skipped because it names the columns."""
        if len(self.first) < 2:
            return False
        first, second = self._tokens
        if len(first) != self._columns or (self._tabs and b'"' in self.first[0].line):
            return False
        if len(second) != self._columns:
            # The second line is to be refused, not the first.
            return self.header is None
        names = edgelist.are_column_names(first, second, self._columns)
        return not self.text if names is None else names

    # Lines that the compiled loops do not take.

    def _with_plain_tokens(self, data: bytes, number: int) -> bytes:
        """Return lines without comments, with blanks between tokens alone."""
        if not data:
            return data
        text = Text(self.path, data)
        text = text.without(text.starting_with(edgelist.COMMENTS))
        if self._separator:
            text = edgelist.cells_as_tokens(text, self._separator.decode())
        elif self._tabs and not edgelist.are_tokens(text, self._columns):
            raise self._doubtful(WiderDialectError(cells=True))
        if text.rows.size:
            before = self._columns if number > 0 or self._named else None
            try:
                uniform_columns(text, text.rows, edgelist.EXPECTED, before)
            except InputError as fault:
                raise self._doubtful(fault) from None
        return text.buffer.tobytes()

    def _doubtful(self, fault: OggError) -> OggError:
        """Return an error about lines of another length, which other formats have."""
        return fault if self.header is None else DoubtError(fault)

    def settle(self, comm: Communicator, size: int) -> None:
        """Count all lines, after a `DoubtError`, to tell whether the file is an edge list.

        Collective.

        Raises
        ------
        WholeFileError
            It may be a METIS or a Gset file.
        """
        assert self.header is not None
        total = np.zeros(4, np.int64)
        for block in self.rounds(comm, size, lambda number: True):
            total += comm.on_all(partial(self._count, block))
        lines, filled, tokens, triples = comm.allreduce(total).tolist()
        first = len(self._tokens[0])
        fits = sizes_fit(self.header, filled - 1, lines - 1, tokens - first)
        if fits or (first == 2 and triples > 0.9 * (filled - 1)):
            raise WholeFileError

    def _count(self, block: Block | None) -> NDArray[np.int64]:
        """Return the numbers of lines, of edges, of their tokens and of edges with three tokens."""
        data = b"" if block is None else with_line_feeds(block.read())
        if not data:
            return np.zeros(4, np.int64)
        text = Text(self.path, data)
        counts = text.counts[~text.starting_with(edgelist.COMMENTS)]
        filled = np.count_nonzero(counts)
        return np.array([len(text.counts), filled, counts.sum(), np.count_nonzero(counts == 3)])

    # What all pieces together say.

    def _summary(
        self,
        data: bytes,
        tokens: Tokens,
        integers: NDArray[np.int64],
        bad: int | None,
        number: int,
    ) -> Summary:
        edges = len(tokens.starts) // 2
        if bad is not None:
            row = bad // 2 if tokens.rows is None else int(tokens.rows[bad // 2])
            label = edgelist.with_blanks(data[tokens.starts[bad] : tokens.ends[bad]])
            return Summary(tokens.lines, edges, text=(row, label.decode()))
        if number == 0 and self.header is not None:
            integers = integers[2:]
        if self.text or not integers.size:
            return Summary(tokens.lines, edges)
        return Summary(tokens.lines, edges, low=int(integers.min()), high=int(integers.max()))

    def _check_header(self, summaries: Sequence[Summary]) -> None:
        """Leave a file to others whose first line is a header, or may be one."""
        if self.header is None:
            return
        edges = sum(summary.entries for summary in summaries) - 1
        lines = sum(summary.lines for summary in summaries) - 1
        n, m = self.header.n, self.header.m
        if sizes_fit(self.header, edges, lines, edges * self._columns):
            raise WholeFileError
        if self.weighted:
            return
        if edges == m:
            raise WholeFileError
        ranges = [summary for summary in summaries if summary.low <= summary.high]
        if ranges and not self.text:
            low = min(summary.low for summary in ranges)
            high = max(summary.high for summary in ranges)
            check_no_header(self.path, self.first[0].number, n, m, edges, low, high)
