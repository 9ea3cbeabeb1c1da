"""MatrixMarket files in pieces: entries whose ends are ids already."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.conversion.piece import Block, Piece, Summary, WiderDialectError
from ogg_hpc.graphs.conversion.source import TextSource
from ogg_hpc.graphs.conversion.tokens import find_tokens, parse_integers, parse_weights
from ogg_hpc.graphs.readers.build import zeros_note
from ogg_hpc.graphs.readers.files import as_lines
from ogg_hpc.graphs.readers.matrixmarket import COMMENTS, Header, check_entries, read_entries
from ogg_hpc.graphs.readers.text import Text
from ogg_hpc.runtime.communicator import Communicator

# Rows, ids from 1, values and the number of lines.
_Entries = tuple[NDArray[np.int64] | None, NDArray[np.int64], NDArray[np.float64] | None, int]


@dataclass(frozen=True)
class MatrixMarket:
    """The entries of an adjacency matrix in pieces; see `Input`.

    Parameters
    ----------
    source
        Where its text comes from.
    header
        What stands before the entries.
    start
        Offset in the text of the line after the size line.
    """

    source: TextSource
    header: Header
    start: int

    labels = "ids"

    @property
    def path(self) -> Path:  # noqa: D102
        return self.source.path

    @property
    def plan(self) -> dict[str, object]:  # noqa: D102
        return {"format": "matrixmarket"}

    @property
    def nodes(self) -> int:  # noqa: D102
        return self.header.n

    @property
    def weighted(self) -> bool:  # noqa: D102
        return self.header.columns == 3

    @property
    def matrix(self) -> bool:  # noqa: D102
        return not self.header.symmetric

    @property
    def symmetric(self) -> bool:  # noqa: D102
        return self.header.symmetric

    @property
    def lines_before(self) -> int:  # noqa: D102
        return self.header.line + 1

    def rounds(  # noqa: D102
        self, comm: Communicator, size: int, wanted: Callable[[int], bool]
    ) -> Iterator[Block | None]:
        return self.source.rounds(comm, self.start, size, wanted)

    def wider(self, error: WiderDialectError) -> MatrixMarket:  # noqa: D102
        raise AssertionError("all lines of a matrix are alike")

    def judge(self, summaries: Sequence[Summary]) -> tuple[str, ...]:  # noqa: D102
        check_entries(self.path, self.header, sum(summary.entries for summary in summaries))
        return zeros_note(sum(summary.zeros for summary in summaries))

    def parse(self, block: Block) -> Piece:  # noqa: D102
        data = as_lines(self.path, block.read())
        entries = self._parse_usual(data) or self._parse_any(data, block.number)
        rows, ids, values, lines = entries
        summary = Summary(lines, len(ids))
        if values is not None and not values.all():
            kept = values != 0
            summary = Summary(lines, len(ids), zeros=int(np.count_nonzero(~kept)))
            rows = np.flatnonzero(kept) if rows is None else rows[kept]
            ids, values = ids[kept], values[kept]
        id_type = np.int32 if self.header.n < 2**31 else np.int64
        ends = (ids.T - 1).astype(id_type)
        return Piece(None, ends[0], ends[1], values, rows, summary)

    def _parse_usual(self, data: bytes) -> _Entries | None:
        """Parse entries in compiled loops, or None if there is something to say about them."""
        tokens = find_tokens(data, self.header.columns, comments=COMMENTS)
        if tokens is None:
            return None
        ids, bad = parse_integers(data, tokens.starts, tokens.ends)
        if bad is not None or (ids.size and not 1 <= ids.min() <= ids.max() <= self.header.n):
            return None
        values = None
        if self.weighted:
            values = parse_weights(data, tokens.weight_starts, tokens.weight_ends)
            if values is None:
                return None
        return tokens.rows, ids.reshape(-1, 2), values, tokens.lines

    def _parse_any(self, data: bytes, number: int) -> _Entries:
        """Parse entries with the reader's means, which raise what is wrong with them."""
        text = Text(self.path, data)
        text = text.without(text.starting_with(COMMENTS))
        before = self.header.columns if number > 0 else None
        rows, ids, values = read_entries(text, self.header, 0, before)
        return rows, ids, values, len(text.counts)
