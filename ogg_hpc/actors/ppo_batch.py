"""The steps of a round as one batch to learn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ogg_hpc.actors.fragment import Fragment, Layout
from ogg_hpc.actors.networks.trainable import Tensors


@dataclass(frozen=True, eq=False)
class Batch:
    """N steps of this learner, as tensors on its device.

    Attributes
    ----------
    observations, actions
        (N, ...) by leaf; observations are normalised as those who acted saw them.
    log_probability, value
        (N,) float32, what the acting policy gave to the action and the state.
    advantage
        (N,) float32, how much better than `value` the action was, of a common size.
    target
        (N,) float32, what the value should have been.
    """

    observations: Tensors
    actions: Tensors
    log_probability: torch.Tensor
    value: torch.Tensor
    advantage: torch.Tensor
    target: torch.Tensor

    def __len__(self) -> int:
        return len(self.value)

    def take(self, steps: torch.Tensor) -> Batch:
        """Return the steps of these numbers."""
        return Batch(
            {name: each[steps] for name, each in self.observations.items()},
            {name: each[steps] for name, each in self.actions.items()},
            self.log_probability[steps],
            self.value[steps],
            self.advantage[steps],
            self.target[steps],
        )


def joined(fragments: Sequence[Fragment], layout: Layout) -> dict[str, NDArray[Any]]:
    """Return the arrays of a layout with the steps of fragments, none or more, in their order.

    Beside them is ``stopped``, which is true where `advantages` may not look at the next step: at
    a truncation, and at the end of a fragment.
    """
    arrays = {
        leaf.name: np.concatenate(
            [
                np.empty((0, *leaf.shape), leaf.dtype),
                *(each.arrays[leaf.name] for each in fragments),
            ]
        )
        for leaf in layout.steps
    }
    arrays["stopped"] = arrays["truncated"].copy()
    arrays["stopped"][np.cumsum([each.steps for each in fragments], dtype=np.int64) - 1] = True
    return arrays


def part(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """Return the arrays whose names have a prefix, without it."""
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }
