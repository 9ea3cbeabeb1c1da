"""An environment whose steps cost a set time, for studies of scaling."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError

Observation = NDArray[np.float32]
_TAILS = ("none", "pareto", "lognormal")
_WORKS = ("sleep", "busy")


class Synthetic(gymnasium.Env[Observation, np.int64]):
    """Random observations, two actions, and steps that take as long as they are told to.

    The second action earns the first component of the observation that it answers, the first
    action nothing.

    Parameters
    ----------
    seconds
        What a step takes on average.
    work
        ``sleep`` waits; ``busy`` keeps a core busy, in seconds of its own time.
    tail
        How the time of single steps spreads around the average: ``none`` not at all,
        ``lognormal`` or ``pareto`` with a heavy tail.
    spread
        Of ``lognormal``: the standard deviation of the logarithm; of ``pareto``: the exponent,
        above 1, the heavier the smaller.
    slow
        How many times as long the steps of certain slots take, by slot.
    size
        Number of components of an observation.
    length
        Steps of an episode.
    """

    def __init__(
        self,
        seconds: float = 0.02,
        work: str = "sleep",
        tail: str = "none",
        spread: float = 1.5,
        slow: Mapping[str, float] | None = None,
        size: int = 4,
        length: int = 100,
    ) -> None:
        if work not in _WORKS or tail not in _TAILS:
            raise SettingsError(
                f"synthetic: work is {' or '.join(_WORKS)} and tail {' or '.join(_TAILS)}, not"
                f" {work!r} and {tail!r}"
            )
        if tail == "pareto" and not spread > 1:
            raise SettingsError("synthetic: the spread of a pareto tail has to be above 1")
        if not seconds >= 0 or size < 1 or length < 1:
            raise SettingsError("synthetic: seconds must not be negative, size and length positive")
        self.slot = 0
        self._seconds, self._work = seconds, work
        self._tail, self._spread = tail, spread
        self._slow = {int(number): factor for number, factor in (slow or {}).items()}
        self._length = length
        self.observation_space = spaces.Box(-1.0, 1.0, (size,), np.float32)
        self.action_space = spaces.Discrete(2)
        self._observation = np.zeros(size, dtype=np.float32)
        self._steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode."""
        super().reset(seed=seed)
        self._steps = 0
        return self._draw(), {}

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take as long as a step takes."""
        _spend(self.cost(), self._work)
        self._steps += 1
        reward = float(self._observation[0]) if action == 1 else 0.0
        return self._draw(), reward, self._steps >= self._length, False, {}

    def cost(self) -> float:
        """Draw the seconds that the next step takes."""
        mean = self._seconds * self._slow.get(self.slot, 1.0)
        if self._tail == "lognormal":
            return mean * float(self.np_random.lognormal(-(self._spread**2) / 2, self._spread))
        if self._tail == "pareto":
            # NumPy's begins at 0 instead of 1.
            factor = (self._spread - 1) / self._spread
            return mean * factor * (1 + float(self.np_random.pareto(self._spread)))
        return mean

    def _draw(self) -> Observation:
        size = self._observation.shape
        self._observation = self.np_random.uniform(-1, 1, size).astype(np.float32)
        return self._observation.copy()


def _spend(seconds: float, work: str) -> None:
    if work == "sleep":
        time.sleep(seconds)
        return
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
