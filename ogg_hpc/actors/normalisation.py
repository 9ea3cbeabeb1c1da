"""Running statistics that make observations and rewards of a common size.

All learners hold the same statistics, and merge what all of them have seen at the end of a round;
in between nothing changes, so that those who act and those who learn see the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.actors.advantages import decayed_sums
from ogg_hpc.actors.fragment import Fragment
from ogg_hpc.actors.networks.heads import MASK
from ogg_hpc.actors.schema import Schema
from ogg_hpc.runtime.communicator import Communicator

PREFIX = "normaliser/"
FARTHEST = 10.0  # deviations from the mean, or from 0, that count no more
_LEAST = 1e-8  # variance


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


class ObservationNormaliser:
    """Shifts and scales the real leaves of observations to mean 0 and deviation 1.

    Parameters
    ----------
    schema
        What is observed.
    """

    def __init__(self, schema: Schema) -> None:
        self._moments = {
            leaf.name: Moments(leaf.shape)
            for leaf in schema.observations
            if leaf.kind == "box" and np.issubdtype(leaf.dtype, np.floating) and leaf.name != MASK
        }
        self._prepare()

    def normalise(self, observations: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Return (n, ...) observations, the real ones as float32 in [-`FARTHEST`, `FARTHEST`]."""
        result = dict(observations)
        for name, (mean, factor) in self._prepared.items():
            scaled = (observations[name] - mean) * factor
            result[name] = np.clip(scaled, -FARTHEST, FARTHEST).astype(np.float32, copy=False)
        return result

    def merge(self, observations: Mapping[str, NDArray[Any]], comm: Communicator) -> None:
        """Take in the (n, ...) observations of each rank, as they were seen (collective)."""
        for name, moments in self._moments.items():
            moments.merge(observations[name], comm)
        self._prepare()

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """Return all that `load` needs, under names that begin with `PREFIX`."""
        found: dict[str, NDArray[np.float64]] = {}
        for name, moments in self._moments.items():
            found |= moments.arrays(f"{PREFIX}{name}/")
        return found

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what `arrays` gave; without, observations stay as they are."""
        for name, moments in self._moments.items():
            if f"{PREFIX}{name}/count" in arrays:
                moments.load(arrays, f"{PREFIX}{name}/")
        self._prepare()

    def _prepare(self) -> None:
        self._prepared = {
            name: (moments.mean.astype(np.float32), (1 / moments.deviation).astype(np.float32))
            for name, moments in self._moments.items()
            if moments.count
        }


class ReturnScale:
    """The deviation of discounted returns, which rewards are divided by.

    A return is the discounted sum of an episode's rewards up to a step.

    Parameters
    ----------
    gamma
        Discount factor.
    """

    def __init__(self, gamma: float) -> None:
        self.moments = Moments(())
        self._gamma = gamma
        # Incarnation of each slot, and the return of its running episode so far.
        self._running: dict[int, tuple[int, float]] = {}

    def merge(self, fragments: Sequence[Fragment], comm: Communicator) -> None:
        """Take in each rank's fragments, in the order of their making (collective)."""
        returns = [np.empty(0)]
        for fragment in fragments:
            arrays = fragment.arrays
            ended = arrays["terminated"] | arrays["truncated"]
            fresh = np.append(False, ended[:-1])
            incarnation, before = self._running.get(fragment.slot, (-1, 0.0))
            if incarnation != fragment.incarnation:
                before = 0.0
            rewards = arrays["reward"].astype(np.float64)
            returns.append(decayed_sums(rewards, fresh, self._gamma, before))
            before = 0.0 if ended[-1] else float(returns[-1][-1])
            self._running[fragment.slot] = fragment.incarnation, before
        self.moments.merge(np.concatenate(returns), comm)
