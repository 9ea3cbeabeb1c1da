r"""A matrix as ``OUT.npy``, and the label of each row on a line of its own in ``OUT.vocab.tsv``.

Any label fits: ``\``, tab, line feed and carriage return are ``\\``, ``\t``, ``\n``, ``\r``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import RawIOBase
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.embedding.embedding import Embedding, EmbeddingHeader, EmbeddingWriter
from ogg_hpc.embedding.formats.word2vec import labels_of_texts
from ogg_hpc.errors import InputError
from ogg_hpc.graphs.graph import Labels
from ogg_hpc.runtime.files import write_block, write_whole

_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_LETTERS = {escape: letter for letter, escape in _ESCAPES.items()}


def vocabulary_path(path: str | Path) -> Path:
    """Return the file of the labels that belongs to an ``.npy``."""
    return Path(path).with_suffix(".vocab.tsv")


@contextmanager
def write_npy(
    path: str | Path, header: EmbeddingHeader, labels: Labels, matrix: str
) -> Iterator[EmbeddingWriter]:
    """Yield a writer of one matrix and its vocabulary, as `write_hdf5` does."""
    vocabulary = "".join(f"{_escaped(str(label))}\n" for label in labels.tolist())
    with (
        write_whole(path) as temporary,
        write_whole(vocabulary_path(path)) as text,
        open(temporary, "wb", buffering=0) as stream,
    ):
        text.write_bytes(vocabulary.encode())
        writer = _Writer(stream, path, header, matrix)
        yield writer
        writer.close()


class _Writer(EmbeddingWriter):
    def __init__(
        self, stream: RawIOBase, path: str | Path, header: EmbeddingHeader, matrix: str
    ) -> None:
        super().__init__(header, (matrix,))
        self._stream, self._path = stream, path
        layout = {"descr": "<f4", "fortran_order": False, "shape": (header.nodes, header.dim)}
        np.lib.format.write_array_header_1_0(stream, layout)

    def _append(self, matrix: str, first: int, rows: NDArray[np.float32]) -> None:
        write_block(self._stream, rows.astype("<f4", copy=False).tobytes(), self._path)


def read_npy(path: str | Path) -> Embedding:
    """Return the matrix and the labels of an ``.npy`` and its vocabulary.

    Raises
    ------
    InputError
        One of the two files is missing, or they do not fit.
    """
    vocabulary = vocabulary_path(path)
    try:
        vectors = np.load(path, allow_pickle=False)
        lines = vocabulary.read_bytes().decode().split("\n")
    except OSError as error:
        raise InputError(error.filename or path, f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(vocabulary, f"is not UTF-8 ({error})") from None
    except (ValueError, EOFError) as error:
        raise InputError(path, f"is no intact .npy file ({error})") from None
    if vectors.ndim != 2 or vectors.dtype.kind != "f":
        raise InputError(path, "holds no matrix of floating-point numbers")
    labels = [_unescaped(line) for line in lines[:-1]]
    if len(labels) != len(vectors):
        raise InputError(
            vocabulary, f"names {len(labels)} nodes, but {path} has {len(vectors)} rows"
        )
    return Embedding(vectors.astype(np.float32, copy=False), None, labels_of_texts(labels))


def _escaped(label: str) -> str:
    return re.sub(r"[\\\t\n\r]", lambda match: _ESCAPES[match[0]], label)


def _unescaped(line: str) -> str:
    return re.sub(r"\\[\\tnr]", lambda match: _LETTERS[match[0]], line)
