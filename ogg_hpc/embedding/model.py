"""What is trained, whatever strategy distributes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.embedding.initial import initial_vectors
from ogg_hpc.embedding.negatives import NegativeSampler
from ogg_hpc.embedding.objective import Objective

Matrix = Literal["vectors", "context"]


@dataclass(frozen=True, eq=False)
class Model:
    """Two matrices of a row for each node, or one, and the loss of a pair of rows.

    Attributes
    ----------
    n
        Number of nodes.
    dim
        Columns of a row.
    tied
        Whether contexts have no rows of their own: ``vectors`` is all there is (LINE of first
        order).
    objective
        Loss of a score.
    negative_sampler
        Draws negatives.
    negative
        Negatives that each pair is weighed against, K.
    shared_negatives
        Negatives that a batch shares, S; with 0 each pair draws its own K.
    row_limit
        Most that a batch's gradients of one row may weigh together, in step sizes.
    seed
        Seed of the initial rows, and of where rows lie.
    """

    n: int
    dim: int
    tied: bool
    objective: Objective
    negative_sampler: NegativeSampler
    negative: int
    shared_negatives: int
    row_limit: float
    seed: int


def initial_rows(
    model: Model, matrix: Matrix, ids: NDArray[Any], columns: range | None = None
) -> NDArray[np.float32]:
    """Return what training starts from in rows of nodes, or in some columns of them."""
    if matrix == "context":
        return np.zeros((len(ids), model.dim if columns is None else len(columns)), np.float32)
    return initial_vectors(ids, model.dim, model.seed, columns)
