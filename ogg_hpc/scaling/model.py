"""The paper's model of a step, T(P) = compute / P + α log P + β bytes(P), fitted and extended.

Per step, on each of P ranks::

    T(P) = c W(P) + α m log2 P + β B(P)

with W the entries of the adjacency matrix that a rank owns (so that c W is compute / P in strong
scaling), m the collective calls and B the bytes that a rank sends. W, m and B are counted; c, α
and β are fitted by non-negative least squares on relative errors. Where the measured points do not
determine all three, α and β are those of the network, measured by small and large messages.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.scaling.network import Network

# Columns more alike than this tell three parameters apart by the noise of measurements.
_WORST_CONDITION = 30.0


@dataclass(frozen=True)
class Load:
    """What a step asks of each rank.

    Attributes
    ----------
    ranks
        P.
    entries
        W: entries of the adjacency matrix that a rank owns.
    calls, bytes
        m and B: collective calls, and bytes that a rank sends.
    """

    ranks: int
    entries: float
    calls: float
    bytes: float

    @property
    def doublings(self) -> float:
        """M log2 P: what α is multiplied by."""
        return self.calls * math.log2(self.ranks)


@dataclass(frozen=True)
class Model:
    """The parameters.

    Attributes
    ----------
    per_entry, latency, per_byte
        c, α and β, in seconds.
    """

    per_entry: float
    latency: float
    per_byte: float

    def parts(self, load: Load) -> tuple[float, float, float]:
        """Return the seconds of computation, of latency and of bytes."""
        return (
            self.per_entry * load.entries,
            self.latency * load.doublings,
            self.per_byte * load.bytes,
        )

    def seconds(self, load: Load) -> float:
        """Return T(P)."""
        return sum(self.parts(load))


@dataclass(frozen=True)
class Fit:
    """A fitted model.

    Attributes
    ----------
    model
        Its parameters.
    determined
        Whether the points determined all of them; else α and β are the network's.
    errors
        Relative errors of the model at the points.
    """

    model: Model
    determined: bool
    errors: tuple[float, ...]


def fit_model(loads: Sequence[Load], seconds: Sequence[float], network: Network | None) -> Fit:
    """Fit the model to measured steps.

    Parameters
    ----------
    loads, seconds
        The points, at least one.
    network
        Where α and β are from if the points do not determine them; None for no communication.
    """
    from scipy.optimize import nnls

    times = np.array(seconds)
    columns = np.array([[load.entries, load.doublings, load.bytes] for load in loads])
    rows = columns / times[:, None]
    scale = np.linalg.norm(rows, axis=0)
    determined = _determined(rows, scale)
    if determined:
        found = nnls(rows / scale, np.ones(len(times)))[0] / scale
        model = Model(*map(float, found))
    else:
        latency, per_byte = (network.latency, network.per_byte) if network else (0.0, 0.0)
        rest = 1 - rows[:, 1:] @ np.array([latency, per_byte])
        per_entry = max(float(rows[:, 0] @ rest / scale[0] ** 2), 0.0)
        model = Model(per_entry, latency, per_byte)
    errors = [model.seconds(load) / time - 1 for load, time in zip(loads, seconds, strict=True)]
    return Fit(model, determined, tuple(errors))


def efficiency(first: Load, first_seconds: float, load: Load, seconds: float) -> float:
    """Return the work done in a second by each rank, as a share of that at the first point.

    In strong scaling P0 T(P0) / (P T(P)); where work grows with P, T(P0) / T(P) for constant work
    of a rank.
    """
    return (load.entries / seconds) / (first.entries / first_seconds)


def _determined(rows: NDArray[np.float64], scale: NDArray[np.float64]) -> bool:
    if len(rows) < 3 or not scale.all():
        return False
    return bool(np.linalg.cond(rows / scale) < _WORST_CONDITION)
