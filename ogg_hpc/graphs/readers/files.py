"""Bytes of a file: opened, decompressed and, for text, brought to UTF-8 with LF line ends."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import zlib
from pathlib import Path

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


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, decompressed if it is gzip, bzip2, xz or Zstandard.

    Raises
    ------
    InputError
        A file that is missing, unreadable, empty, a folder or damaged in its compression.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError(path, "no such file; check the path") from None
    except IsADirectoryError:
        raise InputError(path, "this is a folder; name one graph file") from None
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})") from None
    data = _decompress(path, data)
    if not data:
        raise InputError(path, "the file is empty; a graph was expected")
    return data


def _decompress(path: Path, data: bytes) -> bytes:
    try:
        if data.startswith(b"\x1f\x8b"):
            return gzip.decompress(data)
        if data.startswith(b"BZh"):
            return bz2.decompress(data)
        if data.startswith(b"\xfd7zXZ\x00"):
            return lzma.decompress(data)
        if data.startswith(b"\x28\xb5\x2f\xfd"):
            return _decompress_zstandard(data)
    except (
        OSError,
        EOFError,
        ValueError,
        zlib.error,
        lzma.LZMAError,
        zstandard.ZstdError,
    ) as error:
        raise InputError(
            path, f"the compressed file is damaged or cut off ({error}); fetch or write it again"
        ) from None
    return data


def _decompress_zstandard(data: bytes) -> bytes:
    parts = []
    while data:
        frame = zstandard.ZstdDecompressor().decompressobj()
        parts.append(frame.decompress(data))
        if not frame.eof:
            raise EOFError("end of file inside a frame")
        data = frame.unused_data
    return b"".join(parts)


def decode(path: Path, data: bytes) -> bytes:
    """Return text as UTF-8 bytes without a byte-order mark and with LF line ends.

    Raises
    ------
    InputError
        Bytes that are no text.
    """
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            try:
                data = data.decode(encoding).encode()
            except UnicodeError as error:
                raise InputError(path, f"damaged {encoding} text ({error})") from None
            break
    if b"\0" in data:
        raise InputError(path, "a binary file of no known graph format; see --format")
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise InputError(path, "not UTF-8 text; save it as UTF-8", line) from None
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data
