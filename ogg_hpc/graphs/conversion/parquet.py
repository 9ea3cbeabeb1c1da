"""Parquet tables in pieces: rows that each rank reads by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.conversion.numbering import number_integers, number_names
from ogg_hpc.graphs.conversion.piece import Block, Piece, PieceLabels, Summary, WiderDialectError
from ogg_hpc.graphs.conversion.source import deal
from ogg_hpc.graphs.readers.parquet import (
    Columns,
    check_rows,
    damaged,
    end_points,
    find_columns,
    names_of,
    open_table,
    weights_of,
)
from ogg_hpc.runtime.communicator import Communicator

# Bytes of a row of text, about: sizes of pieces are given in bytes of text.
_ROW = 16
_BATCH = 1 << 16  # rows that are decoded at a time


@dataclass(frozen=True)
class ParquetTable:
    """A table of edges in pieces of equally many rows; see `Input`.

    Parameters
    ----------
    path
        The file.
    columns
        Its columns of edges.
    groups
        The first row of each row group, and the number of rows.
    """

    path: Path
    columns: Columns
    groups: tuple[int, ...]

    nodes = None
    matrix = False
    symmetric = False
    lines_before = 0

    @classmethod
    def open(cls, path: Path) -> ParquetTable:
        """Return the table in a file.

        Raises
        ------
        InputError
            A file that is damaged, or no table of edges.
        MissingExtraError
            PyArrow is not installed.
        """
        file = open_table(path, path)
        columns = find_columns(path, file.schema_arrow)
        metadata = file.metadata
        check_rows(path, metadata.num_rows)
        sizes = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        return cls(path, columns, tuple(np.cumsum([0, *sizes]).tolist()))

    @property
    def plan(self) -> dict[str, object]:  # noqa: D102
        return {"format": "parquet"}

    @property
    def labels(self) -> str:  # noqa: D102
        return "text" if self.columns.text else "integers"

    @property
    def weighted(self) -> bool:  # noqa: D102
        return self.columns.weight is not None

    def wider(self, error: WiderDialectError) -> ParquetTable:  # noqa: D102
        raise AssertionError("the types of a table are known")

    def judge(self, summaries: Sequence[Summary]) -> tuple[str, ...]:  # noqa: D102
        return ()

    def rounds(  # noqa: D102
        self, comm: Communicator, size: int, wanted: Callable[[int], bool]
    ) -> Iterator[Block | None]:
        rows = max(1, size // _ROW)
        count = -(-self.groups[-1] // rows)
        return deal(comm, count, wanted, lambda k: partial(self._rows, k * rows, (k + 1) * rows))

    def parse(self, block: Block) -> Piece:  # noqa: D102
        table = block.read()
        ends = end_points(self.path, table, self.columns)
        labels: PieceLabels
        if self.columns.text:
            labels, numbers = _number_texts(*ends)
        else:
            labels, numbers = number_integers(np.stack(ends, axis=1).reshape(-1))
        weights = weights_of(self.path, table, self.columns)
        sources, targets = np.ascontiguousarray(numbers.reshape(-1, 2).T)
        summary = Summary(len(table), len(table))
        return Piece(labels, sources, targets, weights, None, summary)

    def _rows(self, low: int, high: int) -> Any:
        """Return some rows of the columns of edges as a table."""
        import pyarrow

        file = open_table(self.path, self.path)
        first = int(np.searchsorted(self.groups, low, "right")) - 1
        last = int(np.searchsorted(self.groups, high, "left"))
        place, batches = self.groups[first], []
        try:
            for batch in file.iter_batches(
                _BATCH,
                row_groups=list(range(first, min(last, len(self.groups) - 1))),
                columns=names_of(self.columns),
                use_threads=False,
            ):
                start, place = place, place + len(batch)
                if place > low:
                    batches.append(batch.slice(max(0, low - start), high - max(low, start)))
                if place >= high:
                    break
        except Exception as error:
            raise damaged(self.path, error) from None
        return pyarrow.Table.from_batches(batches)


def _number_texts(*columns: Any) -> tuple[PieceLabels, NDArray[np.int32]]:
    """Return what `number_names` does for two ``pyarrow.LargeStringArray``, row by row."""
    starts = np.empty((len(columns[0]), 2), np.int64)
    ends = np.empty_like(starts)
    buffers, size = [], 0
    for i, column in enumerate(columns):
        _, offsets, letters = column.buffers()
        bounds = np.frombuffer(offsets, np.int64)[column.offset :][: len(column) + 1] + size
        starts[:, i], ends[:, i] = bounds[:-1], bounds[1:]
        buffers.append(np.frombuffer(letters or b"", np.uint8))
        size += len(buffers[-1])
    return number_names(np.concatenate(buffers), starts.reshape(-1), ends.reshape(-1))
