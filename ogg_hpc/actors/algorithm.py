"""What the loop of a run asks of a way to learn from actors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ogg_hpc.actors.cell import Cell


@dataclass(frozen=True)
class Advance:
    """What has become of one call of `Algorithm.advance`, the same on all learners.

    Attributes
    ----------
    steps
        Environment steps of all learners that were taken in.
    values
        For the curves of the run, see `ogg_hpc.runtime.metrics.Metrics.write`; empty where there
        is nothing to say.
    text
        A few words for the progress bar.
    """

    steps: int
    values: dict[str, Any]
    text: str


class Algorithm(Protocol):
    """A way to learn; each learner has one, and all of them stay equal.

    It is made of the communicator of the learners, the settings of the run, and the schema of the
    environment, which is checked then (collective over the learners, as all that follows is).
    """

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return what actors need to act: parameters by name, and statistics ``normaliser/…``.

        The same on all learners. The run publishes them once, before it begins; later versions
        are published by `advance`.
        """
        ...

    def advance(self, cell: Cell) -> Advance:
        """Collect from the actors of this learner, update, and publish the next version.

        A cell that was asked to stop yields less than it was asked for, down to nothing: this
        learner then takes part in the update with what there is.
        """
        ...

    def state(self) -> dict[str, NDArray[np.generic]] | None:
        """Return on the first learner all that `restore` needs: optimiser, normaliser, counters."""
        ...

    def restore(self, state: dict[str, NDArray[np.generic]] | None) -> None:
        """Take up what `state` has returned, on any number of learners; None but on the first."""
        ...

    def record(self) -> dict[str, Any]:
        """Return what the record of the run says of the algorithm."""
        ...

    def save(self, folder: Path) -> None:
        """Write what there is to keep beside checkpoints and ``policy.safetensors``.

        Called on the first learner alone, with each checkpoint.
        """
        ...
