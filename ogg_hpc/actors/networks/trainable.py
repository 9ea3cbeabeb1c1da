"""What every network is to a learner: a torch module that evaluates what was done."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch

Tensors = dict[str, torch.Tensor]


class Evaluated(NamedTuple):
    """What a network says of B states and the actions taken in them: (B,) tensors."""

    log_probability: torch.Tensor
    entropy: torch.Tensor
    value: torch.Tensor


class TrainableNetwork(torch.nn.Module, ABC):
    """The torch form of a `Network`: the same parameters by the same names, in float32."""

    @abstractmethod
    def evaluate(self, observations: Tensors, actions: Tensors) -> Evaluated:
        """Evaluate (B, ...) actions in (B, ...) observations, leaf by leaf.

        The log-probability is that of `Network.act`, and the entropy that of its distribution.
        """
