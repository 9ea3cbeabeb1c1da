"""An environment whose every step is known beforehand."""

import gymnasium
import numpy as np


class Counting(gymnasium.Env):
    """Shows [1/2, episode, step] in one array for ever; a step's reward is its number, from 1.

    Parameters
    ----------
    length
        Steps of an episode.
    ending
        How episodes end: ``terminated``, ``truncated`` or ``both``.
    real
        Whether an action is two real numbers in [-0.1, 0.1], instead of one of three.
    slot
        Number of the slot.

    Attributes
    ----------
    taken, seeds : list
        All actions, and the seeds of all resets.
    """

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (3,), np.float32)

    def __init__(self, length=5, ending="terminated", real=False, slot=0):
        self.length, self.ending = length, ending
        self.action_space = (
            gymnasium.spaces.Box(-0.1, 0.1, (2,)) if real else gymnasium.spaces.Discrete(3, start=1)
        )
        self.episode, self.taken, self.seeds = -1, [], []
        self._shown = np.empty(3, np.float32)

    def reset(self, *, seed=None, options=None):
        self.seeds.append(seed)
        self.episode += 1
        self.step_number = 0
        return self._observation(), {}

    def step(self, action):
        self.taken.append(action)
        self.step_number += 1
        over = self.step_number == self.length
        terminated = over and self.ending in ("terminated", "both")
        truncated = over and self.ending in ("truncated", "both")
        info = {"episode": {"number": self.episode}} if over else {}
        return self._observation(), float(self.step_number), terminated, truncated, info

    def _observation(self):
        self._shown[:] = 0.5, self.episode, self.step_number
        return self._shown
