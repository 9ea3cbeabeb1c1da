"""MATLAB ``.mat`` files, as the data sets of network embedding use them."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import scipy.io
import scipy.sparse

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.readers.scipy_npz import graph_of_matrix

# Names after the MAT-file format documentation, mi… for stored data and mx… for arrays.
_INT8, _INT32, _UINT32, _MATRIX, _COMPRESSED = 1, 5, 6, 14, 15
_NUMBERS = {1, 2, 3, 4, 5, 6, 7, 9, 12, 13}
_MX_SPARSE, _MX_NUMERIC = 5, range(6, 16)
_COMPLEX_FLAG = 0x0800


def read(path: Path, data: bytes, directed: bool | None) -> Graph:
    """Read the adjacency matrix ``network``, or else the only sparse matrix of the file.

    Labels are 0 … n - 1.
    """
    variables = read_variables(path, data)
    sparse = [name for name, value in variables.items() if scipy.sparse.issparse(value)]
    name = "network" if "network" in variables else sparse[0] if len(sparse) == 1 else None
    if name is None:
        found = ", ".join(key for key in variables if not key.startswith("__")) or "nothing"
        raise InputError(
            path, f"expected a matrix 'network', or a single sparse matrix; found {found}"
        )
    matrix = variables[name]
    if not scipy.sparse.issparse(matrix):
        try:
            matrix = scipy.sparse.coo_array(matrix)
        except (TypeError, ValueError):
            raise InputError(path, f"'{name}' is not a matrix of numbers") from None
    return graph_of_matrix(path, matrix, directed)


def read_variables(path: Path, data: bytes) -> dict[str, Any]:
    """Return the matrices of real numbers of a file, by name.

    Raises
    ------
    InputError
        A damaged file, or one of another version than 4 to 7.
    """
    try:
        # Version 4 has a zero among its first four bytes, later ones have text there.
        names = None if b"\0" in data[:4] else list(_numeric_variables(data))
        variables: dict[str, Any] = scipy.io.loadmat(io.BytesIO(data), variable_names=names)
    except NotImplementedError:
        raise InputError(path, "a MATLAB 7.3 file; save it in MATLAB with the option -v7") from None
    except Exception as error:
        # A damaged file raises what the layers below happen to meet.
        raise InputError(path, f"expected a MATLAB file of version 4 to 7 ({error})") from None
    return variables


def _numeric_variables(data: bytes) -> Iterator[str]:
    """Yield the names of the numeric arrays of a version 5 file whose tags are sound.

    SciPy trusts the tags, and damaged ones crash the interpreter; so they are walked before.

    Raises
    ------
    ValueError, struct.error, zlib.error
        A damaged file.
    NotImplementedError
        A file of version 7.3.
    """
    order = {b"IM": "<", b"MI": ">"}.get(data[126:128])
    if order is None:
        raise ValueError("no mark of the byte order")
    if data[125 if order == "<" else 124] != 1:
        raise NotImplementedError
    at = 128
    while at < len(data):
        kind, size = struct.unpack_from(order + "II", data, at)
        body = _slice(data, at + 8, size)
        at += 8 + size
        if kind == _COMPRESSED:
            body = zlib.decompress(body)
            kind, size = struct.unpack_from(order + "II", body)
            body = _slice(body, 8, size)
        if kind != _MATRIX:
            raise ValueError(f"a variable of unknown type {kind}")
        name = _numeric_array_name(body, order)
        if name is not None:
            yield name


def _numeric_array_name(body: bytes, order: str) -> str | None:
    """Return the name of an array, None if it is no full or sparse array of real numbers."""
    elements = _elements(body, order)
    kind, data = next(elements, (0, b""))
    if kind != _UINT32 or len(data) != 8:
        raise ValueError("a damaged header of a variable")
    (flags,) = struct.unpack_from(order + "I", data)
    array_class = flags & 0xFF
    if flags & _COMPLEX_FLAG or not (array_class == _MX_SPARSE or array_class in _MX_NUMERIC):
        return None
    (dimensions, _), (kind, name) = next(elements, (0, b"")), next(elements, (0, b""))
    if (dimensions, kind) != (_INT32, _INT8):
        raise ValueError("a damaged header of a variable")
    stored = [kind for kind, _ in elements]
    if len(stored) != (3 if array_class == _MX_SPARSE else 1) or not _NUMBERS.issuperset(stored):
        raise ValueError("a damaged variable")
    return name.decode("latin-1")


def _elements(body: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """Yield type and data of the parts of an array."""
    at = 0
    while at < len(body):
        (word,) = struct.unpack_from(order + "I", body, at)
        if word >> 16:
            # Up to four bytes of data share the eight bytes of the tag.
            if word >> 16 > 4:
                raise ValueError("a damaged tag")
            yield word & 0xFFFF, _slice(body, at + 4, word >> 16)
            at += 8
        else:
            kind, size = struct.unpack_from(order + "II", body, at)
            yield kind, _slice(body, at + 8, size)
            at += 8 + -(-size // 8) * 8


def _slice(data: bytes, start: int, size: int) -> bytes:
    if start + size > len(data):
        raise ValueError("cut off")
    return data[start : start + size]
