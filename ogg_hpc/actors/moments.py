"""Mean and variance of what all learners have seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.runtime.communicator import Communicator

_LEAST = 1e-8  # variance, so that what never changes can be divided by its deviation


class Moments:
    """Mean and variance of all rows so far, float64.

    Parameters
    ----------
    shape
        Of a row.

    References
    ----------
    .. [1] Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample
       variances", COMPSTAT 1982.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.count = 0.0
        self.mean = np.zeros(shape)
        self.squares = np.zeros(shape)  # sum of squared distances from the mean

    def merge(self, rows: NDArray[Any], comm: Communicator) -> None:
        """Take in the (n, ...) rows of each rank, any number of them (collective) [1]_."""
        rows = np.asarray(rows, np.float64)
        sums = np.concatenate([[len(rows)], rows.sum(0).ravel()])
        count, *totals = comm.allreduce(sums)
        if not count:
            return
        mean = np.reshape(totals, self.mean.shape) / count
        # About the common mean: a difference of large sums would lose the digits of a small one.
        squares = comm.allreduce(np.asarray(((rows - mean) ** 2).sum(0)))
        apart, share = mean - self.mean, count / (self.count + count)
        self.squares = self.squares + squares + apart**2 * (self.count * share)
        self.mean = self.mean + apart * share
        self.count += float(count)

    @property
    def deviation(self) -> NDArray[np.float64]:
        """The standard deviation; 1 before the first row."""
        if not self.count:
            return np.ones_like(self.mean)
        return np.asarray(np.sqrt(self.squares / self.count + _LEAST))

    def arrays(self, prefix: str) -> dict[str, NDArray[np.float64]]:
        """Return all that `load` needs."""
        return {
            f"{prefix}count": np.array(self.count),
            f"{prefix}mean": self.mean,
            f"{prefix}squares": self.squares,
        }

    def load(self, arrays: Mapping[str, NDArray[Any]], prefix: str) -> None:
        """Take over what `arrays` gave."""
        self.count = float(arrays[f"{prefix}count"])
        self.mean = np.array(arrays[f"{prefix}mean"])
        self.squares = np.array(arrays[f"{prefix}squares"])
