"""Where the time goes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from ogg_hpc.runtime.communicator import Communicator


class Clock:
    """Seconds by phase, each of which is a span of the trace and a range on the device, too.

    Parameters
    ----------
    comm
        The ranks.
    *phases
        Names of the phases.
    """

    def __init__(self, comm: Communicator, *phases: str) -> None:
        self._comm = comm
        self._start = time.perf_counter()
        self._seconds = dict.fromkeys(phases, 0.0)
        self._inner = 0.0  # seconds of phases inside the running one

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        """Add the time that the block takes to a phase, less that of phases inside it."""
        outer, self._inner = self._inner, 0.0
        start = time.perf_counter()
        try:
            with self._comm.device.phase(phase):
                yield
        finally:
            end = time.perf_counter()
            self._comm.trace.add("phase", phase, start, end)
            taken = end - start
            self._seconds[phase] += taken - self._inner
            self._inner = outer + taken

    def report(self) -> dict[str, float]:
        """Return the seconds of each phase, and of all since the start."""
        return {**self._seconds, "total": time.perf_counter() - self._start}


def over_ranks(
    comm: Communicator, seconds: Mapping[str, float | Sequence[float]]
) -> dict[str, dict[str, float]]:
    """Return the ``min``, ``median`` and ``max`` of all ranks' seconds (collective).

    Parameters
    ----------
    comm
        The ranks.
    seconds
        This rank's seconds by phase, or those of each repeat; the same phases on all ranks.
    """
    everyone = comm.gather_objects(dict(seconds))
    phases = {phase: np.array([rank[phase] for rank in everyone]) for phase in seconds}
    return {
        phase: {
            "min": float(of_phase.min()),
            "median": float(np.median(of_phase)),
            "max": float(of_phase.max()),
        }
        for phase, of_phase in phases.items()
    }
