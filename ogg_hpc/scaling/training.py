"""Steps of training (Alg. 5): an environment step and the gradient steps after it."""

from __future__ import annotations

from dataclasses import replace

from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.clock import Clock
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.scaling.graph import graph_source
from ogg_hpc.scaling.points import Point
from ogg_hpc.scaling.study import Case
from ogg_hpc.scaling.traffic import Shape, paper_training, reference_training
from ogg_hpc.scaling.workload import Moment, Traffic, Window
from ogg_hpc.search.policy_search import message_bytes
from ogg_hpc.training.q_learning import QLearner
from ogg_hpc.training.settings import (
    GraphSource,
    ParallelSettings,
    TrainSettings,
    load_train_settings,
)

# Every action is the policy's: a random one needs no scores.
_GREEDY = ("learning.epsilon_start=0.0", "learning.epsilon_end=0.0")


class Training:
    """Deep Q-learning on one graph; see `ogg_hpc.scaling.workload.Workload` (collective).

    Parameters
    ----------
    comm
        The ranks.
    point
        What is measured.
    clock
        Where ``setup`` counts, of which the graph is a part.
    """

    def __init__(self, comm: Communicator, point: Point, clock: Clock) -> None:
        self._comm = comm
        settings = comm.on_root(lambda: _settings(point))
        with clock("setup"):
            self._learner = QLearner(comm, settings)
        record = self._learner.record()
        self.engine = record["engine"]
        self.nodes, self.entries = (record["training"][key] for key in ("nodes", "entries"))
        self._steps = 0
        self.traffic = self._traffic(settings, point.case)

    def run(self, steps: int) -> Window:
        """See `Workload.run`: the next steps of the running episode."""
        self._comm.barrier()
        first = Moment.now(self._comm, self._steps)
        for _ in range(steps):
            self._learner.advance(self._steps)
            self._steps += 1
        return Window.since(first, self._comm, self._steps)

    def _traffic(self, settings: TrainSettings, case: Case) -> Traffic:
        ranks, learning, message = self._comm.size, settings.learning, message_bytes(1)
        if settings.policy != "s2v":
            return Traffic(message, "nodes")
        shape = Shape.of(settings.model)
        paper = paper_training(shape, self.nodes, ranks, learning)
        if self.engine != "reference":
            return Traffic(message, "degree", paper=paper)
        exact = reference_training(shape, self.nodes, ranks, case.collective, learning)
        return Traffic(message, "nodes", exact, paper)


def _settings(point: Point) -> TrainSettings:
    case = point.case
    preset = load_train_settings(case.preset, (*_GREEDY, *case.overrides))
    if preset.method != "q-learning":
        raise SettingsError(
            f"{case.preset}: in {preset.method} the ranks share candidates, not graphs; name a "
            "preset of q-learning"
        )
    graph = GraphSource(**graph_source(point.graph))
    return replace(
        preset,
        problem=case.problem,
        train=(graph,),
        validation=(),
        learning=replace(preset.learning, engine=case.engine),
        parallel=ParallelSettings(collective=case.collective, balance=case.balance),
    )
