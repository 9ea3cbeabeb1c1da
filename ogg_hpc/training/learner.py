"""What a training run asks of a method of learning."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.runtime.clock import Clock
from ogg_hpc.training.evaluation import Evaluation


class Learner(Protocol):
    """The learning state of a run, on all ranks.

    Attributes
    ----------
    evaluation
        The held-out graphs.
    groups
        Groups of ranks whose number the result depends on.
    clock
        Seconds of the parts of its steps.
    """

    evaluation: Evaluation
    groups: int
    clock: Clock

    def advance(self, step: int) -> tuple[dict[str, Any], str]:
        """Make a step; return what the curves show of it, and a short text (collective)."""

    def ratios(self) -> dict[str, float]:
        """Return the mean ratio of each held-out set by the present policy (collective)."""

    def check_ranks_agree(self) -> None:
        """Raise if the parameters differ between ranks (collective)."""

    def save_policy(self, path: Path, training: dict[str, Any]) -> None:
        """Write the present policy; called on rank 0."""

    def state(self) -> dict[str, NDArray[np.generic]] | None:
        """Return, on rank 0, all that the next steps depend on (collective)."""

    def restore(self, state: dict[str, NDArray[np.generic]] | None) -> None:
        """Take over what `state` returned on rank 0, of any number of ranks (collective)."""

    def record(self) -> dict[str, Any]:
        """Return what the record of the run tells of the method (collective)."""
