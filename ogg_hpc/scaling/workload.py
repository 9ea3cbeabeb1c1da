"""Steps that are done again and again, and what some of them cost a rank."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ogg_hpc.runtime.communicator import Communicator


@dataclass(frozen=True)
class Moment:
    """A look at the clock and at the counts of collectives after a number of steps."""

    step: int
    seconds: float
    counts: Mapping[str, Mapping[str, Any]]

    @classmethod
    def now(cls, comm: Communicator, step: int) -> Moment:
        """Return this moment of this rank."""
        return cls(step, time.perf_counter(), comm.report())


@dataclass(frozen=True)
class Window:
    """What some steps cost this rank.

    Attributes
    ----------
    steps
        Their number.
    seconds
        Of all of them.
    collectives
        By name ``calls``, ``bytes`` and ``seconds`` of all of them.
    """

    steps: int
    seconds: float
    collectives: Mapping[str, Mapping[str, Any]]

    @classmethod
    def since(cls, first: Moment, comm: Communicator, step: int) -> Window:
        """Return what the steps from a moment until now have cost."""
        seconds = time.perf_counter() - first.seconds
        return cls(step - first.step, seconds, comm.report(first.counts))


@dataclass(frozen=True)
class Traffic:
    """Bytes that a rank sends in a step, as far as formulas say.

    Attributes
    ----------
    message
        Bytes that each rank sends to each other one, whatever the graph: they grow with P.
    unit
        What the other bytes are in proportion to: ``nodes`` of the graph, its mean ``degree``, the
        ``entries`` of its matrix, or the ``share`` of them that each rank has.
    exact
        All bytes; None where they depend on what is chosen.
    paper
        All bytes of the step as the paper describes it; None where the policy is another.
    """

    message: int
    unit: str
    exact: int | None = None
    paper: int | None = None


class Workload(Protocol):
    """A graph that is set up on all ranks, and steps on it.

    Attributes
    ----------
    engine : str
        What computes.
    nodes, entries : int
        N, and the stored entries of the whole adjacency matrix: two an edge.
    traffic : Traffic
        What formulas say of a step.
    """

    engine: str
    nodes: int
    entries: int
    traffic: Traffic

    def run(self, steps: int) -> Window:
        """Make steps and return what they cost; some more where several are made at once.

        Collective. Those of a search start at the same step each time.
        """
