"""Bytes of a file: opened, decompressed and, for text, brought to UTF-8 with LF line ends.

All of it goes block by block, so that a file need not fit into memory.
"""

from __future__ import annotations

import bz2
import codecs
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import zstandard

from ogg_hpc.errors import InputError

# Four-byte marks come first: the UTF-32 mark starts with the UTF-16 one.
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# What starts a compressed file, and what decompresses one stream of it.
_COMPRESSIONS: dict[bytes, Callable[[], Any]] = {
    b"\x1f\x8b": lambda: zlib.decompressobj(wbits=31),
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ\x00": lzma.LZMADecompressor,
    b"\x28\xb5\x2f\xfd": lambda: zstandard.ZstdDecompressor().decompressobj(),
}
# Bytes that are enough to tell compressions and encodings by.
_START = 6
_BLOCK = 1 << 20
# A block of a compressed file may become ten thousand times as large.
_COMPRESSED_BLOCK = 1 << 14


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, decompressed if it is gzip, bzip2, xz or Zstandard.

    Raises
    ------
    InputError
        A file that is missing, unreadable, empty, a folder or damaged in its compression.
    """
    data = b"".join(read_blocks(path))
    if not data:
        raise empty(path)
    return data


def empty(path: Path) -> InputError:
    """Return the complaint about a file that holds nothing, to be raised."""
    return InputError(path, "the file is empty; a graph was expected")


def read_blocks(path: Path) -> Iterator[bytes]:
    """Yield the content of a file from its start, decompressed as by `read_bytes`.

    Raises
    ------
    InputError
        As for `read_bytes`, but for a file that is empty.
    """
    with reading(path), path.open("rb") as file:
        start = file.read(_START)
        new = _compression(start)
        size = _BLOCK if new is None else _COMPRESSED_BLOCK
        # Not from the start again: it may be a pipe.
        blocks = chain([start] if start else [], iter(lambda: file.read(size), b""))
        yield from blocks if new is None else _decompress(path, blocks, new)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what the system says about a file into an `InputError`."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(path, "no such file; check the path") from None
    except IsADirectoryError:
        raise InputError(path, "this is a folder; name one graph file") from None
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})") from None


def _compression(start: bytes) -> Callable[[], Any] | None:
    return next((new for magic, new in _COMPRESSIONS.items() if start.startswith(magic)), None)


def _decompress(path: Path, blocks: Iterator[bytes], new: Callable[[], Any]) -> Iterator[bytes]:
    """Yield the content of compressed streams, one after the other."""
    stream = new()
    for block in blocks:
        data = block
        while data:
            try:
                if stream.eof:
                    # Zeros may fill up the last block of a medium.
                    data = data.lstrip(b"\0")
                    if not data:
                        break
                    stream = new()
                content = stream.decompress(data)
            except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
                raise _damaged(path, error) from None
            except zstandard.ZstdError as error:
                raise _damaged(path, error) from None
            yield content
            data = stream.unused_data if stream.eof else b""
    if not stream.eof:
        raise _damaged(path, "it ends within the compressed data")


def _damaged(path: Path, why: object) -> InputError:
    return InputError(
        path, f"the compressed file is damaged or cut off ({why}); fetch or write it again"
    )


def encoding_of(start: bytes) -> tuple[str | None, int]:
    """Return the encoding that the first bytes of a text name, and the size of its mark."""
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if start.startswith(mark):
            return encoding, len(mark)
    return None, 0


def is_plain(path: Path) -> tuple[bool, int]:
    """Return whether any place of a file can be read as it is, and the size of its mark.

    Otherwise it is compressed or in another encoding than UTF-8, and has to be read from its start.
    """
    with reading(path), path.open("rb") as file:
        start = file.read(_START)
    encoding, mark = encoding_of(start)
    return _compression(start) is None and encoding in (None, "utf-8-sig"), mark


def read_text_blocks(path: Path) -> Iterator[bytes]:
    """Yield the content of a text file as `decode` returns it, but for the checks of `as_lines`.

    Raises
    ------
    InputError
        As for `read_blocks`, and for damaged UTF-16 or UTF-32.
    """
    blocks = _decoded(path, read_blocks(path))
    held = b""
    for block in blocks:
        data = held + block
        # A CR at the end may be the first half of a line end.
        held = b"\r" if data.endswith(b"\r") else b""
        yield with_line_feeds(data[: len(data) - len(held)])
    yield with_line_feeds(held)


def _decoded(path: Path, blocks: Iterator[bytes]) -> Iterator[bytes]:
    start = b""
    for block in blocks:
        start += block
        if len(start) >= _START:
            break
    encoding, mark = encoding_of(start)
    if encoding in (None, "utf-8-sig"):
        yield start[mark:]
        yield from blocks
        return
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        yield decoder.decode(start).encode()
        for block in blocks:
            yield decoder.decode(block).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError as error:
        raise _damaged_text(path, encoding, error) from None


def _damaged_text(path: Path, encoding: str, error: UnicodeError) -> InputError:
    why = getattr(error, "reason", error)
    return InputError(path, f"damaged {encoding} text ({why}); save it as UTF-8")


def decode(path: Path, data: bytes) -> bytes:
    """Return text as UTF-8 bytes without a byte-order mark and with LF line ends.

    Raises
    ------
    InputError
        Bytes that are no text.
    """
    encoding, _ = encoding_of(data)
    if encoding is not None:
        try:
            data = data.decode(encoding).encode()
        except UnicodeError as error:
            raise _damaged_text(path, encoding, error) from None
    return as_lines(path, data)


def as_lines(path: Path, data: bytes) -> bytes:
    """Return whole lines of text with LF line ends.

    Raises
    ------
    InputError
        Bytes that are no UTF-8 text.
    """
    if b"\0" in data:
        raise InputError(path, "a binary file of no known graph format; see --format")
    data = with_line_feeds(data)
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise InputError(path, "not UTF-8 text; save it as UTF-8", line) from None
    return data


def with_line_feeds(data: bytes) -> bytes:
    """Return lines with LF as their ends."""
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data
