"""Alg. 5 as a training run's learner."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError
from ogg_hpc.policies.file import save_policy
from ogg_hpc.policies.policy import Policy
from ogg_hpc.policies.registry import make_policy
from ogg_hpc.problems.problem import Problem
from ogg_hpc.problems.registry import problem_by_name
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.search.networks import NETWORKS
from ogg_hpc.training.checkpoint import restore_trainer, trainer_state
from ogg_hpc.training.engine import make_engine
from ogg_hpc.training.evaluation import Evaluation
from ogg_hpc.training.rows import training_rows
from ogg_hpc.training.settings import TrainSettings
from ogg_hpc.training.trainer import Trainer


class QLearner:
    """Deep Q-learning; see `ogg_hpc.training.learner.Learner` (collective).

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

    def __init__(self, comm: Communicator, settings: TrainSettings) -> None:
        self._comm, self._settings = comm, settings
        group, self.groups = _groups(comm, settings)
        part = comm.split(group)
        problem, policy = comm.on_all(
            lambda: (
                problem_by_name(settings.problem),
                make_policy(settings.policy, settings.model, settings.seed),
            )
        )
        comm.on_all(lambda: _check_rules(policy, problem))
        self._problem = problem
        policy.to(comm.device.name)
        parallel = settings.parallel
        graphs = comm.on_all(
            lambda: training_rows(
                part, settings.train, parallel.balance, problem.uses_weights, settings.graph_cache
            )
        )
        self._training_graphs = {
            "graphs": len(graphs),
            "nodes": int(graphs.sizes.sum()),
            "entries": int(graphs.entries.sum()),
        }
        self._streamed = graphs if graphs.stored else None
        self._engine = make_engine(
            settings.learning.engine, part, graphs, problem, policy, parallel.collective
        )
        self.evaluation = comm.on_all(
            lambda: Evaluation(
                comm,
                part,
                group,
                self.groups,
                problem,
                settings.validation,
                parallel.collective,
                parallel.balance,
            )
        )
        self._trainer = Trainer(
            comm,
            part,
            group,
            self.groups,
            self._engine,
            policy,
            settings.learning,
            settings.seed,
        )
        self.clock = self._trainer.clock

    def advance(self, step: int) -> tuple[dict[str, Any], str]:
        """Make an environment step and the gradient steps after it; see `Learner.advance`."""
        with self.clock("act"):
            ended = self._trainer.act(step)
        loss = None
        learning = self._settings.learning
        if (step + 1) % learning.train_frequency == 0:
            for iteration in range(learning.tau):
                with self.clock("learn"):
                    loss = self._trainer.learn(step, iteration)
        self._trainer.q.refresh_target(step, step + 1)
        values = {"loss": loss, "epsilon": learning.epsilon(step), "return": ended}
        return values, "" if loss is None else f"loss {loss:.2e}"

    def ratios(self) -> dict[str, float]:
        """See `Learner.ratios`."""
        return self.evaluation.ratios(self._trainer.q.averaged)

    def check_ranks_agree(self) -> None:
        """See `Learner.check_ranks_agree`."""
        self._trainer.q.check_ranks_agree()

    def save_policy(self, path: Path, training: dict[str, Any]) -> None:
        """See `Learner.save_policy`."""
        policy = self._trainer.q.averaged
        save_policy(path, policy, self._settings.policy, self._problem.name, training)

    def state(self) -> dict[str, NDArray[np.generic]] | None:
        """See `Learner.state`."""
        return trainer_state(self._trainer)

    def restore(self, state: dict[str, NDArray[np.generic]] | None) -> None:
        """See `Learner.restore`."""
        restore_trainer(self._trainer, state)

    def record(self) -> dict[str, Any]:
        """See `Learner.record`."""
        return {
            "engine": self._engine.name,
            "training": self._training_graphs,
            "reading": self._reading(),
            "adjacency_bytes": max(self._comm.gather_objects(self._engine.adjacency_bytes)),
            "replay_bytes_per_tuple": self._trainer.replay.bytes_per_tuple,
        }

    def _reading(self) -> dict[str, float] | None:
        """Return the worst of all ranks' `TrainingRows.reading`, None where all is held."""
        if self._streamed is None:
            return None
        reading = self._comm.gather_objects(self._streamed.reading)
        return {name: max(each[name] for each in reading) for name in reading[0]}


def _check_rules(policy: Policy, problem: Problem) -> None:
    network = NETWORKS.get(policy.name)
    misfit = None if network is None else network.misfit(problem)
    if misfit is not None:
        raise SettingsError(f"policy = {policy.name!r} {misfit}; use 's2v'")


def _groups(comm: Communicator, settings: TrainSettings) -> tuple[int, int]:
    ranks = settings.parallel.ranks_per_graph or comm.size
    if comm.size % ranks:
        error = SettingsError(
            f"{comm.size} ranks cannot form groups of {ranks}; "
            "choose parallel.ranks_per_graph so that it divides the number of ranks"
        )
        raise error.shared()
    return comm.rank // ranks, comm.size // ranks
