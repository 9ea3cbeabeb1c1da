"""The order of steps in strategies that train batch after batch."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.embedding.model import Model
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.embedding.strategies.strategy import Strategy
from ogg_hpc.embedding.window import Window
from ogg_hpc.runtime.clock import Clock
from ogg_hpc.runtime.communicator import Communicator


class Batchwise(Strategy):
    """Synchronous stochastic gradient descent, one step a batch.

    Each batch is computed on rows that have seen all batches before it or, with a staleness of 1,
    all but the last: then what it needs from other ranks is asked for before that last one is
    computed, and on the way meanwhile. The first batch of a window sees all updates.
    """

    def __init__(
        self, comm: Communicator, model: Model, settings: EmbedSettings, clock: Clock
    ) -> None:
        super().__init__(comm, model, settings, clock)
        self._staleness = settings.staleness

    def train(self, window: Window) -> NDArray[np.float64]:
        """See `Strategy.train`."""
        losses = np.zeros((window.batches, 2))
        last = window.batches - 1
        self._prepare(window)
        fetch = self._fetch(0)
        for batch in range(window.batches):
            fetched = fetch()
            if self._staleness and batch < last:
                fetch = self._fetch(batch + 1)
            losses[batch] = self._step(batch, fetched, float(window.learning_rates[batch]))
            if not self._staleness and batch < last:
                fetch = self._fetch(batch + 1)
        self.traffic.computed += int(losses[:, 1].sum())
        return losses

    @abstractmethod
    def _prepare(self, window: Window) -> None:
        """Bring the pairs of a window where they are computed (collective)."""

    @abstractmethod
    def _fetch(self, batch: int) -> Callable[[], Any]:
        """Ask for what a batch needs, as it is now; the function returned waits for it."""

    @abstractmethod
    def _step(self, batch: int, fetched: Any, learning_rate: float) -> tuple[float, int]:
        """Update rows by the gradients of a batch; return its loss and pairs (collective)."""
