"""Copies of a stored embedding in the formats of other programs."""

from __future__ import annotations

from pathlib import Path

from ogg_hpc.embedding.formats.hdf5 import EmbeddingFile
from ogg_hpc.embedding.store import check_output, open_writer


def export_embedding(
    source: str | Path, path: str | Path, matrix: str | None = None
) -> tuple[int, int]:
    """Copy an EMB.h5 to another format, a block of rows at a time.

    Parameters
    ----------
    source
        An EMB.h5.
    path, matrix
        As for `ogg_hpc.embedding.store.open_writer`.

    Returns
    -------
    int, int
        Numbers of rows and of columns.

    Raises
    ------
    InputError
        The source cannot be read, or the file cannot be written.
    SettingsError
        The format cannot hold it; see `open_writer`.
    """
    check_output(path, matrix)
    with (
        EmbeddingFile(source) as file,
        open_writer(path, file.header, file.labels(), matrix) as writer,
    ):
        header = file.header
        for name in writer.matrices:
            for lo in range(0, header.nodes, writer.block_rows):
                hi = min(lo + writer.block_rows, header.nodes)
                writer.append(name, file.rows(name, lo, hi))
    return header.nodes, header.dim
