"""Which lines of an input give one edge two weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ogg_hpc.graphs.building.edges import ConflictingEdgesError
from ogg_hpc.graphs.conversion.dictionary import Dictionary
from ogg_hpc.graphs.conversion.sorted_labels import Labels, search
from ogg_hpc.graphs.conversion.stored_pieces import StoredPieces
from ogg_hpc.graphs.names import Names
from ogg_hpc.runtime.communicator import Communicator


class Conflict(NamedTuple):
    """Two entries of one edge whose weights differ.

    Attributes
    ----------
    labels : tuple of int or str
        Of the end points.
    weights : tuple of float
        Of the two entries.
    piece, row : int
        Where the second one is.
    """

    labels: tuple[int | str, int | str]
    weights: tuple[float, float]
    piece: int
    row: int


def find_conflict(
    comm: Communicator,
    error: ConflictingEdgesError,
    stored: StoredPieces,
    count: int,
    dictionary: Dictionary | None,
    both_directions: bool,
) -> Conflict | None:
    """Return the first entry of an edge whose weight differs from those before it (collective).

    Parameters
    ----------
    error
        Names the edge by its ids.
    stored, count
        All pieces.
    dictionary
        As for `PieceBlocks`.
    both_directions
        Whether (v, u) is an entry of the edge (u, v), too.

    Returns
    -------
    Conflict, optional
        The same on all ranks; None if all weights are one.
    """
    u, v = (_Node.of(comm, dictionary, end) for end in (error.source, error.target))
    mine = [
        (piece, *entry)
        for piece in range(comm.rank, count, comm.size)
        for entry in _entries(stored, piece, u, v, both_directions)
    ]
    entries = sorted(entry for found in comm.gather_objects(mine) for entry in found)
    for piece, row, weight in entries:
        if weight != entries[0][2]:
            return Conflict((u.label, v.label), (entries[0][2], weight), piece, row)
    return None


class _Node(NamedTuple):
    """An end point by its id and by its label."""

    id: int
    label: int | str
    labels: Labels | None  # the label alone; None where pieces hold ids

    @classmethod
    def of(cls, comm: Communicator, dictionary: Dictionary | None, node: int) -> _Node:
        if dictionary is None:
            return cls(node, node + 1, None)
        segment = dictionary.segment
        if segment is None:
            return cls(node, node, np.array([node]))
        place = node - dictionary.first
        mine = segment[place : place + 1] if 0 <= place < len(segment) else None
        [labels] = [found for found in comm.gather_objects(mine) if found is not None]
        [label] = _values(labels)
        return cls(node, label, labels)

    def place_in(self, labels: Labels | None) -> int:
        """Return what stands for the node in a piece, -1 where it is not there."""
        if labels is None or self.labels is None:
            return self.id
        place = int(search(labels, self.labels)[0])
        return place if _values(labels[place : place + 1]) == [self.label] else -1


def _entries(
    stored: StoredPieces, piece: int, u: _Node, v: _Node, both_directions: bool
) -> list[tuple[int, float]]:
    """Return row and weight of the first entry of a piece, and of the first that differs."""
    labels = None if u.labels is None else stored.labels(piece)
    a, b = u.place_in(labels), v.place_in(labels)
    if a < 0 or b < 0:
        return []
    sources, targets, weights, rows = stored.edges(piece)
    mask = (sources == a) & (targets == b)
    if both_directions:
        mask |= (sources == b) & (targets == a)
    places = np.flatnonzero(mask)
    if not places.size:
        return []
    values = np.ones(len(places)) if weights is None else weights[places]
    first = [0, *np.flatnonzero(values != values[0])[:1].tolist()]
    return [
        (int(places[i]) if rows is None else int(rows[places[i]]), float(values[i])) for i in first
    ]


def _values(labels: Labels) -> list[str] | list[int]:
    return labels.to_strings() if isinstance(labels, Names) else labels.tolist()
