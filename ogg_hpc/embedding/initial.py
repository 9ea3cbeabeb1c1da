"""The vectors that training starts from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.runtime.random import stream, uniform

_STREAM = stream("initial vectors")


def initial_vectors(
    ids: NDArray[Any], dim: int, seed: int, columns: range | None = None
) -> NDArray[np.float32]:
    """Return small random vectors, uniform in (-0.5, 0.5) / dim, as word2vec starts from.

    Contexts start at 0, so that all scores are 0 and the loss of a pair is (K + 1) log 2; where
    they are tied to the vectors there are these alone.

    Parameters
    ----------
    ids : (m,) int
        Nodes, in any order: a number depends on seed, node and column alone.
    dim
        Numbers in a vector.
    seed
        Of the run.
    columns
        Which of the numbers are wanted; all by default.

    Returns
    -------
    (m, dim) or (m, len(columns)) float32
    """
    draws = uniform(
        seed, _STREAM, np.asarray(ids)[:, None], np.arange(dim) if columns is None else columns
    )
    return ((draws - 0.5) / dim).astype(np.float32)
