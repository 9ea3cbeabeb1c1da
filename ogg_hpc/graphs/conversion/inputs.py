"""Inputs whose edges come in pieces: which file is one, and its pieces in turn.

A driver works like this, on all ranks alike::

    found = open_input(comm, path)
    while found is not None:
        try:
            pieces = Pieces(comm, found, size)
            for numbered in pieces:
                ...  # (number, Piece), or None where this rank has none in this round
            warnings = found.judge(pieces.summaries)
            break
        except WiderDialectError as error:
            found = found.wider(error)  # read anew: pieces so far are void
        except WholeFileError:
            found = None
    # None: read_graph takes the file
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Protocol

import numpy as np

from ogg_hpc.errors import InputError, OggError
from ogg_hpc.graphs.conversion.edgelist import EdgeList, FirstLine
from ogg_hpc.graphs.conversion.matrixmarket import MatrixMarket
from ogg_hpc.graphs.conversion.parquet import ParquetTable
from ogg_hpc.graphs.conversion.piece import Block, DoubtError, Piece, Summary, WiderDialectError
from ogg_hpc.graphs.conversion.source import LINE_END, TextSource, text_source
from ogg_hpc.graphs.members import is_store
from ogg_hpc.graphs.readers import edgelist, matrixmarket, metis
from ogg_hpc.graphs.readers.detect import (
    METIS_SUFFIXES,
    detect_binary,
    detect_first_lines,
    suffix_of,
)
from ogg_hpc.graphs.readers.files import as_lines, empty
from ogg_hpc.graphs.readers.parquet import is_table
from ogg_hpc.graphs.readers.text import Text
from ogg_hpc.runtime.communicator import Communicator

# Bytes that tell binary formats, and bytes in which the first lines are looked for.
_BINARY_START = 64
_HEAD = 1 << 20


class Input(Protocol):
    """A file whose edges come in pieces.

    The bounds of pieces are a function of the file and of the size of pieces alone.

    Attributes
    ----------
    path : Path
        The file.
    plan : dict
        How the file is read, as JSON: part of the plan of an interrupted job.
    labels : str
        ``integers``, ``text`` or ``ids``: what `Piece.labels` are; ``ids`` means that nodes are 0 …
        `nodes` - 1, called 1 … `nodes`.
    nodes : int, optional
        How many nodes a header declares; given with ``ids``.
    weighted : bool
        Whether pieces have weights. They may still all be 1, which means none.
    matrix : bool
        Whether edges are all entries of a general matrix: both directions are listed, and the graph
        is undirected only if the matrix is symmetric or the user says so.
    symmetric : bool
        Whether the file declares an undirected graph, so that it cannot be read as directed.
    lines_before : int
        Lines before the first piece.
    """

    @property
    def path(self) -> Path: ...  # noqa: D102
    @property
    def plan(self) -> dict[str, object]: ...  # noqa: D102
    @property
    def labels(self) -> str: ...  # noqa: D102
    @property
    def nodes(self) -> int | None: ...  # noqa: D102
    @property
    def weighted(self) -> bool: ...  # noqa: D102
    @property
    def matrix(self) -> bool: ...  # noqa: D102
    @property
    def symmetric(self) -> bool: ...  # noqa: D102
    @property
    def lines_before(self) -> int: ...  # noqa: D102

    def rounds(
        self, comm: Communicator, size: int, wanted: Callable[[int], bool]
    ) -> Iterator[Block | None]:
        """Yield this rank's next piece, or None, in each round (collective).

        Piece k is rank k mod P's; all ranks have equally many rounds. There is one piece at least.

        Parameters
        ----------
        size
            Bytes of a piece of text, about.
        wanted
            Whether a piece of this rank, by its number, is to be read.
        """
        ...

    def parse(self, block: Block) -> Piece:
        """Return a piece.

        Raises
        ------
        InputError
            A line that is wrong; its number counts within the piece.
        WiderDialectError
            All pieces must be read anew, as `wider` says.
        DoubtError
            A line that is wrong unless the first one is a header; `Pieces` finds out.
        """
        ...

    def wider(self, error: WiderDialectError) -> Input:
        """Return the input as it must be read after an error of a piece."""
        ...

    def judge(self, summaries: Sequence[Summary]) -> tuple[str, ...]:
        """Return the warnings about a file, given the summaries of all its pieces in their order.

        Raises
        ------
        InputError
            Counts that contradict the header.
        WholeFileError
            The first line is a header, or may be: `read_graph` must read the file.
        """
        ...


class Pieces:
    """All pieces of an input, dealt to the ranks in turn.

    Parameters
    ----------
    comm
        Iterating is collective.
    source
        The input.
    size
        Bytes of a piece of text, about.
    stored
        The summary of a piece that need not be read again, or None; asked for the pieces of this
        rank alone.

    Attributes
    ----------
    summaries : list of Summary
        Those of all pieces so far, the same on all ranks.
    """

    def __init__(
        self,
        comm: Communicator,
        source: Input,
        size: int,
        stored: Callable[[int], Summary | None] = lambda number: None,
    ) -> None:
        self._comm, self._input, self._size, self._stored = comm, source, size, stored
        self.summaries: list[Summary] = []

    def __iter__(self) -> Iterator[tuple[int, Piece] | None]:
        """Yield in each round (number, piece), or None where this rank has nothing to read.

        Raises
        ------
        OggError
            What `Input.parse` raises for the first piece that is wrong, on all ranks, with the
            number of its line in the file; `WholeFileError` in place of a doubt that is confirmed.
        """
        old: dict[int, Summary] = {}

        def wanted(number: int) -> bool:
            summary = self._stored(number)
            if summary is not None:
                old[number] = summary
            return summary is None

        number = self._comm.rank
        for block in self._input.rounds(self._comm, self._size, wanted):
            piece, error = None, None
            try:
                piece = None if block is None else self._input.parse(block)
            except OggError as raised:
                error = raised
            summary = old.get(number) if piece is None else piece.summary
            # Ranks are in the order of their pieces: the first error is the first in the file.
            for outcome in self._comm.gather_objects(summary if error is None else error):
                if isinstance(outcome, OggError):
                    raise self._settled(outcome).shared()
                if outcome is not None:
                    self.summaries.append(outcome)
            yield None if piece is None else (number, piece)
            number += self._comm.size

    def line(self, number: int, row: int) -> int:
        """Return the number in the file, from 1, of line `row` of a piece that was read."""
        before = sum(summary.lines for summary in self.summaries[:number])
        return self._input.lines_before + before + row + 1

    def _settled(self, error: OggError) -> OggError:
        """Return an error about the next piece as one about the file (collective)."""
        if isinstance(error, DoubtError):
            assert isinstance(self._input, EdgeList)
            self._input.settle(self._comm, self._size)
            error = error.fault
        if not isinstance(error, InputError):
            return error
        path, message, line = error.args
        if line is not None:
            line = self.line(len(self.summaries), line - 1)
        return InputError(path, message, line)


def open_input(
    comm: Communicator,
    path: Path,
    *,
    format: str | None = None,  # noqa: A002
    directed: bool | None = None,
) -> Input | None:
    """Return how a file comes in pieces, None where `read_graph` must read it (collective).

    Parameters
    ----------
    path
        A file, text also compressed.
    format
        As for `read_graph`; by default it is found.
    directed
        True or False where the user says how to read it.

    Raises
    ------
    InputError
        A file that is damaged or not as its format wants it.
    MissingExtraError
        A Parquet table without PyArrow.
    """
    return comm.on_root(lambda: _open(path, format, directed))


def _open(path: Path, name: str | None, directed: bool | None) -> Input | None:
    if not os.path.isfile(path) or name not in (None, "edgelist", "matrixmarket", "parquet"):
        return None
    if name in (None, "parquet"):
        if is_table(path):
            return ParquetTable.open(path)
        if name is not None:
            return None
    source = text_source(path)
    start, _ = source.head(_BINARY_START)
    if not start:
        raise empty(path)
    if name is None and (is_store(path) or detect_binary(path, start) is not None):
        return None
    head = _Head(source)
    found = name or detect_first_lines(head.text) or "edgelist"
    if found == "matrixmarket":
        sizes = matrixmarket.read_header(head.text)
        return MatrixMarket(source, sizes, head.offset(sizes.line + 1))
    if found != "edgelist":
        return None
    first = head.first_lines()
    header = None
    if name is None:
        header = metis.read_header(Text(path, first[0].line))
        if header is not None and not _may_be_edge(first[0].line, head.text):
            return None
    comments = head.text.starting_with(edgelist.COMMENTS)
    warns = directed is None and edgelist.says_directed(head.text, comments)
    return EdgeList(source, first, header, (edgelist.DIRECTED_NOTE,) if warns else ())


def _may_be_edge(header: bytes, text: Text) -> bool:
    """Whether the header of a METIS file may be the first edge of a list as well."""
    named = suffix_of(text.path) in METIS_SUFFIXES and metis.read_header(text) is not None
    return len(header.split()) < 4 and not named


class _Head:
    """The first lines of a text: at least two that are no comments, if there are so many.

    Attributes
    ----------
    text : Text
        The lines.
    """

    def __init__(self, source: TextSource) -> None:
        size = _HEAD
        while True:
            self._data, complete = source.head(size)
            if not complete:
                whole = max(self._data.rfind(b"\n"), self._data.rfind(b"\r")) + 1
                self._data = self._data[:whole]
            self.text = Text(source.path, as_lines(source.path, self._data))
            comments = self.text.starting_with(edgelist.COMMENTS)
            self._rows = np.flatnonzero((self.text.counts > 0) & ~comments)[:2].tolist()
            if complete or len(self._rows) == 2:
                return
            size *= 4

    def offset(self, number: int) -> int:
        """Return where a line starts in the text, or the end of what follows none."""
        if number == 0:
            return 0
        ends = (found.end() for found in LINE_END.finditer(self._data))
        return next(islice(ends, number - 1, None), len(self._data))

    def first_lines(self) -> tuple[FirstLine, ...]:
        """Return the first two lines that are no comments, or the only one."""
        if not self._rows:
            raise edgelist.no_edges(self.text)
        return tuple(
            FirstLine(self.text.line(row), row, self.offset(row), self.offset(row + 1))
            for row in self._rows
        )
