"""The formats of word2vec, text and binary: what ``KeyedVectors.load_word2vec_format`` reads.

Both begin with a line ``N D``. Then each row has the label, a blank and D numbers: in text with
blanks between them, in binary as little-endian float32 with a line feed behind.

A label with a blank or a line break would be read as something else, so it is refused.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, RawIOBase
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.embedding.embedding import Embedding, EmbeddingHeader, EmbeddingWriter
from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.graphs.graph import Labels
from ogg_hpc.runtime.files import write_block, write_whole

_FLOAT = np.dtype("<f4")


def check_word2vec_labels(path: str | Path, labels: Labels) -> None:
    """Find out that word2vec's formats cannot hold a label.

    Raises
    ------
    SettingsError
        It is empty or has a blank, a tab, a line break or other white space in it.
    """
    if np.issubdtype(labels.dtype, np.integer):
        return
    for node, label in enumerate(labels.tolist()):
        if label.split() != [label]:
            raise SettingsError(
                f"{path}: node {node} is called {label!r}, but a name in word2vec's formats is not "
                "empty and has no white space; write .h5, or .npy with its .vocab.tsv"
            )


@contextmanager
def write_text(
    path: str | Path, header: EmbeddingHeader, labels: Labels, matrix: str
) -> Iterator[EmbeddingWriter]:
    """Yield a writer of one matrix in word2vec's text format, as `write_hdf5` does.

    Numbers have nine digits, which give the same float32 back.

    Raises
    ------
    SettingsError
        A label that the format cannot hold.
    """
    with _write(_TextWriter, path, header, labels, matrix) as writer:
        yield writer


@contextmanager
def write_binary(
    path: str | Path, header: EmbeddingHeader, labels: Labels, matrix: str
) -> Iterator[EmbeddingWriter]:
    """Yield a writer of one matrix in word2vec's binary format, as `write_text` does."""
    with _write(_BinaryWriter, path, header, labels, matrix) as writer:
        yield writer


@contextmanager
def _write(
    kind: type[_Writer], path: str | Path, header: EmbeddingHeader, labels: Labels, matrix: str
) -> Iterator[EmbeddingWriter]:
    check_word2vec_labels(path, labels)
    with write_whole(path) as temporary, open(temporary, "wb", buffering=0) as stream:
        writer = kind(stream, path, header, labels, matrix)
        yield writer
        writer.close()


class _Writer(EmbeddingWriter):
    def __init__(
        self,
        stream: RawIOBase,
        path: str | Path,
        header: EmbeddingHeader,
        labels: Labels,
        matrix: str,
    ) -> None:
        super().__init__(header, (matrix,))
        self._stream, self._path, self._labels = stream, path, labels
        write_block(stream, f"{header.nodes} {header.dim}\n".encode(), path)

    def _append(self, matrix: str, first: int, rows: NDArray[np.float32]) -> None:
        labels = map(str, self._labels[first : first + len(rows)].tolist())
        block = b"".join(map(self._row, labels, rows))
        write_block(self._stream, block, self._path)

    @abstractmethod
    def _row(self, label: str, row: NDArray[np.float32]) -> bytes:
        """Return what the file has for one node."""


class _TextWriter(_Writer):
    def _row(self, label: str, row: NDArray[np.float32]) -> bytes:
        return (label + " %.9g" * len(row) % tuple(row.tolist()) + "\n").encode()


class _BinaryWriter(_Writer):
    def _row(self, label: str, row: NDArray[np.float32]) -> bytes:
        return b"%b %b\n" % (label.encode(), row.astype(_FLOAT).tobytes())


def read_text(path: str | Path) -> Embedding:
    """Return the vectors and labels of a file in word2vec's text format.

    Raises
    ------
    InputError
        There is none, or a line does not fit.
    """
    with _opened(path) as stream:
        nodes, dim = _read_header(stream, path)
        vectors = np.empty((nodes, dim), dtype=np.float32)
        labels = []
        for row in range(nodes):
            label, *numbers = stream.readline().rstrip(b"\r\n ").split(b" ")
            if len(numbers) != dim:
                message = f"has {len(numbers)} numbers instead of {dim}"
                raise InputError(path, message, row + 2)
            try:
                vectors[row] = [float(number) for number in numbers]
                labels.append(label.decode())
            except ValueError as error:
                raise InputError(path, str(error), row + 2) from None
        if stream.read(1):
            raise InputError(path, f"has more than the {nodes} rows that its first line states")
    return Embedding(vectors, None, labels_of_texts(labels))


def read_binary(path: str | Path) -> Embedding:
    """Return the vectors and labels of a file in word2vec's binary format, as `read_text` does."""
    with _opened(path) as stream:
        nodes, dim = _read_header(stream, path)
        content = stream.read()
    vectors = np.empty((nodes, dim), dtype=np.float32)
    labels, place, size = [], 0, dim * _FLOAT.itemsize
    for row in range(nodes):
        blank = content.find(b" ", place)
        if blank < 0 or blank + 1 + size > len(content):
            raise InputError(path, f"ends within row {row} of {nodes}; get or write it again")
        try:
            # Some programs write no line feed after a row.
            labels.append(content[place:blank].lstrip(b"\n").decode())
        except UnicodeDecodeError as error:
            raise InputError(path, f"row {row} has no name in UTF-8 ({error})") from None
        vectors[row] = np.frombuffer(content, _FLOAT, dim, blank + 1)
        place = blank + 1 + size
    if content[place:].strip(b"\n"):
        raise InputError(path, f"has more than the {nodes} rows that its first line states")
    return Embedding(vectors, None, labels_of_texts(labels))


def _opened(path: str | Path) -> BufferedReader:
    try:
        return open(path, "rb")
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}") from None


def _read_header(stream: BufferedReader, path: str | Path) -> tuple[int, int]:
    """Return N and D of the first line."""
    words = stream.readline(64).split()
    if len(words) != 2 or not all(word.isdigit() for word in words) or int(words[1]) == 0:
        raise InputError(path, "does not begin with a line 'N D' as word2vec's formats do", 1)
    return int(words[0]), int(words[1])


def labels_of_texts(texts: list[str]) -> Labels:
    """Return labels as int64 where all are integers as Python writes them, else as they are."""
    try:
        integers = np.array([int(text) for text in texts], dtype=np.int64)
    except (ValueError, OverflowError):
        return np.array(texts, dtype=np.str_)
    if list(map(str, integers.tolist())) != texts:
        return np.array(texts, dtype=np.str_)
    return integers
