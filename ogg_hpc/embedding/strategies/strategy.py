"""Contract of the strategies: where vectors lie, and what crosses the ranks to train them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.embedding.layout import Layout, make_layout
from ogg_hpc.embedding.model import Matrix, Model
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.embedding.traffic import Formula, Traffic
from ogg_hpc.embedding.window import Window
from ogg_hpc.runtime.clock import Clock
from ogg_hpc.runtime.communicator import Communicator


class Strategy(ABC):
    """Trains a model whose rows are spread over the ranks (creation is collective).

    Parameters
    ----------
    comm
        All ranks.
    model
        What is trained; its initial rows are made here.
    settings
        The strategy's own settings are read from these.
    clock
        Where the time of the phases goes.

    Attributes
    ----------
    name : str
        What ``--strategy`` calls it.
    phases : tuple of str
        Names of the phases that `train` spends its time in.
    order_of_traffic, essential_traffic : str, tuple of str
        What the literature gives for a batch, and the kinds of traffic that this speaks of.
    layout : Layout
        Which ranks sample pairs.
    traffic : Traffic
        What crosses the ranks, by kind.
    window_pairs : int
        Pairs of a window, about, of all ranks; the same on any number of them.
    """

    name: ClassVar[str]
    phases: ClassVar[tuple[str, ...]]
    order_of_traffic: ClassVar[str]
    essential_traffic: ClassVar[tuple[str, ...]]
    window_pairs: int = 1 << 20

    def __init__(
        self, comm: Communicator, model: Model, settings: EmbedSettings, clock: Clock
    ) -> None:
        self._comm, self._model, self._clock = comm, model, clock
        self.layout: Layout = make_layout(comm, settings.servers)
        share = self.layout.remote_share
        self.traffic = Traffic(Formula(self.order_of_traffic, self.essential_traffic, share))

    @abstractmethod
    def train(self, window: Window) -> NDArray[np.float64]:
        """Train the pairs of a window, batch by batch (collective).

        Returns
        -------
        ndarray
            (batches, 2) summed loss and number of those pairs of each batch that this rank has
            computed. Summed over the ranks they are the batch's.
        """

    def free(self) -> None:
        """Give memory back that ranks share (collective); nothing may be called after it."""
        return  # what is of this rank alone goes by itself

    @abstractmethod
    def gather(self, matrix: Matrix, lo: int, hi: int) -> NDArray[np.float32] | None:
        """Return rows lo to hi in the order of nodes on rank 0; None on the others (collective)."""

    @abstractmethod
    def restore(self, matrix: Matrix, lo: int, hi: int, rows: NDArray[np.float32] | None) -> None:
        """Set rows lo to hi to what rank 0 passes; the others pass None (collective)."""
