"""Proximal policy optimisation [1]_, by all learners together.

A round: the actors of each learner step by one version of the network; their steps become a batch
with advantages; the batch is gone through some times in minibatches. A gradient is the sum over the
steps of a minibatch on all learners divided by their number, so that a learner counts by its steps.

References
----------
.. [1] Schulman et al., "Proximal policy optimization algorithms", arXiv:1707.06347, 2017.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ogg_hpc.actors.advantages import advantages
from ogg_hpc.actors.algorithm import Advance
from ogg_hpc.actors.cell import Cell
from ogg_hpc.actors.collectors.rollout import step_layout
from ogg_hpc.actors.flat_module import FlatModule
from ogg_hpc.actors.fragment import Fragment
from ogg_hpc.actors.moments import Moments
from ogg_hpc.actors.networks.registry import make_network
from ogg_hpc.actors.networks.trainable import TrainableNetwork
from ogg_hpc.actors.normalisation import ObservationNormaliser
from ogg_hpc.actors.novelty import Novelty
from ogg_hpc.actors.ppo_batch import Batch, joined, part
from ogg_hpc.actors.return_scale import ReturnScale
from ogg_hpc.actors.schema import Schema
from ogg_hpc.actors.settings import ActorsSettings
from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.random import permutation, stream

# What is summed over the steps of a minibatch, beside the gradients.
SUMS = ("policy_loss", "value_loss", "entropy", "kl", "clipped", "steps")


class PPO:
    """Proximal policy optimisation; see `ogg_hpc.actors.algorithm.Algorithm` (collective).

    Parameters
    ----------
    learners
        The learners.
    settings
        The run.
    schema
        What is observed and done.

    Raises
    ------
    SettingsError
        A network that does not fit, or a round of fewer steps than learners.
    """

    def __init__(self, learners: Communicator, settings: ActorsSettings, schema: Schema) -> None:
        self._learners, self._settings, self._run = learners, settings.ppo, settings
        if self._settings.round_steps < learners.size:
            raise SettingsError(
                f"ppo.round_steps is {self._settings.round_steps}; {learners.size} learners need"
                " at least a step each"
            ).shared()
        self._layout = step_layout(schema)
        self._module, initial = learners.on_all(lambda: _make(settings, schema))
        # Those of one learner: others might round otherwise.
        _load(self._module, learners.broadcast_object(initial))
        self._module.to(learners.device.name)
        self._flat = FlatModule(self._module, len(SUMS))
        self._adam = torch.optim.Adam([self._flat.parameter], eps=1e-5)
        self._normaliser = ObservationNormaliser(schema)
        self._scale = ReturnScale(settings.ppo.gamma)
        self._novelty = Novelty(settings.ppo.novelty)
        self._steps = self._rounds = 0

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """See `Algorithm.arrays`."""
        parameters = {
            name: each.detach().cpu().numpy().copy()
            for name, each in self._module.named_parameters()
        }
        return parameters | self._normaliser.arrays()

    def advance(self, cell: Cell) -> Advance:
        """See `Algorithm.advance`."""
        size, rank = self._learners.size, self._learners.rank
        share = (self._settings.round_steps + size - 1 - rank) // size
        advance = self.learn([each for each in cell.collect(share) if each.steps])
        if advance.steps:
            cell.publish(self.arrays())
        return advance

    def learn(self, fragments: Sequence[Fragment]) -> Advance:
        """Update the network by what each learner has collected (collective)."""
        arrays = joined(fragments, self._layout)
        batch, values = self._batch(fragments, arrays)
        steps = int(values.pop("steps"))
        if not steps:
            return Advance(0, {}, "nothing collected")
        values |= self._update(batch)
        if self._settings.normalise_observations:
            self._normaliser.merge(part(arrays, "observation/"), self._learners)
        self._steps += steps
        self._rounds += 1
        return Advance(steps, values, _text(values))

    def _batch(
        self, fragments: Sequence[Fragment], arrays: dict[str, NDArray[Any]]
    ) -> tuple[Batch, dict[str, Any]]:
        """Return this learner's batch, and what there is to say of the steps of all learners."""
        settings = self._settings
        rewards = arrays["reward"]
        if settings.normalise_returns:
            self._scale.merge(fragments, self._learners)
            rewards = rewards / self._scale.moments.deviation
        rewards = self._novelty.weighed(rewards, fragments, self._learners)
        gains = advantages(
            rewards, arrays["value"], arrays["next_value"], arrays["terminated"],
            arrays["stopped"], settings.gamma, settings.gae_lambda,
        )  # fmt: skip
        targets = gains + arrays["value"]
        over_all = Moments((2,))
        over_all.merge(np.stack([gains, targets], 1), self._learners)
        deviation = over_all.deviation
        observations = self._normaliser.normalise(part(arrays, "observation/"))
        batch = Batch(
            {name: self._tensor(each) for name, each in observations.items()},
            {name: self._tensor(each) for name, each in part(arrays, "action/").items()},
            self._tensor(arrays["log_probability"]),
            self._tensor(arrays["value"]),
            self._tensor((gains - over_all.mean[0]) / deviation[0]),
            self._tensor(targets),
        )
        episodes = Moments((2,))
        ended = [(each["return"], each["length"]) for one in fragments for each in one.episodes]
        episodes.merge(np.reshape(ended, (-1, 2)), self._learners)
        return batch, {
            "steps": over_all.count,
            "episodes": int(episodes.count),
            "return": float(episodes.mean[0]) if episodes.count else None,
            "length": float(episodes.mean[1]) if episodes.count else None,
            "repeated": self._novelty.repeated,
            # What is left of the values' errors is what the advantages are made of.
            "explained_variance": float(1 - (deviation[0] / deviation[1]) ** 2),
        }

    def _update(self, batch: Batch) -> dict[str, Any]:
        """Go through the batch of each learner; return means over the steps gone through."""
        settings, done = self._settings, self._steps / self._run.steps
        self._adam.param_groups[0]["lr"] = settings.learning_rate_at(done)
        over_all = np.zeros(len(SUMS))
        for minibatch in self._minibatches(batch):
            gradient, sums = self._sums(
                minibatch, settings.clip_at(done), settings.entropy_at(done)
            )
            steps = sums[-1]
            if not steps:
                continue
            over_all += sums
            if settings.target_kl and sums[SUMS.index("kl")] > settings.target_kl * steps:
                break
            self._descend(gradient / steps)
        means = over_all[:-1] / over_all[-1]
        if not np.isfinite(means).all():
            # All learners have the same sums.
            raise SettingsError(
                "the loss is no longer finite; lower ppo.learning_rate, or set"
                " ppo.normalise_observations or ppo.normalise_returns where numbers are large"
            ).shared()
        return dict(zip(SUMS, map(float, means), strict=False))

    def _minibatches(self, batch: Batch) -> Iterator[Batch]:
        """Yield this learner's parts of the minibatches of all epochs: as many on all learners."""
        parts = math.ceil(self._settings.round_steps / self._settings.minibatch)
        for epoch in range(self._settings.epochs):
            if parts == 1:
                yield batch
                continue
            items = (stream("ppo minibatches"), self._learners.rank, self._rounds, epoch)
            order = permutation(len(batch), self._run.seed, *items)
            for steps in np.array_split(order, parts):
                yield batch.take(self._tensor(steps))

    def _sums(
        self, batch: Batch, clip: float, entropy_weight: float
    ) -> tuple[torch.Tensor, NDArray[np.float64]]:
        """Return the gradient and `SUMS` over the steps of a minibatch on all learners."""
        flat, device = self._flat, self._learners.device
        flat.sums.zero_()
        if len(batch):
            found = self._module.evaluate(batch.observations, batch.actions)
            log_ratio = found.log_probability - batch.log_probability
            ratio = torch.exp(log_ratio)
            clipped = ratio.clamp(1 - clip, 1 + clip)
            gain = torch.minimum(ratio * batch.advantage, clipped * batch.advantage)
            error = (found.value - batch.target) ** 2
            if self._settings.value_clip:
                limit = self._settings.value_clip
                near = batch.value + (found.value - batch.value).clamp(-limit, limit)
                error = torch.maximum(error, (near - batch.target) ** 2)
            loss = self._settings.value_weight * error - gain
            if entropy_weight:
                loss = loss - entropy_weight * found.entropy
            loss.sum().backward()  # type: ignore[no-untyped-call]
            with torch.no_grad():
                # A divergence whose every term is positive (Schulman, "Approximating KL", 2020).
                kl = ratio - 1 - log_ratio
                told = [-gain, error, found.entropy, kl, ratio != clipped, torch.ones_like(ratio)]
                flat.sums[-len(SUMS) :] = torch.stack([each.float() for each in told]).sum(1)
        total = device.tensor(self._learners.allreduce(device.array(flat.sums)))
        return total[: -len(SUMS)], total[-len(SUMS) :].double().cpu().numpy()

    def _descend(self, gradient: torch.Tensor) -> None:
        """Make a step of Adam, the same on all learners."""
        limit = self._settings.gradient_norm
        if limit:
            gradient *= (limit / (gradient.norm() + 1e-6)).clamp(max=1.0)
        self._flat.parameter.grad = gradient
        self._adam.step()

    def _tensor(self, array: NDArray[Any]) -> torch.Tensor:
        """Return an array on the device; all real numbers there are float32."""
        if np.issubdtype(array.dtype, np.floating):
            array = array.astype(np.float32, copy=False)
        device = self._learners.device
        return device.tensor(device.from_host(np.ascontiguousarray(array)))

    # State.

    def state(self) -> dict[str, NDArray[np.generic]] | None:
        """See `Algorithm.state`."""
        if self._learners.rank:
            return None
        moments = self._adam.state_dict()["state"].get(0, {})
        return {
            **{f"network/{name}": each for name, each in self.arrays().items()},
            **{f"adam/{name}": each.cpu().numpy().copy() for name, each in moments.items()},
            **self._scale.moments.arrays("returns/"),
            "novelty": self._novelty.state(),
            "steps": np.array(self._steps),
            "rounds": np.array(self._rounds),
        }

    def restore(self, state: dict[str, NDArray[np.generic]] | None) -> None:
        """See `Algorithm.restore`."""
        state = self._learners.broadcast_object(state)
        assert state is not None
        network = part(state, "network/")
        _load(self._module, network)
        self._normaliser.load(network)
        moments = {name: torch.from_numpy(each) for name, each in part(state, "adam/").items()}
        adam = self._adam.state_dict()
        self._adam.load_state_dict(adam | {"state": {0: moments} if moments else {}})
        self._scale.moments.load(state, "returns/")
        self._novelty.restore(state["novelty"])
        self._steps, self._rounds = int(state["steps"]), int(state["rounds"])

    def save(self, folder: Path) -> None:
        """See `Algorithm.save`: there is nothing else."""

    def record(self) -> dict[str, Any]:
        """See `Algorithm.record`."""
        return {"parameters": self._flat.parameter.numel(), "rounds": self._rounds}


def _make(
    settings: ActorsSettings, schema: Schema
) -> tuple[TrainableNetwork, dict[str, NDArray[np.float32]]]:
    """Return the torch form of a run's network and fresh parameters, which fit each other."""
    network = make_network(settings.network.name, schema, settings.network.model)
    module, initial = network.trainable(), network.initial(settings.seed)
    in_torch = {name: tuple(each.shape) for name, each in module.named_parameters()}
    in_numpy = {name: each.shape for name, each in initial.items()}
    if in_torch != in_numpy:
        raise SettingsError(
            f"network {settings.network.name}: the parameters are {in_numpy} in NumPy, and"
            f" {in_torch} in torch; both forms need the same names and shapes"
        )
    return module, initial


def _load(module: torch.nn.Module, arrays: dict[str, NDArray[Any]]) -> None:
    """Copy arrays into the parameters of the same names; others are left alone."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            parameter.copy_(torch.from_numpy(np.asarray(arrays[name])))


def _text(values: dict[str, Any]) -> str:
    found = values["return"]
    return "no episode ended" if found is None else f"return {found:.2f}"
