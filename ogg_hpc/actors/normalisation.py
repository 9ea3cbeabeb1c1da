"""Observations of a common size.

All learners hold the same statistics, and take in what all of them have seen at the end of a round;
in between nothing changes, so that those who act and those who learn see the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.actors.moments import Moments
from ogg_hpc.actors.networks.heads import MASK
from ogg_hpc.actors.schema import Schema
from ogg_hpc.runtime.communicator import Communicator

PREFIX = "normaliser/"
FARTHEST = 10.0  # deviations from the mean that count no more


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
