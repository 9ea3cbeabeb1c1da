"""How the loss falls within each epoch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

POINTS = 20  # of the curve of an epoch


class Losses:
    """Sums of losses and of pairs over equal parts of each epoch.

    Parameters
    ----------
    sums
        What `state` returned; none yet by default.

    Notes
    -----
    A part holds the batches ``b`` of an epoch with the same ``b * POINTS // batches``, so that
    curves depend neither on windows nor on where a run was stopped.
    """

    def __init__(self, sums: list[Any] | None = None) -> None:
        self._sums = [np.array(epoch, np.float64) for epoch in sums or []]

    def state(self) -> list[Any]:
        """Return the sums as plain values."""
        return [epoch.tolist() for epoch in self._sums]

    def add(self, epoch: int, first: int, batches: int, sums: NDArray[np.float64]) -> None:
        """Add consecutive batches.

        Parameters
        ----------
        epoch
            Number of the epoch, counted over all models; after the last one there is a new one.
        first, batches
            The first of the batches in the epoch, and how many the epoch has.
        sums
            (b, 2) summed loss, and number of pairs, of each batch.
        """
        if epoch == len(self._sums):
            self._sums.append(np.zeros((POINTS, 2)))
        parts = np.arange(first, first + len(sums)) * POINTS // batches
        np.add.at(self._sums[epoch], parts, sums)

    @property
    def pairs(self) -> int:
        """Pairs so far."""
        return sum(int(epoch[:, 1].sum()) for epoch in self._sums)

    def report(self) -> list[dict[str, Any]]:
        """Return of each epoch the mean loss of a pair, the pairs, and the curve of the loss.

        Parts without pairs have no point of the curve.
        """
        return [
            {
                "loss": _mean(epoch.sum(axis=0)),
                "pairs": int(epoch[:, 1].sum()),
                "curve": [_mean(part) for part in epoch if part[1]],
            }
            for epoch in self._sums
        ]


def _mean(sums: NDArray[np.float64]) -> float | None:
    loss, pairs = sums.tolist()
    return loss / pairs if pairs else None
