"""The end of a run whose vectors have left the finite numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import OggError


class DivergedError(OggError):
    """A loss that is no finite number: step sizes were too large, or weights had no sense.

    Parameters
    ----------
    epoch, batch
        The first such batch, counted from 0 within its epoch.
    learning_rate
        Of that batch.
    """

    def __init__(self, epoch: int, batch: int, learning_rate: float) -> None:
        super().__init__(epoch, batch, learning_rate)

    def __str__(self) -> str:
        epoch, batch, learning_rate = self.args
        return (
            f"the loss is no longer finite in batch {batch + 1} of epoch {epoch + 1}; start again "
            f"with a smaller --learning-rate (it is {learning_rate:.3g} here) or --batch-pairs"
        )


def check_finite(
    losses: NDArray[np.float64], epoch: int, first: int, rates: NDArray[np.float64]
) -> None:
    """Refuse losses that are not finite.

    Parameters
    ----------
    losses : (b,) float64
        Losses of consecutive batches, summed over all ranks, so that all ranks stop alike.
    epoch, first
        Of which epoch, and the first batch of them.
    rates : (b,) float64
        Learning rates.

    Raises
    ------
    DivergedError
        Names the first batch that has none.
    """
    bad = np.flatnonzero(~np.isfinite(losses))
    if len(bad):
        raise DivergedError(epoch, first + int(bad[0]), float(rates[bad[0]])).shared()
