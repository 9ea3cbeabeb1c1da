"""The kinds of steps that a study can measure, by name; a new one is a line here.

Each is imported where it is measured, since networks and kernels take seconds to import.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ogg_hpc.runtime.clock import Clock
    from ogg_hpc.runtime.communicator import Communicator
    from ogg_hpc.scaling.points import Point
    from ogg_hpc.scaling.workload import Workload

Kind = Callable[["Communicator", "Point", "Clock"], "Workload"]


def _inference(comm: Communicator, point: Point, clock: Clock) -> Workload:
    from ogg_hpc.scaling.inference import Inference

    return Inference(comm, point, clock)


def _training(comm: Communicator, point: Point, clock: Clock) -> Workload:
    from ogg_hpc.scaling.training import Training

    return Training(comm, point, clock)


def _embedding(comm: Communicator, point: Point, clock: Clock) -> Workload:
    from ogg_hpc.scaling.embedding import Embedding

    return Embedding(comm, point, clock)


KINDS: dict[str, Kind] = {"inference": _inference, "training": _training, "embedding": _embedding}
