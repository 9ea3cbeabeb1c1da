"""EMB.h5: both matrices, the labels and the settings of an embedding in one HDF5 file.

``vectors`` and, unless the method has none, ``context`` are (N, D) float32, row i being node i.
Labels are kept as in stores of graphs: ``labels`` (N,) int64 where they are integers, else
``label_offsets`` (N + 1,) int64 and ``label_bytes`` uint8. Attributes say the rest; see
``docs/embedding.md``. Every chunk carries a checksum, and so do the attributes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from ogg_hpc.embedding.embedding import (
    MATRICES,
    Embedding,
    EmbeddingHeader,
    EmbeddingWriter,
)
from ogg_hpc.errors import InputError
from ogg_hpc.graphs.graph import Labels
from ogg_hpc.graphs.hdf5_attributes import (
    check_attributes,
    open_hdf5,
    read_attributes,
    write_attributes,
)
from ogg_hpc.graphs.hdf5_output import hdf5_output
from ogg_hpc.graphs.names import Names
from ogg_hpc.graphs.store_file import bad_chunks, chunk_message
from ogg_hpc.graphs.store_format import CHUNK_BYTES, LIBVER, create_dataset
from ogg_hpc.runtime.files import write_whole

FORMAT = "ogg-hpc-embedding"
VERSION = 1


@contextmanager
def write_hdf5(
    path: str | Path, header: EmbeddingHeader, labels: Labels
) -> Iterator[EmbeddingWriter]:
    """Yield a writer of an EMB.h5 that appears when the block ends without an error.

    Parameters
    ----------
    path
        The file; an existing one is replaced.
    header
        What it will hold.
    labels
        (N,) names of the nodes.

    Raises
    ------
    InputError
        It cannot be written, or the disk is full.
    """
    with (
        write_whole(path) as temporary,
        hdf5_output(temporary, libver=LIBVER) as (file, check),
    ):
        writer = _Writer(file, header, check)
        kind = _write_labels(file, labels)
        yield writer
        writer.close()
        write_attributes(
            file,
            {
                "format": FORMAT,
                "version": VERSION,
                "nodes": header.nodes,
                "dim": header.dim,
                "directed": header.directed,
                "matrices": ",".join(header.matrices),
                "label_kind": kind,
                "settings": json.dumps(dict(header.settings), sort_keys=True),
                "provenance": json.dumps(dict(header.provenance), sort_keys=True),
            },
        )


class _Writer(EmbeddingWriter):
    def __init__(self, file: h5py.File, header: EmbeddingHeader, check: Callable[[], None]) -> None:
        super().__init__(header, header.matrices)
        self._file, self._check = file, check
        rows = min(max(1, CHUNK_BYTES // (4 * header.dim)), max(1, header.nodes))
        # Blocks of whole chunks, each of which is written once.
        self.block_rows = max(rows, self.block_rows // rows * rows)
        for name in header.matrices:
            file.create_dataset(
                name,
                shape=(header.nodes, header.dim),
                # HDF5 wants no chunk longer than a dataset that does not grow.
                maxshape=(None, header.dim) if header.nodes == 0 else None,
                dtype=np.float32,
                chunks=(rows, header.dim),
                fletcher32=True,  # not compressed: digits of vectors are noise
                track_times=False,
            )

    def _append(self, matrix: str, first: int, rows: NDArray[np.float32]) -> None:
        self._file[matrix][first : first + len(rows)] = rows
        self._check()


def _write_labels(file: h5py.File, labels: Labels) -> str:
    if np.issubdtype(labels.dtype, np.integer):
        _write_array(file, "labels", np.asarray(labels, np.int64))
        return "integer"
    names = Names.from_strings(labels.tolist())
    _write_array(file, "label_offsets", names.offsets)
    _write_array(file, "label_bytes", names.bytes)
    return "text"


def _write_array(file: h5py.File, name: str, values: NDArray[Any]) -> None:
    create_dataset(file, name, values.dtype, len(values))[:] = values


class EmbeddingFile:
    """An open EMB.h5.

    Attributes
    ----------
    header : EmbeddingHeader

    Raises
    ------
    InputError
        A missing, truncated, damaged or foreign file, or an unknown format version.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._file = open_hdf5(self._path)
        try:
            self._open()
        except BaseException:
            self._file.close()
            raise

    def _open(self) -> None:
        stored = read_attributes(self._file, self._path)
        if stored.get("format") != FORMAT:
            raise InputError(self._path, f"is an HDF5 file but no embedding of format {FORMAT!r}")
        if stored.get("version") != VERSION:
            raise InputError(
                self._path,
                f"has format version {stored.get('version')}, this program reads version "
                f"{VERSION}; a newer ogg-hpc may read it",
            )
        stored = check_attributes(stored, self._path)
        self.header = EmbeddingHeader(
            stored["nodes"],
            stored["dim"],
            stored["directed"],
            tuple(stored["matrices"].split(",")),
            json.loads(stored["settings"]),
            json.loads(stored["provenance"]),
        )
        self._label_kind = stored["label_kind"]

    def __enter__(self) -> EmbeddingFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def labels(self) -> Labels:
        """Return the (N,) names of the nodes, int64 or str."""
        if self._label_kind == "integer":
            return self._array("labels")
        names = Names(self._array("label_bytes"), self._array("label_offsets"))
        return np.array(names.to_strings(), dtype=np.str_)

    def rows(self, matrix: str, lo: int = 0, hi: int | None = None) -> NDArray[np.float32]:
        """Return rows lo … hi - 1 of a matrix of the header, all by default."""
        return self._array(matrix, lo, hi)

    def _array(self, name: str, lo: int = 0, hi: int | None = None) -> NDArray[Any]:
        try:
            dataset = self._file[name]
        except (KeyError, RuntimeError) as error:
            raise InputError(self._path, f"dataset {name!r} is missing or damaged") from error
        hi = len(dataset) if hi is None else hi
        try:
            return np.asarray(dataset[lo:hi])
        except OSError as error:
            for chunk in bad_chunks(dataset, lo, hi):
                raise InputError(self._path, chunk_message(name, dataset, chunk)) from error
            raise InputError(self._path, f"dataset {name!r}: {error}") from error


def read_hdf5(path: str | Path) -> Embedding:
    """Return the content of an EMB.h5; errors as of `EmbeddingFile`."""
    with EmbeddingFile(path) as file:
        matrices = {name: file.rows(name) for name in MATRICES if name in file.header.matrices}
        return Embedding(
            matrices["vectors"],
            matrices.get("context"),
            file.labels(),
            file.header.settings,
            file.header.provenance,
            file.header.directed,
        )
