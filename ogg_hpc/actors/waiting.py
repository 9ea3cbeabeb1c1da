"""Waiting for actors, aloud and not for ever."""

from __future__ import annotations

from collections.abc import Callable

from ogg_hpc.errors import OggError

_SAY_EVERY = 10.0  # seconds


class NoActorsError(OggError):
    """There is nobody who steps an environment."""


class Waiting:
    """How long a learner has been waiting for actors.

    Parameters
    ----------
    limit
        Seconds after which it gives up; 0: never.
    tell
        Says something to people.
    now
        The time, in seconds.
    """

    def __init__(self, limit: float, tell: Callable[[str], None], now: Callable[[], float]) -> None:
        self._limit, self._tell, self._now = limit, tell, now
        self._since: float | None = None
        self._said = 0.0

    def over(self) -> None:
        """Take it that there is somebody."""
        self._since = None

    def goes_on(self, situation: str, reason: str) -> None:
        """Take it that there is still nobody.

        Parameters
        ----------
        situation
            What there is instead.
        reason
            Why, for the error; may be empty.

        Raises
        ------
        NoActorsError
            It has been so for too long.
        """
        now = self._now()
        if self._since is None:
            self._since = self._said = now
        waited = now - self._since
        if self._limit and waited >= self._limit:
            raise NoActorsError(
                f"{situation} after {waited:.0f} s (collection.wait_for_actors){reason}"
            )
        if now - self._said >= _SAY_EVERY:
            self._said = now
            self._tell(f"{situation}: waiting for actors for {waited:.0f} s")
