"""The conversion of an input that comes in pieces: parse, number, sort."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from signal import Signals
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import InputError, StoppedError
from ogg_hpc.graphs.building.build import build_store
from ogg_hpc.graphs.building.edges import ConflictingEdgesError
from ogg_hpc.graphs.conversion.blocks import PieceBlocks
from ogg_hpc.graphs.conversion.conflict import find_conflict
from ogg_hpc.graphs.conversion.dictionary import Dictionary, build_dictionary
from ogg_hpc.graphs.conversion.inputs import Input, Pieces
from ogg_hpc.graphs.conversion.piece import Piece, WholeFileError, WiderDialectError
from ogg_hpc.graphs.conversion.request import Converted, Request
from ogg_hpc.graphs.conversion.sorted_labels import Labels
from ogg_hpc.graphs.conversion.stored_pieces import StoredPieces
from ogg_hpc.graphs.graph import ConflictingWeightsError
from ogg_hpc.graphs.readers.build import conflict
from ogg_hpc.graphs.readers.dispatch import no_directions
from ogg_hpc.runtime.clock import Clock
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.files import sha256_of_file
from ogg_hpc.runtime.parts import Parts
from ogg_hpc.runtime.progress import progress_bar

Stop = Callable[[], Signals | None]


def never() -> None:
    """Return that no signal has come."""


def convert_in_pieces(
    comm: Communicator,
    request: Request,
    source: Input,
    directed: bool | None,
    parts: Parts,
    memory: int,
    stop: Stop,
) -> Converted | None:
    """Convert an input, or return None where only a reader of the whole file can (collective).

    Parameters
    ----------
    comm, request, memory, stop
        As for `convert`.
    source
        The input.
    directed
        True or False where the user says how to read it.
    parts
        Finished parts of this conversion.

    Raises
    ------
    OggError
        As by `convert`.
    """
    clock = Clock(comm, "read", "number", "sort")

    def go_on() -> None:
        signal = stop()
        if signal is not None:
            raise StoppedError(f"stopped by {signal.name}: the same command goes on from here")

    if directed and source.symmetric:
        raise no_directions(request.source).shared()
    digest = _Digest(comm, request.source)
    with clock("read"):
        reading = _read(comm, request, source, parts, go_on)
        if reading is None:
            return None
        source, stored, pieces, warnings = reading
        count = len(pieces.summaries)
        mine = range(comm.rank, count, comm.size)
        weighted = any(comm.gather_objects(any(stored.is_weighted(number) for number in mine)))
        attributes = {
            "source": request.source.name,
            "source_sha256": digest.value(),
            **request.attributes,
        }

    with clock("number"):
        dictionary: Dictionary | None = None
        labels: Labels | None
        if source.nodes is not None:
            nodes, labels = source.nodes, _one_based(comm, source.nodes)
        else:
            dictionary = build_dictionary(comm, count, stored.labels, memory)
            nodes, labels = dictionary.nodes, dictionary.segment

    with clock("sort"), progress_bar(comm, "sorting", 300) as update:

        def report(done: int, total: int) -> None:
            go_on()
            update(done, "")

        try:
            built = build_store(
                comm,
                request.output,
                nodes,
                PieceBlocks(stored, count, dictionary, weighted),
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
            raise _conflict(comm, error, reading, dictionary, directed).shared() from None
    return Converted(built, False, warnings, clock.report())


class _Reading(NamedTuple):
    """An input that has been read to its end."""

    source: Input
    stored: StoredPieces
    pieces: Pieces
    warnings: tuple[str, ...]


def _read(
    comm: Communicator,
    request: Request,
    source: Input,
    parts: Parts,
    go_on: Callable[[], None],
) -> _Reading | None:
    """Parse all pieces that are not there yet; None where the file must be read as a whole."""

    def keep(stored: StoredPieces, numbered: tuple[int, Piece] | None) -> None:
        if numbered is not None:
            stored.write(*numbered)
        go_on()

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
            return _Reading(source, stored, pieces, warnings)
        except WiderDialectError as error:
            if known is None:
                comm.on_root(partial(stored.write_wider, error))
            source = source.wider(error)
            stored = stored.next_reading()
        except WholeFileError:
            return None


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
    reading: _Reading,
    dictionary: Dictionary | None,
    directed: bool | None,
) -> InputError:
    """Return the complaint about two weights of one edge, with the line of the second."""
    source, stored, pieces, _ = reading
    # A matrix is looked through for entries that are repeated before it is taken as undirected.
    ways = (False, True) if source.matrix else (not directed,)
    for both_directions in ways:
        found = find_conflict(
            comm, error, stored, len(pieces.summaries), dictionary, both_directions
        )
        if found is not None:
            break
    assert found is not None
    line = pieces.line(found.piece, found.row)
    clash = ConflictingWeightsError(*found.labels, *found.weights, 0, 1)
    return conflict(source.path, clash, line).shared()


class _Digest:
    """The SHA-256 of a file, computed by rank 0 while it goes on with its work."""

    def __init__(self, comm: Communicator, path: Path) -> None:
        self._comm, self._path = comm, path
        self._found: str | OSError | None = None
        # A daemon does not keep a job alive that has failed.
        self._thread = threading.Thread(target=self._compute, args=(path,), daemon=True)
        if comm.rank == 0:
            self._thread.start()

    def _compute(self, path: Path) -> None:
        try:
            self._found = sha256_of_file(path)
        except OSError as error:
            self._found = error

    def value(self) -> str:
        """Return the digest on all ranks, when it is there (collective)."""

        def wait() -> str:
            self._thread.join()
            if isinstance(self._found, str):
                return self._found
            raise InputError(self._path, f"cannot be read ({self._found})")

        return self._comm.on_root(wait)
