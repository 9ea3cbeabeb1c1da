"""The network that deep Q-learning fits to what actions earn: the learning half of Alg. 5.

Each group of ranks has tuples of its own, and all of them make each gradient step together: their
gradients are averaged. Who acts, and how tuples come about, is no matter here.
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
from ogg_hpc.training.engine import Engine, States
from ogg_hpc.training.q_settings import QSettings
from ogg_hpc.training.replay import Transitions


class QFunction:
    """A policy network with what fits it: target network, optimiser, averaged parameters.

    Parameters
    ----------
    world
        All ranks that learn.
    comm
        The ranks of this rank's group, which share each tuple.
    groups
        How many groups there are.
    engine
        The training graphs.
    policy
        The network that learns; moved to the device by the caller.
    settings
        Targets and optimiser.
    clock
        Gets the seconds of the collective as ``average``.

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
        groups: int,
        engine: Engine,
        policy: Policy,
        settings: QSettings,
        clock: Clock,
    ) -> None:
        self.world, self.comm, self.clock = world, comm, clock
        self._groups, self._engine, self._settings = groups, engine, settings
        self.policy = policy
        # Without a target network the policy itself values the states that follow.
        self.target = copy.deepcopy(policy) if settings.target_refresh else policy
        # What is evaluated and kept; without averaging, the policy itself.
        self.averaged = copy.deepcopy(policy) if settings.averaging else policy
        self.optimizer = torch.optim.Adam(policy.parameters(), lr=settings.learning_rate)

    def learn(self, transitions: Transitions | None, step: int) -> float | None:
        """Make one gradient step if all groups have tuples (collective).

        Parameters
        ----------
        transitions
            The tuples of this rank's group, None where it has none yet.
        step
            The environment step that the step size goes by.

        Returns
        -------
        float or None
            Mean squared error, averaged over the groups; None without a gradient step.
        """
        # Groups fill their buffers at different pace, and all take part in a gradient step.
        ready = np.array([transitions is not None], np.int64)
        if self._groups > 1:
            ready = self.world.allreduce(ready, "min")
        if transitions is None or not ready[0]:
            return None
        for parameters in self.optimizer.param_groups:
            parameters["lr"] = self._settings.step_size(step)
        return self.update(transitions)

    def update(self, transitions: Transitions) -> float:
        """Make one gradient step on given tuples (collective).

        Raises
        ------
        SettingsError
            The run has diverged.
        """
        states = self._engine.states(transitions.graphs, transitions.prefix)
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
                f"the loss is no longer finite; lower {self._settings.table}.learning_rate"
            ).shared()
        self.optimizer.step()
        if self.averaged is not self.policy:
            self._average_parameters()
        return mean_loss

    def _values(self, states: States) -> NDArray[np.float64]:
        """Return (B,) values by the target network; by its best node or the policy's [1]_."""
        if not self._settings.double:
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
            total = device.tensor(self.world.allreduce(flat)) / self._groups
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
                mean.lerp_(present, 1 - self._settings.averaging)

    def refresh_target(self, before: int, step: int) -> None:
        """Copy the parameters into the target network if that has become due between two steps."""
        every = self._settings.target_refresh
        if every and step // every > before // every:
            self.target.load_state_dict(self.policy.state_dict())

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Return the parameters of all networks and Adam's moments, the same on every rank."""
        arrays = {
            f"{network}/{name}": value.cpu().numpy()
            for network, policy in self._networks.items()
            for name, value in policy.state_dict().items()
        }
        for index, moments in self.optimizer.state_dict()["state"].items():
            for name, value in moments.items():
                arrays[f"adam/{index}/{name}"] = value.cpu().numpy()
        return arrays

    def restore(self, arrays: dict[str, NDArray[np.generic]]) -> None:
        """Take over what `state` returned; other arrays are passed over."""
        for network, policy in self._networks.items():
            parameters = part_of(arrays, f"{network}/")
            policy.load_state_dict({name: torch.from_numpy(v) for name, v in parameters.items()})
        moments: dict[int, dict[str, torch.Tensor]] = {}
        for name, value in part_of(arrays, "adam/").items():
            index, _, key = name.partition("/")
            moments.setdefault(int(index), {})[key] = torch.from_numpy(value)
        self.optimizer.load_state_dict(self.optimizer.state_dict() | {"state": moments})

    @property
    def _networks(self) -> dict[str, Policy]:
        return {"policy": self.policy, "target": self.target, "averaged": self.averaged}

    def check_ranks_agree(self) -> None:
        """Raise if the parameters differ between ranks (collective)."""
        digest = hashlib.sha256()
        for parameter in self.policy.parameters():
            digest.update(parameter.detach().cpu().numpy().tobytes())
        digests = self.world.gather_objects(digest.hexdigest())
        different = [rank for rank, other in enumerate(digests) if other != digests[0]]
        if different:
            raise RuntimeError(f"ranks {different} hold other parameters than rank 0")


def part_of(arrays: dict[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """Return the arrays whose names start with a prefix, by what follows it."""
    return {
        name.removeprefix(prefix): value
        for name, value in arrays.items()
        if name.startswith(prefix)
    }
