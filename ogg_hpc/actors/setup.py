"""What all hosts of a learner are told, and what they are to answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ogg_hpc.actors.fragment import Layout
from ogg_hpc.actors.schema import Schema
from ogg_hpc.actors.settings import ActorsSettings
from ogg_hpc.runtime.random import hash64, stream


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

    def welcome(self, since: int) -> dict[str, Any]:
        """Return the fields of a welcome that are the same for all hosts.

        Parameters
        ----------
        since
            Step at which the run was started or resumed. Slots count from 0 again then, so it is
            part of the seed: what follows is no repetition of how the run began.
        """
        settings = self.settings
        resumed = int(hash64(settings.seed, stream("resumed actors"), since)) >> 1
        return {
            "learner": self.learner,
            "environment": settings.environment.name,
            "options": settings.environment.options,
            "algorithm": settings.algorithm,
            "network": settings.network.name,
            "model": settings.network.model,
            "seed": resumed if since else settings.seed,
            "lease": settings.collection.lease,
        }
