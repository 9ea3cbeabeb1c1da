"""Evolution strategies over ranks: learn the few parameters of a policy of messages.

Each generation draws candidates, the same on all ranks, and the ranks share the pairs of a
candidate and a training graph. No gradient is taken, and nothing but objectives is sent. The run
is the same for every number of ranks.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError
from ogg_hpc.policies.file import StoredPolicy, save_parameters
from ogg_hpc.problems.registry import problem_by_name
from ogg_hpc.runtime.clock import Clock
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.random import hash64, stream
from ogg_hpc.search.networks import NETWORKS, MessageNetwork
from ogg_hpc.training.evaluation import Evaluation, HeldOut
from ogg_hpc.training.fitness import Fitness, Player
from ogg_hpc.training.settings import GraphSource, TrainSettings
from ogg_hpc.training.strategy import Strategy


class EvolutionLearner:
    """CMA-ES on a policy of messages; see `ogg_hpc.training.learner.Learner` (collective).

    Parameters
    ----------
    comm
        All ranks.
    settings
        The run.

    Raises
    ------
    OggError
        Settings or files that do not fit.
    """

    groups = 1

    def __init__(self, comm: Communicator, settings: TrainSettings) -> None:
        self._comm, self._settings = comm, settings
        self.clock = Clock(comm, "draw", "play", "tell")
        evolution, parallel = settings.evolution, settings.parallel
        comm.on_all(lambda: _check_ranks(parallel.ranks_per_graph))
        network = comm.on_all(lambda: _network(settings.policy))
        start = np.array(evolution.start or network.start, np.float64)
        comm.on_all(lambda: _check_start(start, network))
        # A rank solves whole graphs, alone.
        alone = comm.alone()
        problem = comm.on_all(lambda: problem_by_name(settings.problem))
        self._player = comm.on_all(lambda: Player(alone, problem, network))
        self._strategy = Strategy(comm, start, evolution.sigma, evolution.population, settings.seed)
        self._fitness = self._judged_on(settings.train) if evolution.graphs == "fixed" else None
        self.evaluation = comm.on_all(
            lambda: Evaluation(
                comm,
                alone,
                comm.rank,
                comm.size,
                problem,
                settings.validation,
                parallel.collective,
                parallel.balance,
            )
        )

    def advance(self, step: int) -> tuple[dict[str, Any], str]:
        """Draw and judge a generation; see `Learner.advance`."""
        with self.clock("draw"):
            fitness = self._fitness or self._judged_on(
                tuple(_of_generation(source, step) for source in self._settings.train)
            )
            candidates = self._strategy.draw()
        with self.clock("play"):
            values = fitness([self._form(numbers, fitness.largest) for numbers in candidates])
        with self.clock("tell"):
            self._strategy.tell(values)
        spread = candidates.std(axis=0).mean()
        shown = {"best": values.min(), "mean": values.mean(), "spread": spread}
        return {name: float(value) for name, value in shown.items()}, f"best {values.min():.4f}"

    def ratios(self) -> dict[str, float]:
        """See `Learner.ratios`."""
        player, mean = self._player, self._strategy.mean

        def solve(held_out: HeldOut) -> list[NDArray[np.int64]]:
            graphs = [held_out.graphs[i] for i in held_out.mine]
            form = self._form(mean, max(graph.n for graph in graphs))
            return [player.solve(graph, player.played(graph), form) for graph in graphs]

        return self.evaluation.ratios_of(solve)

    def check_ranks_agree(self) -> None:
        """Do nothing: rank 0 alone holds the parameters."""

    def save_policy(self, path: Path, training: dict[str, Any]) -> None:
        """See `Learner.save_policy`."""
        stored = self._stored(self._strategy.mean)
        save_parameters(path, stored.network, {}, stored.arrays, stored.problem, training)

    def state(self) -> dict[str, NDArray[np.generic]] | None:
        """Return the values of all generations: the strategy's state follows from them."""
        return {"values": np.array(self._strategy.history, np.float64)}

    def restore(self, state: dict[str, NDArray[np.generic]] | None) -> None:
        """See `Learner.restore`."""
        values = self._comm.broadcast_object(state)
        assert values is not None
        self._strategy.restore(np.asarray(values["values"], np.float64))

    def record(self) -> dict[str, Any]:
        """See `Learner.record`."""
        return {"engine": "scalar"}

    def _form(self, numbers: NDArray[np.float64], n: int) -> Any:
        return self._player.network.form(self._stored(numbers), n)

    def _stored(self, numbers: NDArray[np.float64]) -> StoredPolicy:
        network = self._player.network
        arrays = network.parameter_arrays(numbers)
        return StoredPolicy(Path(), network.name, {}, arrays, self._player.problem.name, {})

    def _judged_on(self, sources: tuple[GraphSource, ...]) -> Fitness:
        return Fitness(self._comm, self._player, sources, self._settings.graph_cache)


def _check_ranks(ranks_per_graph: int) -> None:
    if ranks_per_graph:
        raise SettingsError(
            "in evolution the ranks share candidates, not graphs: leave out "
            "parallel.ranks_per_graph"
        )


def _network(name: str) -> MessageNetwork:
    network = NETWORKS.get(name)
    if network is None:
        names = " or ".join(map(repr, NETWORKS))
        raise SettingsError(f"evolution learns policy = {names}, not {name!r}")
    return network


def _check_start(start: NDArray[np.float64], network: MessageNetwork) -> None:
    wanted = len(network.start)
    if len(start) != wanted:
        raise SettingsError(
            f"evolution.start of {network.name} is {wanted} numbers, not {len(start)}"
        )


def _of_generation(source: GraphSource, generation: int) -> GraphSource:
    """Return a source with a generation's own seed; a file has the same graphs always."""
    return replace(source, seed=int(hash64(source.seed, stream("generation"), generation)) >> 1)
