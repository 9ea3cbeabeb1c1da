"""Pieces of an input as finished parts of a conversion, with labels in sorted order."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.conversion.piece import Piece, Summary, WiderDialectError
from ogg_hpc.graphs.conversion.sorted_labels import Labels
from ogg_hpc.graphs.names import Names
from ogg_hpc.runtime.parts import Parts

_ENDS = ("sources", "targets")


class StoredEdges(NamedTuple):
    """The edges of a piece.

    Attributes
    ----------
    sources, targets : (e,) integers
        Places in the labels of the piece, or ids.
    weights : (e,) float64, optional
        None where all are 1.
    rows : (e,) int64, optional
        Line of each edge within the piece, from 0; None where edge i is on line i.
    """

    sources: NDArray[Any]
    targets: NDArray[Any]
    weights: NDArray[np.float64] | None
    rows: NDArray[np.int64] | None


class StoredPieces:
    """The pieces of one reading of an input.

    Parameters
    ----------
    parts
        Where they are kept.
    reading
        How many times the input had to be read anew; pieces of earlier readings are void.
    """

    def __init__(self, parts: Parts, reading: int = 0) -> None:
        self._parts, self._reading = parts, reading
        self._notes: dict[int, dict[str, Any]] = {}  # those that have been asked for

    def next_reading(self) -> StoredPieces:
        """Return the pieces of the reading after this one."""
        return StoredPieces(self._parts, self._reading + 1)

    def write_wider(self, error: WiderDialectError) -> None:
        """Keep why this reading is void, so that a later job need not find out again."""
        self._parts.write(self._wider, cells=np.array(error.cells), text=np.array(error.text))

    def read_wider(self) -> WiderDialectError | None:
        """Return why this reading is void, None as far as is known."""
        if not self._parts.has(self._wider):
            return None
        flags = self._parts.read(self._wider)
        return WiderDialectError(cells=bool(flags["cells"]), text=bool(flags["text"]))

    def write(self, number: int, piece: Piece) -> None:
        """Keep a piece.

        Raises
        ------
        InputError
            The disk is full.
        """
        labels, ends = piece.labels, (piece.sources, piece.targets)
        if labels is not None:
            order = labels.order() if isinstance(labels, Names) else np.argsort(labels)
            places = np.empty(len(order), np.int32)
            places[order] = np.arange(len(order), dtype=np.int32)
            labels, ends = labels.take(order), (places[ends[0]], places[ends[1]])
        weighted = piece.weights is not None and bool((piece.weights != 1).any())
        arrays: dict[str, Any] = dict(zip(_ENDS, ends, strict=True))
        if isinstance(labels, Names):
            arrays |= {"letters": labels.bytes, "offsets": labels.offsets}
        elif labels is not None:
            arrays["labels"] = labels
        if weighted:
            arrays["weights"] = piece.weights
        if piece.rows is not None:
            arrays["rows"] = piece.rows
        note = {"members": list(arrays), "summary": asdict(piece.summary)}
        self._parts.write(self._name(number), note=np.array(json.dumps(note)), **arrays)

    def summary(self, number: int) -> Summary | None:
        """Return the summary of a piece, None if the piece is not there."""
        if not self._parts.has(self._name(number)):
            return None
        values = self._note(number)["summary"]
        text = values["text"]
        return Summary(**{**values, "text": None if text is None else tuple(text)})

    def is_weighted(self, number: int) -> bool:
        """Whether a weight of a piece is not 1."""
        return "weights" in self._note(number)["members"]

    def labels(self, number: int) -> Labels:
        """Return the sorted labels of a piece whose edges are not in ids."""
        arrays = self._read(number, "labels", "letters", "offsets")
        if "labels" in arrays:
            return arrays["labels"]
        return Names(arrays["letters"], arrays["offsets"])

    def edges(self, number: int) -> StoredEdges:
        """Return the edges of a piece."""
        arrays = self._read(number, *_ENDS, "weights", "rows")
        return StoredEdges(
            arrays["sources"], arrays["targets"], arrays.get("weights"), arrays.get("rows")
        )

    @property
    def _wider(self) -> str:
        return f"wider-{self._reading}"

    def _read(self, number: int, *members: str) -> dict[str, NDArray[Any]]:
        """Return those of some members that a piece has."""
        held = self._note(number)["members"]
        return self._parts.read(self._name(number), [name for name in members if name in held])

    def _note(self, number: int) -> dict[str, Any]:
        if number not in self._notes:
            [text] = self._parts.read(self._name(number), ["note"]).values()
            self._notes[number] = json.loads(str(text))
        return self._notes[number]

    def _name(self, number: int) -> str:
        return f"piece-{self._reading}-{number:06}"
