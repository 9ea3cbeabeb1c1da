"""From the vectors of all ranks to the file of an embedding."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ogg_hpc.embedding.embedding import MATRICES, EmbeddingHeader
from ogg_hpc.embedding.row_blocks import Block, Rows, bounds, hand_to_root
from ogg_hpc.embedding.store import open_writer
from ogg_hpc.embedding.trainer import Trainer
from ogg_hpc.errors import OggError
from ogg_hpc.graphs.graph import Labels
from ogg_hpc.runtime.communicator import Communicator


def write_output(
    comm: Communicator,
    path: Path,
    trainers: list[Trainer],
    header: EmbeddingHeader,
    labels: Labels | None,
) -> None:
    """Write the vectors, in bounded memory (collective).

    Parameters
    ----------
    comm
        All ranks.
    path
        The file.
    trainers
        The models. The vectors of two are put side by side, each scaled to length 1.
    header
        What is known of the embedding.
    labels
        Names of the nodes, on rank 0.

    Raises
    ------
    InputError
        It cannot be written.
    OggError
        The last batches have led vectors out of the finite numbers.
    """

    def write(blocks: Iterator[Block]) -> None:
        with open_writer(path, header, labels) as writer:
            for block in blocks:
                if block.matrix in writer.matrices:
                    assert block.rows is not None
                    _check_finite(block.rows)
                    writer.append(block.matrix, block.rows)

    hand_to_root(comm, _blocks(trainers, header), write)


def _check_finite(rows: Rows) -> None:
    if not np.isfinite(rows).all():
        raise OggError(
            "vectors are no longer finite; start again with a smaller --learning-rate or "
            "--batch-pairs"
        )


def matrices_of(trainers: list[Trainer]) -> tuple[str, ...]:
    """Return the matrices of an embedding: there is no context where all models are tied."""
    return tuple(name for name in MATRICES if any(name in t.plan.matrices for t in trainers))


def _blocks(trainers: list[Trainer], header: EmbeddingHeader) -> Iterator[Block]:
    shape = (header.nodes, header.dim)
    for name in header.matrices:
        for lo, hi in bounds(*shape):
            parts = []
            for trainer in trainers:
                # A tied model has the same vectors on both sides.
                own: Any = name if name in trainer.plan.matrices else "vectors"
                parts.append(trainer.strategy.gather(own, lo, hi))
            yield Block(name, shape, _side_by_side(parts))


def _side_by_side(parts: list[Rows | None]) -> Rows | None:
    found = [part for part in parts if part is not None]
    if len(parts) == 1 or not found:
        return parts[0]
    return np.concatenate([_of_length_1(part) for part in found], axis=1)


def _of_length_1(rows: Rows) -> Rows:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Rows = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return scaled
