"""Initial parameters, the same on every rank and for every number of ranks."""

from __future__ import annotations

import numpy as np
import torch

from ogg_hpc.runtime.random import stream, uniform


def uniform_parameter(
    name: str, shape: tuple[int, ...], bound: float, seed: int
) -> torch.nn.Parameter:
    """Return a float64 parameter with entries uniform in (-bound, bound).

    Parameters
    ----------
    name
        Names the random stream; parameters of one model have different names.
    shape
        Its shape.
    bound
        Largest absolute value.
    seed
        Seed of the model.
    """
    items = np.arange(int(np.prod(shape)))
    values = bound * (2.0 * uniform(seed, stream(f"parameter {name}"), items) - 1.0)
    return torch.nn.Parameter(torch.from_numpy(values.reshape(shape)))
