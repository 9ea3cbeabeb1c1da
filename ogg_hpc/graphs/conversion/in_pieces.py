"""The two halves of a conversion in pieces: parse them; number their labels and sort edges."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.building.build import Built, build_store
from ogg_hpc.graphs.building.edges import ConflictingEdgesError
from ogg_hpc.graphs.conversion.blocks import PieceBlocks
from ogg_hpc.graphs.conversion.conflict import find_conflict
from ogg_hpc.graphs.conversion.dictionary import Dictionary, build_dictionary
from ogg_hpc.graphs.conversion.inputs import Input, Pieces
from ogg_hpc.graphs.conversion.piece import Piece, WholeFileError, WiderDialectError
from ogg_hpc.graphs.conversion.request import Request
from ogg_hpc.graphs.conversion.sorted_labels import Labels
from ogg_hpc.graphs.conversion.stored_pieces import StoredPieces
from ogg_hpc.graphs.graph import ConflictingWeightsError
from ogg_hpc.graphs.readers.build import conflict
from ogg_hpc.runtime.clock import Clock
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.parts import Parts
from ogg_hpc.runtime.progress import progress_bar
from ogg_hpc.runtime.signals import Came, refuse_after


class Reading(NamedTuple):
    """An input that has been read to its end, the same on all ranks.

    Attributes
    ----------
    source : Input
        The input, as it had to be read.
    stored : StoredPieces
        Its pieces.
    pieces : Pieces
        What tells their lines.
    warnings : tuple of str
        What the user should know about the input.
    """

    source: Input
    stored: StoredPieces
    pieces: Pieces
    warnings: tuple[str, ...]

    @property
    def size(self) -> int:
        """Number of pieces."""
        return len(self.pieces.summaries)


def read_pieces(
    comm: Communicator, request: Request, source: Input, parts: Parts, came: Came
) -> Reading | None:
    """Parse all pieces that are not there yet (collective).

    Parameters
    ----------
    comm, request, came
        As for `convert`.
    source
        The input.
    parts
        Finished parts of this conversion.

    Returns
    -------
    Reading, optional
        None where only a reader of the whole file can read it.

    Raises
    ------
    InputError
        The first line that is wrong; the disk is full.
    StoppedError
        A signal has come.
    """

    def keep(stored: StoredPieces, numbered: tuple[int, Piece] | None) -> None:
        if numbered is not None:
            stored.write(*numbered)
        refuse_after(came())

    stored = StoredPieces(parts)
    while True:
        # A job before this one may know that the input is read anew.
        known = comm.on_root(stored.read_wider)
        try:
            if known is not None:
                raise known
            pieces = Pieces(comm, source, request.piece_bytes, stored.summary)
            with progress_bar(comm, "reading", _pieces_about(request)) as update:
                for numbered in pieces:
                    comm.on_all(partial(keep, stored, numbered))
                    update(len(pieces.summaries), "")
            warnings = comm.on_all(partial(source.judge, pieces.summaries))
            return Reading(source, stored, pieces, warnings)
        except WiderDialectError as error:
            if known is None:
                comm.on_root(partial(stored.write_wider, error))
            source = source.wider(error)
            stored = stored.next_reading()
        except WholeFileError:
            return None


def build_from_pieces(
    comm: Communicator,
    request: Request,
    reading: Reading,
    parts: Parts,
    *,
    directed: bool | None,
    attributes: Mapping[str, Any],
    memory: int,
    came: Came,
    clock: Clock,
) -> Built:
    """Build the store: number the labels of all pieces and sort their edges (collective).

    Parameters
    ----------
    comm, request, memory, came
        As for `convert`.
    reading
        The pieces.
    parts
        Finished parts of this conversion.
    directed
        True or False where the user says how to read the input.
    attributes
        Provenance to be stored.
    clock
        Takes the time of ``number`` and ``sort``.

    Raises
    ------
    InputError
        Two weights for one edge; the disk is full.
    SettingsError
        The labels do not fit in memory.
    StoppedError
        A signal has come.
    """
    source, stored = reading.source, reading.stored
    with clock("number"):
        mine = range(comm.rank, reading.size, comm.size)
        weighted = any(comm.gather_objects(any(stored.is_weighted(number) for number in mine)))
        dictionary: Dictionary | None = None
        labels: Labels | None
        if source.nodes is not None:
            nodes, labels = source.nodes, _one_based(comm, source.nodes)
        else:
            dictionary = build_dictionary(comm, reading.size, stored.labels, memory)
            nodes, labels = dictionary.nodes, dictionary.segment

    with clock("sort"), progress_bar(comm, "sorting", 100) as update:

        def report(done: int, total: int) -> None:
            refuse_after(came())
            update(100 * done // total, "")

        try:
            return build_store(
                comm,
                request.output,
                nodes,
                PieceBlocks(stored, reading.size, dictionary, weighted),
                parts=parts,
                memory=memory,
                labels=labels,
                directed=directed if source.matrix else directed is True,
                matrix=source.matrix,
                weighted=weighted,
                attributes=attributes,
                report=report,
            )
        except ConflictingEdgesError as error:
            raise _conflict(comm, error, reading, dictionary, directed) from None


def _pieces_about(request: Request) -> int:
    """Return how many pieces a plain file has, for a bar that a compressed one overtakes."""
    return request.source.stat().st_size // request.piece_bytes + 1


def _one_based(comm: Communicator, nodes: int) -> NDArray[np.int64]:
    """Return this rank's part of the labels 1, …, n."""
    first, last = (nodes * rank // comm.size for rank in (comm.rank, comm.rank + 1))
    return np.arange(first + 1, last + 1)


def _conflict(
    comm: Communicator,
    error: ConflictingEdgesError,
    reading: Reading,
    dictionary: Dictionary | None,
    directed: bool | None,
) -> InputError:
    """Return the complaint about two weights of one edge, with the line of the second."""
    source, stored, pieces, _ = reading
    # A matrix is looked through for entries that are repeated before it is taken as undirected.
    ways = (False, True) if source.matrix else (not directed,)
    for both_directions in ways:
        found = find_conflict(comm, error, stored, reading.size, dictionary, both_directions)
        if found is not None:
            break
    assert found is not None
    line = pieces.line(found.piece, found.row)
    clash = ConflictingWeightsError(*found.labels, *found.weights, 0, 1)
    return conflict(source.path, clash, line).shared()
