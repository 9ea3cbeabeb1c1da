"""Alg. 5: learn a policy by deep Q-learning, on all ranks together.

The ranks form groups of R; the ranks of a group share each graph by rows, and the groups act on
graphs of their own and average their gradients. Every random number is keyed by (seed, group,
step), and all decisions are made on rounded scores, so that a run depends on the number of
groups and not on R.
"""

from __future__ import annotations

import copy
import hashlib
import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError
from ogg_hpc.policies.policy import Policy
from ogg_hpc.runtime.clock import Clock
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.random import integers, stream, uniform
from ogg_hpc.training.engine import Engine, Environment, States
from ogg_hpc.training.replay import ReplayBuffer, Transitions
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

    References
    ----------
    .. [1] van Hasselt et al., "Deep reinforcement learning with double Q-learning", AAAI 2016.
    .. [2] Polyak and Juditsky, "Acceleration of stochastic approximation by averaging", SIAM
       Journal on Control and Optimization 30, 1992.
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
        self.engine, self.policy = engine, policy
        self.settings, self.seed = settings, seed
        # Without a target network the policy itself values the states that follow.
        self.target = copy.deepcopy(policy) if settings.target_refresh else policy
        # What is evaluated and kept; without averaging, the policy itself.
        self.averaged = copy.deepcopy(policy) if settings.averaging else policy
        self.optimizer = torch.optim.Adam(policy.parameters(), lr=settings.learning_rate)
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
                outcome = self.environment.step(self.policy)
            if outcome is not None:
                node, reward = outcome
                stored = self.settings.targets == "stored"
                value = self.environment.value(self.target) if stored else 0.0
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
        # Groups fill their buffers at different pace, and all take part in a gradient step.
        ready = np.array([transitions is not None], np.int64)
        if self.groups > 1:
            ready = self.world.allreduce(ready, "min")
        if transitions is None or not ready[0]:
            return None
        for parameters in self.optimizer.param_groups:
            parameters["lr"] = self.settings.step_size(step)
        return self.update(transitions)

    def _next_graphs(self, step: int, iteration: int) -> list[int]:
        """Return the graphs of the next gradient step, and of the next episode."""
        settings, ahead = self.settings, 0
        if iteration + 1 == settings.tau:
            step, iteration, ahead = step + settings.train_frequency, -1, settings.train_frequency
        sampled = self.replay.graphs_ahead(
            ahead, settings.batch, self.seed, self.group, step, iteration + 1
        )
        return [*sampled, self._next_graph()]

    def update(self, transitions: Transitions) -> float:
        """Make one gradient step on given tuples (collective).

        Raises
        ------
        SettingsError
            The run has diverged.
        """
        states = self.engine.states(transitions.graphs, transitions.prefix)
        values = transitions.values
        if not transitions.discounts.any():  # whole episodes were summed
            values = np.zeros(len(transitions.discounts))
        elif values is None:
            values = self._values(states.after(transitions.next_prefix))
        targets = transitions.returns + transitions.discounts * values

        predicted, tuples = states.predicted(self.policy, transitions.actions)
        device = self.comm.device
        wanted = device.tensor(device.from_host(targets[tuples]))
        loss = ((predicted - wanted) ** 2).sum() / len(targets)

        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        mean_loss = self._average_gradients(loss)
        if not math.isfinite(mean_loss):
            # All ranks have the same sum.
            raise SettingsError(
                "the loss is no longer finite; lower learning.learning_rate"
            ).shared()
        self.optimizer.step()
        if self.averaged is not self.policy:
            self._average_parameters()
        return mean_loss

    def _values(self, states: States) -> NDArray[np.float64]:
        """Return (B,) values by the target network; by its best node or the policy's [1]_."""
        if not self.settings.double:
            return states.values(self.target)
        nodes = states.best(self.policy)
        with torch.no_grad():
            scores, mine = states.predicted(self.target, np.maximum(nodes, 0))
        values = np.zeros(len(nodes))
        values[mine] = scores.cpu().numpy()
        found: NDArray[np.float64] = np.where(nodes < 0, 0.0, self.comm.allreduce(values))
        return found

    def _average_gradients(self, loss: torch.Tensor) -> float:
        """Sum gradients over the ranks of a group and average over groups: one flat Allreduce."""
        parameters = list(self.policy.parameters())
        parts = [
            (torch.zeros_like(p) if p.grad is None else p.grad).reshape(-1) for p in parameters
        ]
        device = self.world.device
        flat = device.array(torch.cat([*parts, loss.detach().reshape(1)]))
        with self.clock("average"):
            total = device.tensor(self.world.allreduce(flat)) / self.groups
        start = 0
        for parameter in parameters:
            part = total[start : start + parameter.numel()]
            parameter.grad = part.reshape(parameter.shape).clone()
            start += parameter.numel()
        return float(total[-1])

    def _average_parameters(self) -> None:
        """Move the exponential moving average of the parameters to the present ones [2]_."""
        with torch.no_grad():
            for mean, present in zip(
                self.averaged.parameters(), self.policy.parameters(), strict=True
            ):
                mean.lerp_(present, 1 - self.settings.averaging)

    def refresh_target(self, step: int) -> None:
        """Copy the parameters into the target network when that is due."""
        every = self.settings.target_refresh
        if every and step % every == 0:
            self.target.load_state_dict(self.policy.state_dict())

    # State.

    @property
    def networks(self) -> dict[str, Policy]:
        """The networks whose parameters make up the learning state, by name."""
        return {"policy": self.policy, "target": self.target, "averaged": self.averaged}

    def resume(self, episodes: int, replay: dict[str, NDArray[Any]]) -> None:
        """Take up the running episode of a checkpoint, or start the group's first one."""
        self.episodes = episodes
        self.replay.restore(replay)
        self.environment = self._environment() if episodes else self._next_episode()

    def check_ranks_agree(self) -> None:
        """Raise if the parameters differ between ranks (collective)."""
        digest = hashlib.sha256()
        for parameter in self.policy.parameters():
            digest.update(parameter.detach().cpu().numpy().tobytes())
        digests = self.world.gather_objects(digest.hexdigest())
        different = [rank for rank, other in enumerate(digests) if other != digests[0]]
        if different:
            raise RuntimeError(f"ranks {different} hold other parameters than rank 0")
