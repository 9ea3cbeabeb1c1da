"""What training makes small: the loss of one score, of a pair that was drawn or of a negative."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.embedding.softplus import softplus
from ogg_hpc.runtime.plugins import load_class


class Objective(ABC):
    """A loss of scores, the inner products of source and context vectors.

    The loss of a pair is that of its own score plus those of its K negatives. Derive from this
    class for an objective of your own, in any file: ``--objective FILE.py:CLASS``.
    """

    @abstractmethod
    def positive(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return losses of pairs, and their slopes d loss / d score, elementwise.

        Scores are float32, in any shape, and on a GPU an array of CuPy: functions of NumPy that
        work element by element take both.
        """

    @abstractmethod
    def negative(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return losses of sources with negatives, and their slopes, elementwise."""


class SGNS(Objective):
    """Skip-gram with negative sampling: -log σ(score) of a pair, -log σ(-score) of a negative.

    Mikolov et al., NeurIPS 2013.
    """

    def positive(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return -log σ(s) and -σ(-s)."""
        losses, slopes = self.negative(-scores)
        return losses, -slopes

    def negative(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return -log σ(-s) and σ(s)."""
        if isinstance(scores, np.ndarray) and scores.dtype == np.float32:
            return softplus(scores)
        # exp of what is not above 0 does not overflow.
        losses = np.maximum(scores, 0) + np.log1p(np.exp(-np.abs(scores)))
        return losses, np.exp(scores - losses)


def make_objective(name: str) -> Objective:
    """Return the objective ``sgns``, or a user's own, ``FILE.py:CLASS``.

    Raises
    ------
    SettingsError
        No such file, or no such subclass of `Objective` in it.
    """
    if name == "sgns":
        return SGNS()
    objective: Objective = load_class(name, Objective)()
    return objective
