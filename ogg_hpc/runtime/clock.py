"""Where the time goes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Clock:
    """Seconds by phase.

    Parameters
    ----------
    *phases
        Their names.
    """

    def __init__(self, *phases: str) -> None:
        self._start = time.perf_counter()
        self._seconds = dict.fromkeys(phases, 0.0)

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        """Add the time that the block takes to a phase."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[phase] += time.perf_counter() - start

    def report(self) -> dict[str, float]:
        """Return the seconds of each phase, and of all since the start."""
        return {**self._seconds, "total": time.perf_counter() - self._start}
