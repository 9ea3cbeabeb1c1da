"""What a training run asks of a method of learning."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from ogg_hpc.training.evaluation import Evaluation


class Learner(Protocol):
    """The learning state of a run, on all ranks.

    Attributes
    ----------
    steps, steps_key
        How many steps the run has, and the setting that says so.
    evaluation
        The held-out graphs.
    groups
        Groups of ranks whose number the result depends on.
    """

    steps: int
    steps_key: str
    evaluation: Evaluation
    groups: int

    def advance(self, step: int) -> tuple[dict[str, Any], str]:
        """Make a step; return what the curves show of it, and a short text (collective)."""

    def ratios(self) -> dict[str, float]:
        """Return the mean ratio of each held-out set by the present policy (collective)."""

    def check_ranks_agree(self) -> None:
        """Raise if the parameters differ between ranks (collective)."""

    def save_policy(self, path: Path, training: dict[str, Any]) -> None:
        """Write the present policy; called on rank 0."""

    def save(self, path: Path, progress: dict[str, Any]) -> None:
        """Write a checkpoint (collective)."""

    def load(self, path: Path, check: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        """Restore a checkpoint whose progress passes a check; return it (collective)."""

    def record(self) -> dict[str, Any]:
        """Return what the record of the run tells of the method (collective)."""
