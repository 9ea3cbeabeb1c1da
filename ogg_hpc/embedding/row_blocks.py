"""Rows of all ranks on their way to a file of rank 0, and back, in blocks of bounded size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.embedding.embedding import BLOCK_BYTES
from ogg_hpc.errors import InputError
from ogg_hpc.graphs.store_format import CHUNK_BYTES
from ogg_hpc.runtime.communicator import Communicator

Rows = NDArray[np.float32]
T = TypeVar("T")


class Block(NamedTuple):
    """Consecutive rows of a matrix.

    Attributes
    ----------
    matrix : str
        Its name.
    shape : (int, int)
        Of the whole matrix.
    rows : (k, D) float32
        The next of its rows; None on ranks other than 0.
    """

    matrix: str
    shape: tuple[int, int]
    rows: Rows | None


def bounds(n: int, dim: int) -> Iterator[tuple[int, int]]:
    """Yield the bounds of consecutive blocks of rows, of about `BLOCK_BYTES` each.

    They are whole chunks of an HDF5 file of such rows.
    """
    size = max(1, CHUNK_BYTES // (4 * dim)) * (BLOCK_BYTES // CHUNK_BYTES)
    for lo in range(0, n, size):
        yield lo, min(lo + size, n)


def hand_to_root(
    comm: Communicator, gathered: Iterator[T], take: Callable[[Iterator[T]], None]
) -> None:
    """Let rank 0 take what all ranks gather, one piece after the other (collective).

    Parameters
    ----------
    comm
        The ranks.
    gathered
        Gathers the next piece (collective).
    take
        Takes the pieces, on rank 0. Where it fails, the rest is gathered all the same, and its
        error raised on all ranks.
    """

    def on_root() -> None:
        try:
            take(gathered)
        finally:
            _exhaust(gathered)

    if comm.rank != 0:
        _exhaust(gathered)
    comm.on_root(on_root)


def _exhaust(iterator: Iterator[object]) -> None:
    for _ in iterator:
        pass


def write_rows(folder: Path, blocks: Iterator[Block]) -> None:
    """Write matrices, one after the other, to a ``.npy`` file each, named after it."""
    for (matrix, shape), parts in groupby(blocks, key=lambda block: (block.matrix, block.shape)):
        with open(_path(folder, matrix), "wb") as stream:
            header = {"descr": "<f4", "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(stream, header)
            for part in parts:
                stream.write(np.ascontiguousarray(part.rows, "<f4").data)


def open_rows(folder: Path, matrix: str) -> Rows:
    """Return a matrix that `write_rows` wrote, whose rows are read when they are asked for.

    Raises
    ------
    InputError
        It cannot be read.
    """
    path = _path(folder, matrix)
    try:
        rows: Rows = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise InputError(path, f"cannot be read: {error}") from None
    return rows


def _path(folder: Path, matrix: str) -> Path:
    return folder / f"{matrix}.npy"
