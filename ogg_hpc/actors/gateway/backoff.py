"""Pauses between attempts: growing, and drawn at random so that many do not come at once."""

from __future__ import annotations

import random

_GROWTH = 2.0


class Backoff:
    """Pauses that are drawn evenly up to a limit, which doubles (full jitter).

    Parameters
    ----------
    least, most
        Seconds that the limit begins and ends with. No pause is shorter than a tenth of the first.

    References
    ----------
    .. [1] M. Brooker, "Exponential backoff and jitter", AWS Architecture Blog, 2015.
    """

    def __init__(self, least: float, most: float) -> None:
        self._least = least
        self._most = most
        self._limit = least
        # By the system's own numbers: all hosts of a run have the same seeds.
        self._random = random.SystemRandom()

    def pause(self) -> float:
        """Return the seconds to wait before the next attempt."""
        pause = self._random.uniform(self._least / 10, self._limit)
        self._limit = min(self._limit * _GROWTH, self._most)
        return pause

    def reset(self) -> None:
        """Begin anew, after a success."""
        self._limit = self._least
