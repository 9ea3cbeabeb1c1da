"""Pieces of an input: some of its edges, with labels that are numbered within the piece."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import OggError
from ogg_hpc.graphs.names import Names

#: What labels a piece has: distinct integers, distinct texts, or None where ends are ids already.
PieceLabels = NDArray[np.int64] | Names | None


class Block(NamedTuple):
    """A piece that is not parsed yet.

    Attributes
    ----------
    number : int
        Pieces are numbered from 0 in the order of the file.
    read : callable
        Returns its content: lines of text, or a table.
    """

    number: int
    read: Callable[[], Any]


@dataclass(frozen=True)
class Summary:
    """What must be known of all pieces to judge the whole file.

    Attributes
    ----------
    lines : int
        Lines of text (rows of a table) in the piece.
    entries : int
        Edges that the lines give, stored zeros of a matrix included.
    zeros : int
        Stored zeros of a matrix, which are no edges.
    low, high : int
        Range of the integer labels; the very first edge of the file counts only where there is no
        doubt that it is one. ``low > high`` where there are none.
    text : tuple of int and str, optional
        Line within the piece, from 0, and label of the first label that is no integer, where
        labels are text.
    """

    lines: int
    entries: int
    zeros: int = 0
    low: int = 0
    high: int = -1
    text: tuple[int, str] | None = None


@dataclass(frozen=True, eq=False)
class Piece:
    """The edges on some consecutive lines of an input.

    Attributes
    ----------
    labels : (k,) int64 or Names, or None
        The distinct labels, in no special order. None where `sources` and `targets` are ids 0 … n -
        1 already, as in a matrix.
    sources, targets : (e,) int32, int64 where ids need it
        End points of each edge as places in `labels`; self loops and repetitions included.
    weights : (e,) float64, optional
        Finite weights.
    rows : (e,) int64, optional
        Line of each edge within the piece, from 0; None where edge i is on line i.
    summary : Summary
        Counts of what the piece holds.
    """

    labels: PieceLabels
    sources: NDArray[Any]
    targets: NDArray[Any]
    weights: NDArray[np.float64] | None
    rows: NDArray[np.int64] | None
    summary: Summary


class WiderDialectError(OggError):
    """A piece that shows that the file is not as its head looks: all pieces are read anew.

    Parameters
    ----------
    cells
        Tabs separate cells that may hold blanks or be quoted.
    text
        Labels are text.
    """

    def __init__(self, cells: bool = False, text: bool = False) -> None:
        super().__init__(cells, text)
        self.cells, self.text = cells, text

    def __str__(self) -> str:
        return "the file is not as its first lines look"


class DoubtError(OggError):
    """A line that is wrong in an edge list, which the file may not be: all lines must be counted.

    Parameters
    ----------
    fault
        What is wrong if the file is an edge list.
    """

    def __init__(self, fault: OggError) -> None:
        super().__init__(fault)
        self.fault = fault


class WholeFileError(OggError):
    """A file that only a reader of the whole file can judge; `read_graph` has to take it."""

    def __str__(self) -> str:
        return "the file has to be read as a whole"
