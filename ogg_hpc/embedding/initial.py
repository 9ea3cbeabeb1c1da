"""The vectors that training starts from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.runtime.random import stream, uniform

_STREAM = stream("initial vectors")


def initial_vectors(ids: NDArray[Any], dim: int, seed: int) -> NDArray[np.float32]:
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

    Returns
    -------
    (m, dim) float32
    """
    return ((uniform(seed, _STREAM, np.asarray(ids)[:, None], np.arange(dim)) - 0.5) / dim).astype(
        np.float32
    )
