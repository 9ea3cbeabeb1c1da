"""Two perceptrons, one for the policy and one for the values, of any flat observation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.actors.networks.heads import MASK, ActionHead
from ogg_hpc.actors.networks.network import Acted, Arrays, Network
from ogg_hpc.actors.schema import Leaf, Schema
from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.random import stream, uniform
from ogg_hpc.settings import misfit, setting

if TYPE_CHECKING:
    from ogg_hpc.actors.networks.mlp_torch import TrainableMLP

ACTIVATIONS = ("tanh", "relu")


@dataclass(frozen=True)
class MLPSettings:
    """Settings of `MLP`."""

    hidden: tuple[int, ...] = setting((64, 64), "widths of the hidden layers")
    activation: str = setting("tanh", "what follows a hidden layer: tanh or relu")
    deviation: float = setting(1.0, "standard deviation of real actions, at first")

    def __post_init__(self) -> None:
        if any(width < 1 for width in self.hidden):
            raise misfit("hidden", "hidden layers have a width of at least 1")
        if self.activation not in ACTIVATIONS:
            names = " or ".join(ACTIVATIONS)
            raise misfit("activation", f"activation is {names}, not {self.activation!r}")
        if not 0 < self.deviation < math.inf:
            raise misfit("deviation", "deviation must be positive and finite")


class MLP(Network):
    """Perceptrons of all leaves of an observation, one after another.

    Real numbers enter as they are, choices as 0 and 1 for each of their outcomes. Weights are
    orthogonal at first, those of the actions small, so that all of them are about as probable.

    Parameters
    ----------
    schema
        What is observed and done.
    settings
        Widths, activation.

    Raises
    ------
    SettingsError
        Actions that `ActionHead` cannot serve, or an observation with nothing in it.
    """

    name = "mlp"
    settings_type = MLPSettings
    settings: MLPSettings

    def __init__(self, schema: Schema, settings: MLPSettings) -> None:
        super().__init__(schema, settings)
        self.head = ActionHead(schema)
        self.leaves = tuple(leaf for leaf in schema.observations if leaf.name != MASK)
        inputs = sum(width(leaf) for leaf in self.leaves)
        if not inputs:
            raise SettingsError("the network mlp needs an observation beside the action mask")
        widths = (inputs, *settings.hidden)
        self.layers = {
            "policy": (*widths, self.head.inputs),
            "value": (*widths, 1),
        }
        self._activate = np.tanh if settings.activation == "tanh" else _relu
        self._parameters: dict[str, list[tuple[NDArray[np.float32], NDArray[np.float32]]]] = {}
        self._log_deviation = np.zeros(self.head.reals, np.float32)

    def initial(self, seed: int) -> dict[str, NDArray[np.float32]]:
        """See `Network.initial`."""
        arrays: dict[str, NDArray[np.float32]] = {}
        last = {"policy": 0.01, "value": 1.0}
        for part, widths in self.layers.items():
            for i in range(len(widths) - 1):
                gain = last[part] if i == len(widths) - 2 else math.sqrt(2)
                name = f"{part}.{i}"
                arrays[f"{name}.weight"] = _orthogonal(name, widths[i + 1], widths[i], gain, seed)
                arrays[f"{name}.bias"] = np.zeros(widths[i + 1], np.float32)
        if self.head.reals:
            logarithm = math.log(self.settings.deviation)
            arrays["log_deviation"] = np.full(self.head.reals, logarithm, np.float32)
        return arrays

    def load(self, arrays: Arrays) -> None:
        """See `Network.load`."""
        self._parameters = {
            part: [
                (np.ascontiguousarray(arrays[f"{part}.{i}.weight"].T), arrays[f"{part}.{i}.bias"])
                for i in range(len(widths) - 1)
            ]
            for part, widths in self.layers.items()
        }
        self._log_deviation = arrays.get("log_deviation", self._log_deviation)

    def act(self, observations: Arrays, keys: NDArray[np.uint64]) -> Acted:
        """See `Network.act`."""
        features = self._features(observations)
        numbers = self._forward("policy", features)
        actions, logs = self.head.sample(numbers, self._log_deviation, observations, keys)
        return Acted(actions, logs, self._forward("value", features)[:, 0])

    def greedy(self, observations: Arrays) -> Arrays:
        """See `Network.greedy`."""
        numbers = self._forward("policy", self._features(observations))
        return self.head.greedy(numbers, observations)

    def value(self, observations: Arrays) -> NDArray[np.float32]:
        """See `Network.value`."""
        return self._forward("value", self._features(observations))[:, 0]

    def trainable(self) -> TrainableMLP:
        """See `Network.trainable`."""
        from ogg_hpc.actors.networks.mlp_torch import TrainableMLP

        return TrainableMLP(self)

    def _features(self, observations: Arrays) -> NDArray[np.float32]:
        parts = [_encoded(leaf, observations[leaf.name]) for leaf in self.leaves]
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    def _forward(self, part: str, features: NDArray[np.float32]) -> NDArray[np.float32]:
        # A product for each row: of many rows at once, a row's bits depend on how many they are.
        *hidden, last = self._parameters[part]
        rows = features[:, np.newaxis]
        for weight, bias in hidden:
            rows = self._activate(rows @ weight + bias)
        return (rows @ last[0] + last[1])[:, 0]


def width(leaf: Leaf) -> int:
    """Return how many numbers of the perceptrons' input a leaf takes."""
    return leaf.size if leaf.kind in ("box", "multibinary") else sum(leaf.n)


def _encoded(leaf: Leaf, values: NDArray[np.generic]) -> NDArray[np.float32]:
    rows = values.reshape(len(values), -1)
    if leaf.kind in ("box", "multibinary"):
        return rows.astype(np.float32, copy=False)
    hot = np.zeros((len(rows), sum(leaf.n)), np.float32)
    np.put_along_axis(hot, rows + np.cumsum((0, *leaf.n[:-1])), 1, axis=1)
    return hot


def _relu(values: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.maximum(values, 0)


def _orthogonal(name: str, rows: int, columns: int, gain: float, seed: int) -> NDArray[np.float32]:
    """Return a (rows, columns) matrix whose shorter sides are orthogonal, `gain` long."""
    shape = (max(rows, columns), min(rows, columns))
    items = np.arange(math.prod(shape))
    radius, angle = (uniform(seed, stream(f"parameter {name}"), i, items) for i in range(2))
    normal = np.sqrt(-2 * np.log1p(-radius)) * np.cos(2 * np.pi * angle)
    columns_of, triangle = np.linalg.qr(normal.reshape(shape))
    matrix = columns_of * np.sign(np.diag(triangle))
    return (gain * (matrix if rows >= columns else matrix.T)).astype(np.float32)
