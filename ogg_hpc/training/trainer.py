"""Alg. 5: learn a policy by deep Q-learning, on all ranks together.

The ranks form groups of R; the ranks of a group share each graph by rows, and the groups act on
graphs of their own and average their gradients. Every random number is keyed by (seed, group,
step), and all decisions are made on rounded scores, so that a run depends on the number of
groups and not on R.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError
from ogg_hpc.policies.policy import Policy
from ogg_hpc.runtime.clock import Clock
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.random import integers, stream, uniform
from ogg_hpc.training.engine import Engine, Environment
from ogg_hpc.training.q_function import QFunction
from ogg_hpc.training.replay import ReplayBuffer
from ogg_hpc.training.settings import LearningSettings


class Trainer:
    """The learning state of a run and the two halves of a step: `act` and `learn`.

    Parameters
    ----------
    world
        All ranks.
    comm
        The ranks of this rank's group.
    group, groups
        Number of this group, and how many there are.
    engine
        The training graphs.
    policy
        The network that learns; moved to the device by the caller.
    settings
        Alg. 5.
    seed
        Seed of exploration and sampling.
    """

    def __init__(
        self,
        world: Communicator,
        comm: Communicator,
        group: int,
        groups: int,
        engine: Engine,
        policy: Policy,
        settings: LearningSettings,
        seed: int,
    ) -> None:
        self.world, self.comm = world, comm
        self.clock = Clock(world, "act", "learn", "average")
        self.group, self.groups = group, groups
        self.engine, self.settings, self.seed = engine, settings, seed
        self.q = QFunction(world, comm, groups, engine, policy, settings, self.clock)
        self.replay = ReplayBuffer(
            settings.replay, settings.n_step, settings.gamma, settings.targets == "stored"
        )
        self.episodes = 0
        self.environment = self._next_episode()

    # Acting: lines 6 to 17 of Alg. 5.

    def act(self, step: int) -> float | None:
        """Choose one node, epsilon-greedily; start a new episode when there is none (collective).

        Returns
        -------
        float or None
            Sum of rewards of the episode that ended, if one did.
        """
        explore = uniform(self.seed, stream("explore"), self.group, step)
        ended = None
        empty: set[int] = set()
        while len(empty) < len(self.engine.sizes):
            if explore < self.settings.epsilon(step):
                outcome = self.environment.random_step(
                    self.seed, stream("random action"), self.group, step
                )
            else:
                outcome = self.environment.step(self.q.policy)
            if outcome is not None:
                node, reward = outcome
                stored = self.settings.targets == "stored"
                value = self.environment.value(self.q.target) if stored else 0.0
                self.replay.append(node, self._scaled(reward), value)
                return ended
            if len(self.replay.running):
                ended = float(self.replay.running_return)
            else:
                empty.add(self.replay.graph)
            self.environment = self._next_episode()
        raise SettingsError("no training graph has a candidate node; are there edges in them?")

    def _next_episode(self) -> Environment:
        graph = self._next_graph()
        self.episodes += 1
        self.replay.start_episode(graph)
        return self._environment()

    def _next_graph(self) -> int:
        count = len(self.engine.sizes)
        return int(integers(count, self.seed, stream("episode"), self.group, self.episodes))

    def _environment(self) -> Environment:
        return self.engine.environment(self.replay.graph, self.replay.running)

    def _scaled(self, reward: float) -> float:
        if self.settings.reward == "per-node":
            return reward / int(self.engine.sizes[self.replay.graph])
        return reward

    # Learning: lines 18 to 29 of Alg. 5.

    def learn(self, step: int, iteration: int) -> float | None:
        """Make one gradient step on a sampled batch (collective).

        Returns
        -------
        float or None
            Mean squared error, averaged over the groups; None while the buffer is too empty.
        """
        transitions = self.replay.sample(
            self.settings.batch, self.seed, self.group, step, iteration
        )
        if self.engine.streams:
            present = [] if transitions is None else transitions.graphs.tolist()
            self.engine.expect([*present, *self._next_graphs(step, iteration)])
        return self.q.learn(transitions, step)

    def _next_graphs(self, step: int, iteration: int) -> list[int]:
        """Return the graphs of the next gradient step, and of the next episode."""
        settings, ahead = self.settings, 0
        if iteration + 1 == settings.tau:
            step, iteration, ahead = step + settings.train_frequency, -1, settings.train_frequency
        sampled = self.replay.graphs_ahead(
            ahead, settings.batch, self.seed, self.group, step, iteration + 1
        )
        return [*sampled, self._next_graph()]

    # State.

    def resume(self, episodes: int, replay: dict[str, NDArray[Any]]) -> None:
        """Take up the running episode of a checkpoint, or start the group's first one."""
        self.episodes = episodes
        self.replay.restore(replay)
        self.environment = self._environment() if episodes else self._next_episode()
