"""Bytes that a rank sends in a step of structure2vec, by formulas.

Counted as `CollectiveCount` counts: for a result of n bytes an Allgather or a Reduce_scatter sends
(P-1)/P n, an Allreduce twice that, each rounded down.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ogg_hpc.search.policy_search import message_bytes
from ogg_hpc.training.settings import LearningSettings

_FLOAT = 8  # bytes of a number in the reference engine
_PAPER_FLOAT = 4  # and in the paper


@dataclass(frozen=True)
class Shape:
    """Width K and layers L of the network."""

    width: int
    layers: int

    @classmethod
    def of(cls, model: Mapping[str, Any]) -> Shape:
        """Return the shape that the settings of a network mean."""
        return cls(model.get("width", 32), model.get("layers", 2))

    @property
    def parameters(self) -> int:
        """Number of parameters, 4K² + 4K."""
        return 4 * self.width**2 + 4 * self.width


def gathered(size: int, ranks: int) -> int:
    """Return what a rank sends in an Allgather or a Reduce_scatter of `size` bytes in all."""
    return size * (ranks - 1) // ranks


def reduced(size: int, ranks: int) -> int:
    """Return what a rank sends in an Allreduce of `size` bytes."""
    return 2 * size * (ranks - 1) // ranks


def reference_search(shape: Shape, nodes: int, ranks: int, collective: str, most: int = 1) -> int:
    """Return the bytes of a search step by the reference engine.

    L - 1 sums over neighbours (the first layer needs none), and the choice of the best nodes by
    their scores, which is an Allgather by either collective.
    """
    choice = gathered(ranks * message_bytes(most), ranks)
    return _sums(shape, nodes, ranks, collective, 1) + choice


def reference_training(
    shape: Shape, nodes: int, ranks: int, collective: str, learning: LearningSettings
) -> int | None:
    """Return the bytes of a training step by the reference engine on one graph.

    None where not every step learns, or where double Q-learning makes it depend on what is chosen.
    """
    if learning.train_frequency != 1 or learning.double:
        return None
    copies, stored = learning.batch, learning.targets == "stored"

    def value(tuples: int) -> int:
        """Value some states: score them, and find the best over the ranks."""
        sums = _sums(shape, nodes, ranks, collective, tuples)
        graph = reduced(_FLOAT * tuples * shape.width, ranks)
        return sums + graph + reduced(_FLOAT * tuples, ranks)

    forward = _sums(shape, nodes, ranks, collective, copies)
    # A Reduce_scatter is the adjoint of an Allgather, and an Allgather that of an Allreduce.
    backward = (shape.layers - 1) * gathered(_FLOAT * nodes * copies * shape.width, ranks)
    graph = 2 * reduced(_FLOAT * copies * shape.width, ranks)
    gradient = reduced(_FLOAT * (shape.parameters + 1), ranks)
    step = forward + backward + graph + gradient + (0 if stored else value(copies))
    acting = reference_search(shape, nodes, ranks, collective) + (value(1) if stored else 0)
    return acting + learning.tau * step


def paper_inference(shape: Shape, nodes: int, ranks: int) -> int:
    """Return the bytes of an inference step as the paper has it.

    L Allreduces of K N numbers and one of K (section 4.3), and an Allgather of N scores.
    """
    layers = shape.layers * reduced(_PAPER_FLOAT * shape.width * nodes, ranks)
    whole = reduced(_PAPER_FLOAT * shape.width, ranks)
    return layers + whole + gathered(_PAPER_FLOAT * nodes, ranks)


def paper_training(shape: Shape, nodes: int, ranks: int, learning: LearningSettings) -> int:
    """Return the bytes of a training step as the paper has it.

    An inference step, and tau times: the same Allreduces for B tuples, forward and once more
    backward, and one of the gradients of all parameters.
    """
    tuples = learning.batch
    forward = shape.layers * reduced(_PAPER_FLOAT * tuples * shape.width * nodes, ranks)
    forward += reduced(_PAPER_FLOAT * tuples * shape.width, ranks)
    gradient = reduced(_PAPER_FLOAT * shape.parameters, ranks)
    return paper_inference(shape, nodes, ranks) + learning.tau * (2 * forward + gradient)


def _sums(shape: Shape, nodes: int, ranks: int, collective: str, copies: int) -> int:
    """Return the bytes of the sums over neighbours of one evaluation of the network."""
    size = _FLOAT * nodes * copies * shape.width
    return (shape.layers - 1) * (gathered if collective == "allgather" else reduced)(size, ranks)
