"""The distribution of actions that a network's last numbers stand for, in NumPy.

All leaves of an action space are one list of choices and one list of real numbers. A choice (a
Discrete, or one of a MultiDiscrete or MultiBinary) takes as many numbers as it has outcomes: their
logits. A real number (of a Box) takes one: the mean of a normal distribution, whose deviation is a
parameter of the network and the same in all states.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.actors.networks.network import Arrays
from ogg_hpc.actors.schema import Leaf, Schema
from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.random import hash64

MASK = "action_mask"
# Logits of what may not be chosen, and of what there is not; finite, so that 0 · log 0 is 0.
NEVER, NOTHING = np.float32(-1e9), np.float32(-2e9)
HALF_LOG_2PI = np.float32(0.5 * math.log(2 * math.pi))


class ActionHead:
    """The choices and real numbers of an action space.

    Parameters
    ----------
    schema
        What is done, and whether an observation says what may be done: a leaf ``action_mask``,
        (inputs of all choices,), not 0 for what may be chosen. Where nothing may be, everything
        is equally probable.

    Attributes
    ----------
    choice_leaves, real_leaves : list of Leaf
        The leaves of choices and of real numbers.
    inputs : int
        How many numbers of the network an action takes: those of choices, then those of reals.
    logits : int
        How many of them are those of choices.
    choices, reals : int
        How many choices and real numbers there are.
    columns : (choices, most outcomes) int64
        The number that is each outcome's logit; of outcomes that there are not, 0.
    possible : (choices, most outcomes) bool
        Which outcomes there are.
    masked : bool
        Whether observations have a mask.

    Raises
    ------
    SettingsError
        A mask of another shape, or real actions in whole numbers.
    """

    def __init__(self, schema: Schema) -> None:
        self.real_leaves = [leaf for leaf in schema.actions if leaf.kind == "box"]
        self.choice_leaves = [leaf for leaf in schema.actions if leaf.kind != "box"]
        for leaf in self.real_leaves:
            if not np.issubdtype(leaf.dtype, np.floating):
                raise SettingsError(
                    f"the action {leaf.name} is a Box of {leaf.dtype}; whole numbers are"
                    " Discrete or MultiDiscrete"
                )
        sizes = np.array([size for leaf in self.choice_leaves for size in outcomes(leaf)], np.int64)
        self.logits, self.choices = int(sizes.sum()), len(sizes)
        self.reals = sum(leaf.size for leaf in self.real_leaves)
        self.inputs = self.logits + self.reals
        places = np.arange(sizes.max(initial=0))
        self.possible = places < sizes[:, None]
        self.columns = np.where(self.possible, (np.cumsum(sizes) - sizes)[:, None] + places, 0)
        masks = [leaf for leaf in schema.observations if leaf.name == MASK]
        self.masked = bool(masks)
        if masks and masks[0].shape != (self.logits,):
            raise SettingsError(
                f"the observation's {MASK} has the shape {masks[0].shape}; the actions have "
                f"{self.logits} outcomes, and it has to have as many"
            )

    def sample(
        self,
        numbers: NDArray[np.float32],
        log_deviation: NDArray[np.float32],
        observations: Arrays,
        keys: NDArray[np.uint64],
    ) -> tuple[Arrays, NDArray[np.float32]]:
        """Draw actions.

        Parameters
        ----------
        numbers
            (E, inputs) of the network.
        log_deviation
            (reals,) parameter of the network.
        observations
            Where the mask is, if there is one.
        keys
            (E,) hashes that decide.

        Returns
        -------
        actions, log_probability
            (E, ...) by leaf, and (E,).
        """
        drawn = _uniform(keys, self.choices + 2 * self.reals)
        chosen = np.empty((len(keys), 0), np.int64)
        reals = np.empty((len(keys), 0), np.float32)
        log_probability = np.zeros(len(keys), np.float32)
        if self.choices:
            logs = self.log_probabilities(numbers, observations)
            below = np.cumsum(np.exp(logs), axis=-1, dtype=np.float64)
            # The last bound is 1 exactly, and that of an outcome of probability 0 the one before.
            below /= below[..., -1:]
            chosen = (below <= drawn[:, : self.choices, None]).sum(-1)
            log_probability += np.take_along_axis(logs, chosen[..., None], -1).sum((1, 2))
        if self.reals:
            # Box and Muller, Annals of Mathematical Statistics 29, 1958.
            radius, angle = np.split(drawn[:, self.choices :], 2, axis=1)
            noise = np.sqrt(-2 * np.log1p(-radius)) * np.cos(2 * np.pi * angle)
            noise = noise.astype(np.float32)
            reals = numbers[:, self.logits :] + np.exp(log_deviation) * noise
            log_probability -= (0.5 * noise**2 + log_deviation + HALF_LOG_2PI).sum(1)
        return self.split(chosen, reals), log_probability

    def greedy(self, numbers: NDArray[np.float32], observations: Arrays) -> Arrays:
        """Return the (E, ...) most probable actions by leaf."""
        chosen = np.empty((len(numbers), 0), np.int64)
        if self.choices:
            chosen = self.log_probabilities(numbers, observations).argmax(-1)
        return self.split(chosen, numbers[:, self.logits :])

    def log_probabilities(
        self, numbers: NDArray[np.float32], observations: Arrays
    ) -> NDArray[np.float32]:
        """Return (E, choices, most outcomes) logarithms of the outcomes' probabilities."""
        logits = numbers[:, self.columns]
        if self.masked:
            logits = np.where(observations[MASK][:, self.columns] != 0, logits, NEVER)
        logits = np.where(self.possible, logits, NOTHING)
        logits -= logits.max(-1, keepdims=True)
        found: NDArray[np.float32] = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
        return found

    def split(self, choices: NDArray[np.int64], reals: NDArray[np.float32]) -> Arrays:
        """Return the actions by leaf of (E, choices) outcomes and (E, reals) numbers."""
        return {**_split(self.choice_leaves, choices), **_split(self.real_leaves, reals)}


def _split(leaves: Sequence[Leaf], joined: NDArray[Any]) -> Arrays:
    parts, start = {}, 0
    for leaf in leaves:
        part = joined[:, start : start + leaf.size].reshape(-1, *leaf.shape)
        parts[leaf.name] = part.astype(leaf.dtype, copy=False)
        start += leaf.size
    return parts


def outcomes(leaf: Leaf) -> tuple[int, ...]:
    """Return how many outcomes each choice of a leaf has; none for real numbers."""
    return (2,) * leaf.size if leaf.kind == "multibinary" else leaf.n


def _uniform(keys: NDArray[np.uint64], count: int) -> NDArray[np.float64]:
    """Return (E, count) numbers in [0, 1) from (E,) hashes."""
    bits = keys[:, None] if count == 1 else hash64(0, keys[:, None], np.arange(count))
    return np.asarray((bits >> np.uint64(11)).astype(np.float64) * 2.0**-53)
