"""What all hosts of a learner are told, and what they are to answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ogg_hpc.actors.fragment import Layout
from ogg_hpc.actors.schema import Schema
from ogg_hpc.actors.settings import ActorsSettings


@dataclass(frozen=True)
class Setup:
    """What all hosts of a learner are told, and what they are to answer.

    Parameters
    ----------
    learner
        The number of the learner.
    settings
        The run.
    schema
        What is observed and done.
    layout
        Which arrays fragments have.
    """

    learner: int
    settings: ActorsSettings
    schema: Schema
    layout: Layout

    def welcome(self) -> dict[str, Any]:
        """Return the fields of a welcome that are the same for all hosts."""
        settings = self.settings
        return {
            "learner": self.learner,
            "environment": settings.environment.name,
            "options": settings.environment.options,
            "algorithm": settings.algorithm,
            "network": settings.network.name,
            "model": settings.network.model,
            "seed": settings.seed,
            "lease": settings.collection.lease,
        }
