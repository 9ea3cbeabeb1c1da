"""The distribution of actions that a network's last numbers stand for, in torch; see `heads`."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ogg_hpc.actors.networks.heads import HALF_LOG_2PI, MASK, NEVER, NOTHING, ActionHead
from ogg_hpc.actors.networks.trainable import Tensors
from ogg_hpc.actors.schema import Leaf


class TrainableHead(torch.nn.Module):
    """The torch form of an `ActionHead`.

    Parameters
    ----------
    head
        The NumPy form.
    """

    _columns: torch.Tensor
    _possible: torch.Tensor

    def __init__(self, head: ActionHead) -> None:
        super().__init__()
        self._head = head
        self._alike = bool(head.possible.all())  # no outcome is missing: columns are a grid
        self.register_buffer("_columns", torch.from_numpy(head.columns), persistent=False)
        self.register_buffer("_possible", torch.from_numpy(head.possible), persistent=False)

    def evaluate(
        self,
        numbers: torch.Tensor,
        log_deviation: torch.Tensor | None,
        observations: Tensors,
        actions: Tensors,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the (B,) log-probabilities of actions and the (B,) entropies."""
        log_probability = entropy = numbers.new_zeros(len(numbers))
        if self._head.choices:
            logs = self._log_probabilities(numbers, observations)
            choices = _joined(self._head.choice_leaves, actions)
            log_probability = logs.gather(-1, choices.long().unsqueeze(-1)).sum((1, 2))
            entropy = -(logs.exp() * logs).sum((1, 2))
        if self._head.reals:
            assert log_deviation is not None
            reals = _joined(self._head.real_leaves, actions)
            noise = (reals - numbers[:, self._head.logits :]) * torch.exp(-log_deviation)
            constant = log_deviation + float(HALF_LOG_2PI)
            log_probability = log_probability - (0.5 * noise**2 + constant).sum(1)
            entropy = entropy + (constant + 0.5).sum()
        return log_probability, entropy

    def _log_probabilities(self, numbers: torch.Tensor, observations: Tensors) -> torch.Tensor:
        logits = self._outcomes(numbers[:, : self._head.logits] if self._head.reals else numbers)
        if self._head.masked:
            allowed = self._outcomes(observations[MASK]) != 0
            logits = torch.where(allowed, logits, float(NEVER))
        if not self._alike:
            logits = torch.where(self._possible, logits, float(NOTHING))
        return torch.log_softmax(logits, -1)

    def _outcomes(self, numbers: torch.Tensor) -> torch.Tensor:
        """Return (B, choices, most outcomes) of the (B, logits) numbers of all outcomes."""
        if self._alike:
            return numbers.reshape(-1, *self._head.possible.shape)
        return numbers[:, self._columns]


def _joined(leaves: Sequence[Leaf], actions: Tensors) -> torch.Tensor:
    """Return (B, sum of sizes) components of some leaves, one leaf after another."""
    parts = [actions[leaf.name].reshape(-1, leaf.size) for leaf in leaves]
    return parts[0] if len(parts) == 1 else torch.cat(parts, 1)
