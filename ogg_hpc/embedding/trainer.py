"""Training of one model, window after window."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.embedding.divergence import check_finite
from ogg_hpc.embedding.model import Model
from ogg_hpc.embedding.negatives import NegativeSampler
from ogg_hpc.embedding.objective import make_objective
from ogg_hpc.embedding.plan import ModelPlan
from ogg_hpc.embedding.sampling.pairs import checked
from ogg_hpc.embedding.sampling.registry import make_sampler
from ogg_hpc.embedding.schedule import batch_items, learning_rates, shared_negatives
from ogg_hpc.embedding.strategies.registry import strategy_class
from ogg_hpc.embedding.walk_graph import WalkGraph
from ogg_hpc.embedding.window import make_window, share_of
from ogg_hpc.runtime.clock import Clock
from ogg_hpc.runtime.communicator import Communicator


class Trainer:
    """Trains one model (creation is collective).

    Parameters
    ----------
    comm
        All ranks.
    graph
        What pairs are drawn from.
    plan
        The model.
    clock
        Where the time goes, with a phase ``sample`` and those of the strategy.

    Attributes
    ----------
    plan : ModelPlan
    strategy : Strategy
        What holds the vectors.
    batches : int
        Batches of an epoch.
    window_batches : int
        Batches of a window.
    """

    def __init__(self, comm: Communicator, graph: WalkGraph, plan: ModelPlan, clock: Clock) -> None:
        self._comm, self._clock, self.plan = comm, clock, plan
        settings = plan.settings
        self._sampler = comm.on_all(lambda: make_sampler(graph, settings))
        self._batch_items = batch_items(settings, self._sampler.pairs_per_item)
        self._shared = shared_negatives(settings)
        self.batches = -(-self._sampler.items // self._batch_items)
        model = Model(
            n=graph.n,
            dim=settings.dim,
            tied=plan.tied,
            objective=comm.on_all(lambda: make_objective(settings.objective)),
            negative_sampler=NegativeSampler(
                self._sampler.negative_weights(), settings.negative_power, settings.seed
            ),
            negative=settings.negative,
            shared_negatives=self._shared,
            row_limit=settings.row_limit,
            seed=settings.seed,
        )
        # What does not fit is told here by all ranks alike.
        self.strategy = comm.on_all(
            lambda: strategy_class(settings.strategy)(comm, model, settings, clock)
        )
        batch_pairs = max(1.0, self._batch_items * self._sampler.pairs_per_item)
        self.window_batches = max(1, round(self.strategy.window_pairs / batch_pairs))

    @property
    def workers(self) -> int:
        """Ranks that sample."""
        return len(self.strategy.layout.workers)

    @property
    def steps(self) -> int:
        """Batches of all epochs."""
        return self.batches * self.plan.settings.epochs

    def windows(self) -> Iterator[tuple[int, int]]:
        """Yield of each window of an epoch its first batch, and the one behind its last."""
        for first in range(0, self.batches, self.window_batches):
            yield first, min(first + self.window_batches, self.batches)

    def train(self, epoch: int, first: int, end: int) -> NDArray[np.float64]:
        """Draw the pairs of a window and train on them (collective).

        Returns
        -------
        (batches, 2) float64
            Summed loss and number of pairs of each batch, of all ranks.

        Raises
        ------
        DivergedError
            A loss is no finite number.
        SettingsError
            A user's own sampler has returned what are no pairs.
        """
        layout = self.strategy.layout
        share = share_of(
            layout.worker, self.workers, first, end - first, self._batch_items,
            self._sampler.items,
        )  # fmt: skip
        rates = self.learning_rates(epoch, first, end)
        with self._clock("sample"):
            drawn = self._sampler.sample(epoch, share.items)
            method = self.plan.settings.method
            pairs = self._comm.on_all(
                lambda: checked(drawn, len(share.items), self._sampler.graph, method)
            )
            window = make_window(epoch, share, pairs, rates)
        with np.errstate(over="ignore", invalid="ignore"):  # told below, on all ranks alike
            sums: NDArray[np.float64] = self._comm.allreduce(self.strategy.train(window))
        check_finite(sums[:, 0], epoch, first, rates)
        return sums

    def learning_rates(self, epoch: int, first: int, end: int) -> NDArray[np.float64]:
        """Return the learning rates of batches of an epoch."""
        numbers = np.arange(first, end) + epoch * self.batches
        return learning_rates(self.plan.settings, numbers, self.steps)

    def about(self) -> dict[str, Any]:
        """Return the sizes that follow from settings and graph, for the record."""
        return {
            "model": self.plan.name,
            "dim": self.plan.settings.dim,
            "tied": self.plan.tied,
            "items": self._sampler.items,
            "batch_items": self._batch_items,
            "batches": self.batches,
            "window_batches": self.window_batches,
            "shared_negatives": self._shared,
        }
