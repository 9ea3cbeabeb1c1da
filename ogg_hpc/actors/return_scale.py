"""Rewards of a common size: divided by the deviation of what they add up to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ogg_hpc.actors.advantages import decayed_sums
from ogg_hpc.actors.fragment import Fragment
from ogg_hpc.actors.moments import Moments
from ogg_hpc.runtime.communicator import Communicator


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
