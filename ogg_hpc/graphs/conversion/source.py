"""Text of any size as pieces of whole lines.

A plain file is cut into ranges of bytes that ranks read by themselves. What can only be read from
its start, a compressed file or one in UTF-16, is read by rank 0, which hands the pieces out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.conversion.piece import Block
from ogg_hpc.graphs.readers.files import is_plain, read_text_blocks, reading
from ogg_hpc.runtime.communicator import Communicator

LINE_END = re.compile(rb"\r\n?|\n")
_STEP = 1 << 16


def deal(
    comm: Communicator,
    count: int,
    wanted: Callable[[int], bool],
    read: Callable[[int], Callable[[], Any]],
) -> Iterator[Block | None]:
    """Yield in each round this rank's next piece of `count`, or None.

    Parameters
    ----------
    wanted
        As for `Input.rounds`.
    read
        Returns what reads a piece, given its number.
    """
    for number in range(comm.rank, count + (-count) % comm.size, comm.size):
        mine = number < count and wanted(number)
        yield Block(number, read(number)) if mine else None


class PlainText:
    """A file of which any place can be read.

    A piece is the lines that start in a range of `size` bytes. Where a line is longer than that,
    the pieces in which no line starts are empty.

    Parameters
    ----------
    path
        The file.
    mark
        Bytes of the byte-order mark before its text.
    """

    def __init__(self, path: Path, mark: int) -> None:
        self.path = path
        self._mark = mark

    def head(self, size: int) -> tuple[bytes, bool]:
        """Return the first `size` bytes of the text, and whether they are all of it."""
        with reading(self.path), self.path.open("rb") as file:
            file.seek(self._mark)
            data = file.read(size + 1)
        return data[:size], len(data) <= size

    def rounds(
        self, comm: Communicator, start: int, size: int, wanted: Callable[[int], bool]
    ) -> Iterator[Block | None]:
        """Yield this rank's next piece of the text from a line's start on (collective).

        See `Input.rounds`. A block is read when its `read` is called, on its rank alone.

        Raises
        ------
        InputError
            Ranks see files of other sizes: the file grows, or each host has its own.
        """
        origin = self._mark + start
        count = max(1, -(-(self._size_everywhere(comm) - origin) // size))

        def read(number: int) -> Callable[[], bytes]:
            low = origin + number * size
            return partial(self._lines, low, low + size, first=number == 0)

        return deal(comm, count, wanted, read)

    def _size_everywhere(self, comm: Communicator) -> int:
        def measure() -> int:
            with reading(self.path):
                return self.path.stat().st_size

        sizes = comm.gather_objects(comm.on_all(measure))
        if min(sizes) < max(sizes):
            raise InputError(
                self.path,
                f"some ranks see {min(sizes)} bytes, others {max(sizes)}; put the complete file "
                "where all ranks read the same one",
            ).shared()
        return sizes[0]

    def _lines(self, low: int, high: int, *, first: bool) -> bytes:
        """Return the lines that start in a range of bytes, at whose first byte `first` does one."""
        before = 0 if first else 1  # the byte before tells whether a line starts in the first
        with reading(self.path), self.path.open("rb") as file:
            file.seek(low - before)
            data = bytearray(file.read(high - low + before))
            start = 0
            if not first:
                found = LINE_END.search(data)
                start = len(data) if found is None else found.end()
            if start == len(data):
                return b""
            # The last line may go beyond the range.
            searched = len(data) - 1
            while True:
                more = file.read(_STEP)
                data += more
                found = LINE_END.search(data, searched)
                # A CR that ends the bytes so far may be half of a line end.
                if found is not None and (found.end() < len(data) or found[0] != b"\r"):
                    return bytes(data[start : found.end()])
                if not more:
                    return bytes(data[start:])
                searched = len(data) - 1 if found is None else found.start()


class TextStream:
    """A file that has to be read from its start, by rank 0 alone.

    A piece is `size` bytes of its text in UTF-8 and what is left of the line then.

    Parameters
    ----------
    path
        The file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def head(self, size: int) -> tuple[bytes, bool]:
        """Return the first `size` bytes of the text, and whether they are all of it."""
        data = bytearray()
        for block in read_text_blocks(self.path):
            data += block
            if len(data) > size:
                return bytes(data[:size]), False
        return bytes(data), True

    def rounds(
        self, comm: Communicator, start: int, size: int, wanted: Callable[[int], bool]
    ) -> Iterator[Block | None]:
        """Yield this rank's next piece of the text from a line's start on (collective).

        See `Input.rounds`. Rank 0 holds its own piece and the one that it sends.
        """
        pieces = self._pieces(start, size) if comm.rank == 0 else None
        number = comm.rank
        more = True
        while more:
            data: bytes | None
            error = None
            if pieces is None:
                data = comm.receive_object(0)
            else:
                data, error = _next(pieces)
                for rank in range(1, comm.size):
                    given = None
                    if error is None:
                        given, error = _next(pieces)
                    comm.send_object(given, rank)
                    more = given is not None
                more = more and data is not None

            def check(error: InputError | None = error, more: bool = more) -> bool:
                if error is not None:
                    raise error
                return more

            more = comm.on_root(check)
            if data is not None and wanted(number):
                yield Block(number, partial(bytes, data))
            else:
                yield None
            number += comm.size

    def _pieces(self, start: int, size: int) -> Iterator[bytes]:
        rest, empty = bytearray(), True
        searched = size - 1
        for block in read_text_blocks(self.path):
            skipped = min(start, len(block))
            start -= skipped
            rest += block[skipped:]
            while (end := rest.find(b"\n", searched) + 1) > 0:
                yield bytes(rest[:end])
                del rest[:end]
                searched, empty = size - 1, False
            searched = max(size - 1, len(rest))
        if rest or empty:
            yield bytes(rest)


def _next(pieces: Iterator[bytes]) -> tuple[bytes | None, InputError | None]:
    """Return the next piece, or None, and what is wrong with the file."""
    try:
        return next(pieces, None), None
    except InputError as error:
        return None, error


TextSource = PlainText | TextStream


def text_source(path: Path) -> TextSource:
    """Return how the text of a file is read.

    Raises
    ------
    InputError
        A file that is missing or cannot be read.
    """
    plain, mark = is_plain(path)
    return PlainText(path, mark) if plain else TextStream(path)
