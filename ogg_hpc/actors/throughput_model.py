"""What more actors give: T(n) = T_L + T_C / n + c n for a round that n actors share.

T_L is what one process does alone: the update (Amdahl, 1967). T_C is what the actors share. c n is
what each further actor costs everybody: messages, copies of the weights, waiting for one another.
Steps a second are B / T(n) for B steps a round. They rise up to n = sqrt(T_C / c) and fall from
there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ogg_hpc.actors.throughput import Throughput


@dataclass(frozen=True)
class ThroughputModel:
    """The parameters, in seconds.

    Attributes
    ----------
    steps
        B: environment steps of a round.
    learn
        T_L.
    collect
        T_C: the steps of a round by one actor.
    overhead
        c.
    """

    steps: float
    learn: float
    collect: float
    overhead: float

    def rate(self, actors: float) -> float:
        """Return the steps a second of so many actors."""
        return self.steps / (self.learn + self.collect / actors + self.overhead * actors)

    def bound(self, actors: float) -> float:
        """Return Amdahl's bound: the steps a second if actors cost one another nothing."""
        return self.steps / (self.learn + self.collect / actors)

    @property
    def limit(self) -> float:
        """Steps a second that no number of actors exceeds."""
        return self.steps / self.learn if self.learn else math.inf

    @property
    def peak(self) -> float:
        """The number of actors with most steps a second; inf if each further one helps."""
        return math.sqrt(self.collect / self.overhead) if self.overhead else math.inf

    def worthwhile(self, share: float = 0.5) -> int:
        """Return the most actors of whom each still does its share of what one alone does.

        The largest n with B / T(n) of at least ``share n B / T(1)``.
        """
        n, alone = 1, self.rate(1)
        while n < 1 << 20 and self.rate(n + 1) >= share * (n + 1) * alone:
            n += 1
        return n


def fit_throughput(points: Sequence[Throughput]) -> ThroughputModel:
    """Fit the model to measured rounds.

    T_L is the mean of the measured updates. T_C and c are found by non-negative least squares on
    relative errors of the whole round; with a single number of actors c is 0.

    Parameters
    ----------
    points
        At least one, all of rounds of the same size.
    """
    from scipy.optimize import nnls

    learn = float(np.mean([point.learn for point in points]))
    actors = np.array([point.actors for point in points], float)
    seconds = np.array([point.seconds for point in points])
    columns = np.stack([1 / actors, actors], axis=1)
    if len(set(actors.tolist())) == 1:
        columns[:, 1] = 0
    rows = columns / seconds[:, None]
    scale = np.maximum(np.linalg.norm(rows, axis=0), 1e-300)
    rest = np.maximum(1 - learn / seconds, 0)
    collect, overhead = nnls(rows / scale, rest)[0] / scale
    steps = float(np.mean([point.steps for point in points]))
    return ThroughputModel(steps, learn, float(collect), float(overhead))
