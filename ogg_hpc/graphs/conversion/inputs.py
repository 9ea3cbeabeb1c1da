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

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.conversion.piece import Block, Piece, Summary, WiderDialectError
from ogg_hpc.runtime.communicator import Communicator


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

        Piece k is rank k mod P's; all ranks have equally many rounds.

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
        WholeFileError
            `read_graph` must read the file.
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
            number of its line in the file.
        """
        old: dict[int, Summary] = {}

        def wanted(number: int) -> bool:
            summary = self._stored(number)
            if summary is not None:
                old[number] = summary
            return summary is None

        first = 0
        for block in self._input.rounds(self._comm, self._size, wanted):
            number = first + self._comm.rank
            piece = self._parsed(block)
            mine = old.get(number) if piece is None else piece.summary
            round_ = self._comm.gather_objects(mine)
            self.summaries += [summary for summary in round_ if summary is not None]
            first += self._comm.size
            yield None if piece is None else (number, piece)

    def _parsed(self, block: Block | None) -> Piece | None:
        raise NotImplementedError

    def line(self, number: int, row: int) -> int:
        """Return the number in the file, from 1, of a line of a piece that was read."""
        before = sum(summary.lines for summary in self.summaries[:number])
        return self._input.lines_before + before + row + 1


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
        A file that is missing, damaged or not as its format wants it.
    """
    raise InputError(path, "not written yet")
