"""How fast a run has been: what its rounds have cost, as its curves tell."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ogg_hpc.errors import InputError
from ogg_hpc.runtime.metrics import METRICS

PARTS = ("learn", "collect", "wait", "broadcast")
"""What the seconds of a round are told apart by; what is left is checkpoints and curves."""


@dataclass(frozen=True)
class Throughput:
    """The mean round of a run.

    Attributes
    ----------
    actors
        Environments that were stepped at the same time.
    seed
        Of the run.
    rounds
        How many were measured.
    steps
        Environment steps of a round.
    seconds
        Of a round.
    learn, collect, wait, broadcast
        Its parts: the update; most environments at work; the slowest ones; weights.
    """

    actors: int
    seed: int
    rounds: int
    steps: float
    seconds: float
    learn: float
    collect: float
    wait: float
    broadcast: float

    @property
    def rate(self) -> float:
        """Environment steps a second."""
        return self.steps / self.seconds


def throughput_of(run: Path, actors: int, seed: int) -> Throughput:
    """Return the mean round of a run, but for the first, in which actors are started.

    Parameters
    ----------
    run
        Its folder.
    actors, seed
        What it was run with.

    Raises
    ------
    InputError
        The run has less than two rounds.
    """
    path = run / METRICS
    rounds = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    if len(rounds) < 2:
        raise InputError(path, "two rounds at least are needed: raise the number of steps")
    first, last, measured = rounds[0], rounds[-1], rounds[1:]
    count = len(measured)
    parts = {name: float(np.mean([each["spent"][name] for each in measured])) for name in PARTS}
    return Throughput(
        actors,
        seed,
        count,
        steps=(last["step"] - first["step"]) / count,
        seconds=(last["seconds"] - first["seconds"]) / count,
        **parts,
    )
