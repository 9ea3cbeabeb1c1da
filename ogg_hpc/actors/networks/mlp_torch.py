"""The perceptrons of `mlp` in torch."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import torch

from ogg_hpc.actors.networks.heads_torch import TrainableHead
from ogg_hpc.actors.networks.trainable import Evaluated, Tensors, TrainableNetwork
from ogg_hpc.actors.schema import Leaf

if TYPE_CHECKING:
    from ogg_hpc.actors.networks.mlp import MLP


class TrainableMLP(TrainableNetwork):
    """The torch form of an `MLP`.

    Parameters
    ----------
    network
        The NumPy form.
    """

    def __init__(self, network: MLP) -> None:
        super().__init__()
        self._leaves = network.leaves
        self._head = TrainableHead(network.head)
        self._activate = torch.tanh if network.settings.activation == "tanh" else torch.relu
        self.policy = _layers(network.layers["policy"])
        self.value = _layers(network.layers["value"])
        self.log_deviation = None
        if network.head.reals:
            self.log_deviation = torch.nn.Parameter(torch.zeros(network.head.reals))

    def evaluate(self, observations: Tensors, actions: Tensors) -> Evaluated:
        """See `TrainableNetwork.evaluate`."""
        parts = [_encoded(leaf, observations[leaf.name]) for leaf in self._leaves]
        features = parts[0] if len(parts) == 1 else torch.cat(parts, 1)
        numbers = self._forward(self.policy, features)
        logs, entropy = self._head.evaluate(numbers, self.log_deviation, observations, actions)
        return Evaluated(logs, entropy, self._forward(self.value, features).squeeze(1))

    def _forward(self, layers: torch.nn.ModuleList, features: torch.Tensor) -> torch.Tensor:
        *hidden, last = layers
        for layer in hidden:
            features = self._activate(layer(features))
        result: torch.Tensor = last(features)
        return result


def _layers(widths: tuple[int, ...]) -> torch.nn.ModuleList:
    return torch.nn.ModuleList(torch.nn.Linear(*pair) for pair in pairwise(widths))


def _encoded(leaf: Leaf, values: torch.Tensor) -> torch.Tensor:
    rows = values.reshape(len(values), -1)
    if leaf.kind in ("box", "multibinary"):
        return rows.float()
    hot = [torch.nn.functional.one_hot(rows[:, i].long(), n) for i, n in enumerate(leaf.n)]
    return torch.cat(hot, 1).float()
