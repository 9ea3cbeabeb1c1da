"""Evolution strategies over ranks: learn the nine numbers of a two-message policy.

Each generation draws candidates, the same on all ranks, and the ranks share the pairs of a
candidate and a training graph. No gradient is taken, and nothing but sizes of covers is sent. The
run is the same for every number of ranks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError
from ogg_hpc.policies.degree_messages import NETWORK, TwoMessageForm, two_messages
from ogg_hpc.policies.file import save_parameters
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.problems.problem import Problem
from ogg_hpc.problems.registry import problem_by_name
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.random import hash64, stream
from ogg_hpc.search.scalar_search import scalar_search
from ogg_hpc.search.schedule import ONE
from ogg_hpc.training.checkpoint import read_archive, write_archive
from ogg_hpc.training.evaluation import Evaluation, HeldOut
from ogg_hpc.training.fitness import Fitness
from ogg_hpc.training.settings import GraphSource, TrainSettings
from ogg_hpc.training.strategy import Strategy


class EvolutionLearner:
    """CMA-ES on a two-message policy; see `ogg_hpc.training.learner.Learner` (collective).

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

    steps_key = "evolution.generations"
    groups = 1

    def __init__(self, comm: Communicator, settings: TrainSettings) -> None:
        self._comm, self._settings = comm, settings
        evolution = settings.evolution
        self.steps = evolution.generations
        self._problem = comm.on_all(lambda: _vertex_cover(settings))
        # A rank covers whole graphs, alone.
        self._alone = comm.split(comm.rank)
        start = np.array(evolution.start)
        self._strategy = Strategy(comm, start, evolution.sigma, evolution.population, settings.seed)
        self._fitness = self._judged_on(settings.train) if evolution.graphs == "fixed" else None
        parallel = settings.parallel
        self.evaluation = comm.on_all(
            lambda: Evaluation(
                comm,
                self._alone,
                comm.rank,
                comm.size,
                self._problem,
                settings.validation,
                parallel.collective,
                parallel.balance,
            )
        )

    def advance(self, step: int) -> tuple[dict[str, Any], str]:
        """Draw and judge a generation; see `Learner.advance`."""
        fitness = self._fitness or self._judged_on(
            tuple(_of_generation(source, step) for source in self._settings.train)
        )
        candidates = self._strategy.draw()
        values = fitness([self._form(numbers, fitness.largest) for numbers in candidates])
        self._strategy.tell(values)
        spread = candidates.std(axis=0).mean()
        shown = {"best": values.min(), "mean": values.mean(), "spread": spread}
        return {name: float(value) for name, value in shown.items()}, f"best {values.min():.4f}"

    def ratios(self) -> dict[str, float]:
        """See `Learner.ratios`."""
        mean = self._strategy.mean

        def solve(held_out: HeldOut) -> list[NDArray[np.int64]]:
            solutions = []
            for i, block in zip(held_out.mine, held_out.blocks, strict=True):
                forced = self._problem.forced(held_out.graphs[i])
                form = self._form(mean, block.n)
                solutions += scalar_search(self._alone, block, form, ONE, forced).solutions
            return solutions

        return self.evaluation.ratios_of(solve)

    def check_ranks_agree(self) -> None:
        """Do nothing: rank 0 alone holds the parameters."""

    def save_policy(self, path: Path, training: dict[str, Any]) -> None:
        """See `Learner.save_policy`."""
        arrays = _parameters(self._strategy.mean)
        save_parameters(path, NETWORK, {}, arrays, self._problem.name, training)

    def save(self, path: Path, progress: dict[str, Any]) -> None:
        """Write the values of all generations: the strategy's state follows from them."""
        values = np.array(self._strategy.history)
        header = {"method": "evolution", "progress": progress}
        self._comm.on_root(lambda: write_archive(path, header, {"values": values}))

    def load(self, path: Path, check: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        """See `Learner.load`."""
        header, arrays = self._comm.on_root(lambda: read_archive(path))
        progress: dict[str, Any] = header["progress"]
        check(progress)
        self._strategy.restore(arrays["values"])
        return progress

    def record(self) -> dict[str, Any]:
        """See `Learner.record`."""
        return {"engine": "scalar"}

    def _form(self, numbers: NDArray[np.float64], n: int) -> TwoMessageForm:
        return two_messages(n, self._settings.evolution.refresh_above, **_parameters(numbers))

    def _judged_on(self, sources: tuple[GraphSource, ...]) -> Fitness:
        return Fitness(self._comm, self._alone, self._problem, sources)


def _vertex_cover(settings: TrainSettings) -> Problem:
    problem = problem_by_name(settings.problem)
    if settings.policy != NETWORK or type(problem) is not MinimumVertexCover:
        raise SettingsError(
            f"evolution learns policy = {NETWORK!r} for problem = 'mvc', not "
            f"{settings.policy!r} for {settings.problem!r}"
        )
    return problem


def _parameters(numbers: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    return {"first": numbers[:3], "second": numbers[3:7], "score": numbers[7:]}


def _of_generation(source: GraphSource, generation: int) -> GraphSource:
    """Return a source with a generation's own seed; a file has the same graphs always."""
    return replace(source, seed=int(hash64(source.seed, stream("generation"), generation)) >> 1)
