"""Steps of an embedding: batches of pairs, on the code path of ``ogg-hpc embed``."""

from __future__ import annotations

from dataclasses import replace

from ogg_hpc.embedding.graph_input import open_walk_graph
from ogg_hpc.embedding.plan import model_plans
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.embedding.strategies.registry import strategy_class
from ogg_hpc.embedding.trainer import Trainer
from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.clock import Clock
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.scaling.points import Point
from ogg_hpc.scaling.study import embedding_settings
from ogg_hpc.scaling.workload import Moment, Traffic, Window

# What the bytes of a rank are in proportion to: the pairs that it trains, all pairs, of which it
# has some columns, or the vectors that come round.
_UNITS = {"simple": "share", "partitioned": "share", "dot": "entries", "rotate": "nodes"}


class Embedding:
    """Training on the pairs of one graph; see `ogg_hpc.scaling.workload.Workload` (collective).

    A step is a batch. Where the graph grows with P, so do batches. What `rotate` sends depends on
    the window and not on its batches, so there a whole window is timed.

    Parameters
    ----------
    comm
        The ranks.
    point
        What is measured.
    clock
        Where ``graph`` and ``setup`` count.
    """

    def __init__(self, comm: Communicator, point: Point, clock: Clock) -> None:
        self._comm, self._graph = comm, point.graph
        settings = comm.on_all(lambda: _settings(point))
        self.engine = settings.strategy
        with clock("graph"):
            opened = open_walk_graph(comm, point.graph, settings)
        self.nodes = opened.graph.n
        self.entries = opened.m if opened.graph.directed else 2 * opened.m
        with clock("setup"):
            [plan] = model_plans(settings)
            phases = strategy_class(settings.strategy).phases
            self._trainer = Trainer(comm, opened.graph, plan, Clock(comm, "sample", *phases))
        rotates = settings.strategy == "rotate"
        self._least = min(self._trainer.window_batches, self._trainer.batches) if rotates else 1
        self._next = 0
        self.traffic = Traffic(0, _UNITS[settings.strategy])

    def run(self, steps: int) -> Window:
        """See `Workload.run`: the next batches of the first epoch, and then again its first."""
        trainer, steps = self._trainer, max(steps, self._least)
        if steps > trainer.batches:
            raise SettingsError(
                f"{self._graph}: an epoch has {trainer.batches} batches, and {steps} steps are to "
                "be timed; fewer steps, a smaller batch_pairs, or more walks or samples"
            ).shared()
        if self._next + steps > trainer.batches:
            self._next = 0
        predicted = self._predicted()
        self._comm.barrier()
        first = Moment.now(self._comm, 0)
        trainer.train(0, self._next, self._next + steps)
        window = Window.since(first, self._comm, steps)
        self._next += steps
        # Of one window as of another, but for the draw of pairs.
        paper = round((self._predicted() - predicted) / steps / self._comm.size)
        self.traffic = replace(self.traffic, paper=paper)
        return window

    def _predicted(self) -> int:
        """Return the bytes that all ranks should have sent so far, by the strategy's formula."""
        report = self._trainer.strategy.traffic.report(self._comm)
        predicted: int = report["formula"]["predicted_bytes"]
        return predicted


def _settings(point: Point) -> EmbedSettings:
    settings = embedding_settings(point.case.overrides)
    if point.case.growing is None:
        return settings
    return replace(settings, batch_pairs=point.ranks * settings.batch_pairs)
