"""How much better than expected each action was: generalised advantage estimation.

Schulman et al., "High-dimensional continuous control using generalized advantage estimation", ICLR
2016. An end of an episode by termination is worth 0. One by truncation, and the end of a fragment,
is worth what the acting policy expected of the state that was reached.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


def advantages(
    rewards: NDArray[Any],
    values: NDArray[Any],
    next_values: NDArray[Any],
    terminated: NDArray[np.bool_],
    stopped: NDArray[np.bool_],
    gamma: float,
    gae_lambda: float,
) -> NDArray[np.float64]:
    """Return the advantages of N steps, of fragments one after another.

    Parameters
    ----------
    rewards, values
        (N,) rewards of the steps, and values of the states before them.
    next_values
        (N,) values of the states after them, where `stopped`.
    terminated
        (N,) whether the episode was over for good then.
    stopped
        (N,) whether the episode was truncated or the fragment ended then.
    gamma, gae_lambda
        Discount factor, and decay of later advantages.
    """
    rewards, values = rewards.astype(np.float64), values.astype(np.float64)
    following = np.append(values[1:], 0.0)
    following = np.where(stopped, next_values, following)
    following[terminated] = 0.0
    errors = rewards + gamma * following - values
    ends = terminated | stopped
    backwards = decayed_sums(np.flip(errors).copy(), np.flip(ends).copy(), gamma * gae_lambda, 0.0)
    return np.flip(backwards)


@njit(cache=True, nogil=True)
def decayed_sums(
    values: NDArray[np.float64], fresh: NDArray[np.bool_], decay: float, before: float
) -> NDArray[np.float64]:
    """Return s with ``s[i] = values[i] + decay * s[i - 1]``, or ``values[i]`` where fresh.

    ``before`` stands for ``s[-1]``.
    """
    sums = np.empty_like(values)
    for i in range(len(values)):
        before = values[i] if fresh[i] else values[i] + decay * before
        sums[i] = before
    return sums
