"""Embeddings in files: the suffix of a name says the format."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np

from ogg_hpc.embedding.embedding import (
    MATRICES,
    Embedding,
    EmbeddingHeader,
    EmbeddingWriter,
    node_labels,
)
from ogg_hpc.embedding.formats.hdf5 import read_hdf5, write_hdf5
from ogg_hpc.embedding.formats.npy import read_npy, vocabulary_path, write_npy
from ogg_hpc.embedding.formats.word2vec import (
    check_word2vec_labels,
    read_binary,
    read_text,
    write_binary,
    write_text,
)
from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.graphs.graph import Labels
from ogg_hpc.runtime.files import check_writable

__all__ = [
    "Embedding",
    "EmbeddingHeader",
    "EmbeddingWriter",
    "check_labels",
    "check_output",
    "holds_both",
    "open_writer",
    "read_embedding",
]

_STORE = (".h5", ".hdf5")
# The others hold one matrix each.
_WRITERS = {".txt": write_text, ".vec": write_text, ".bin": write_binary, ".npy": write_npy}
_READERS = {
    **dict.fromkeys(_STORE, read_hdf5),
    ".txt": read_text,
    ".vec": read_text,
    ".bin": read_binary,
    ".npy": read_npy,
}


def check_output(path: str | Path, matrix: str | None = None) -> None:
    """Find out that an embedding cannot be written before hours of work are spent on it.

    Parameters
    ----------
    path
        The file.
    matrix
        As for `open_writer`.

    Raises
    ------
    SettingsError
        A suffix of no format, or one matrix for a format that holds both.
    InputError
        The folder cannot be made or written.
    """
    suffix = _suffix(path)
    if matrix is not None and matrix not in MATRICES:
        raise SettingsError(f"the matrices are {' and '.join(MATRICES)}, not {matrix!r}")
    if holds_both(path) and matrix is not None:
        raise SettingsError(f"{path} holds both matrices; --matrix is for .txt, .vec, .bin, .npy")
    check_writable(path)
    if suffix == ".npy":
        check_writable(vocabulary_path(path))


def holds_both(path: str | Path) -> bool:
    """Return whether the format of a file holds both matrices."""
    return _suffix(path) in _STORE


def check_labels(path: str | Path, labels: Labels | None) -> None:
    """Find out that the format of a file cannot hold the names of the nodes.

    Raises
    ------
    SettingsError
        A label with white space in a format of word2vec.
    """
    if labels is not None and _suffix(path) in (".txt", ".vec", ".bin"):
        check_word2vec_labels(path, labels)


def open_writer(
    path: str | Path,
    header: EmbeddingHeader,
    labels: Labels | None,
    matrix: str | None = None,
) -> AbstractContextManager[EmbeddingWriter]:
    """Return a context manager with a writer; the file appears whole or not at all.

    Call it on one rank, and hand over ``writer.matrices`` in turn, each in blocks of rows::

        with open_writer(path, header, labels) as writer:
            for matrix in writer.matrices:
                for lo in range(0, header.nodes, writer.block_rows):
                    writer.append(matrix, rows_of(matrix, lo, lo + writer.block_rows))

    Parameters
    ----------
    path
        The file; an existing one is replaced. Its suffix says the format: ``.h5``, word2vec's text
        (``.txt``, ``.vec``) and binary (``.bin``), or ``.npy`` with a ``.vocab.tsv`` beside it.
    header
        What it will hold.
    labels
        (N,) names of the nodes; None means 0, 1, …, N - 1.
    matrix
        Which of the matrices, in a format that holds one: ``vectors`` by default.

    Raises
    ------
    SettingsError
        As of `check_output` and `check_labels`, or a matrix that the header has not.
    InputError
        It cannot be written, or the disk is full.
    """
    suffix, names = _suffix(path), node_labels(labels, header.nodes)
    if suffix in _STORE:
        return write_hdf5(path, header, names)
    matrix = matrix or "vectors"
    if matrix not in header.matrices:
        raise SettingsError(f"this embedding has no {matrix}, only {' and '.join(header.matrices)}")
    return _WRITERS[suffix](path, header, names, matrix)


def read_embedding(path: str | Path) -> Embedding:
    """Read an embedding in any format that `open_writer` writes; other programs' too.

    Raises
    ------
    SettingsError
        A suffix of no format.
    InputError
        The file is missing, damaged, foreign, or of an unknown format version; it names a node
        twice, or has a number that is not finite.
    """
    embedding = _READERS[_suffix(path)](path)
    labels, counts = np.unique(embedding.labels, return_counts=True)
    if (counts > 1).any():
        raise InputError(path, f"names node {labels[counts > 1][0]} twice; which vector is meant?")
    for rows in (embedding.vectors, embedding.context):
        if rows is not None and not (finite := np.isfinite(rows).all(axis=1)).all():
            node = embedding.labels[np.argmin(finite)]
            raise InputError(path, f"the vector of node {node} is not finite; train it again")
    return embedding


def _suffix(path: str | Path) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in _READERS:
        known = ", ".join(_READERS)
        raise SettingsError(f"{path}: the suffix says the format of an embedding; use {known}")
    return suffix
