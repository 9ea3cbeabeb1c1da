"""Key ranges that hold about equal numbers of keys, chosen from the samples of all runs.

They do not depend on rows, so that the row of a hub may span many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.building.runs import Run
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.parts import Parts

# Keys of a range, about.
_KEYS = 1 << 21

_NAME = "ranges"


@dataclass(frozen=True, eq=False)
class Bounds:
    """Where key ranges begin and end, and what all runs together hold.

    Attributes
    ----------
    splitters : (count - 1,) uint64
        The first keys of all ranges but the first.
    count, size : int
        Number of ranges, and of the keys that runs hold for all of them; 0 without keys.
    given, loops : int
        Edges that are no self loops, and those that are, repetitions included.
    """

    splitters: NDArray[np.uint64]
    count: int
    size: int
    given: int
    loops: int

    def low(self, number: int) -> np.uint64 | None:
        """Return the first key that belongs to a range; None is no bound."""
        return self.splitters[number - 1] if number > 0 else None

    def high(self, number: int) -> np.uint64 | None:
        """Return the first key beyond a range; None is no bound."""
        return self.splitters[number] if number < self.count - 1 else None


def choose_bounds(comm: Communicator, runs: Sequence[Run], parts: Parts) -> Bounds:
    """Choose the key ranges, and keep them for later jobs (collective).

    Parameters
    ----------
    comm
        All ranks.
    runs
        All runs.
    parts
        Where the bounds are kept.
    """

    def choose() -> Bounds:
        size = sum(run.size for run in runs)
        given, loops = sum(run.given for run in runs), sum(run.loops for run in runs)
        ordered = np.sort(np.concatenate([np.empty(0, np.uint64), *(run.samples for run in runs)]))
        wanted = max(1, -(-size // _KEYS))
        places = np.arange(1, wanted) * len(ordered) // wanted
        # Both directions of a pair, which differ in the last bit, belong to one range.
        splitters = np.unique(ordered[places] & ~np.uint64(1))
        count = len(splitters) + 1 if size else 0
        parts.write(_NAME, splitters=splitters, counts=np.array([count, size, given, loops]))
        return Bounds(splitters, count, size, given, loops)

    return comm.on_root(choose)


def read_bounds(comm: Communicator, parts: Parts) -> Bounds | None:
    """Return the key ranges that an earlier job has chosen, None where none has (collective)."""

    def read() -> Bounds | None:
        if not parts.has(_NAME):
            return None
        content = parts.read(_NAME)
        return Bounds(content["splitters"], *content["counts"].tolist())

    return comm.on_root(read)
