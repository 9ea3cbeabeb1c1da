"""Times of inference and training steps against the number of ranks."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ogg_hpc.errors import InputError, OggError
from ogg_hpc.scaling.folder import plan_folder
from ogg_hpc.scaling.launcher import MPIEXEC
from ogg_hpc.scaling.run import run_points
from ogg_hpc.scaling.study import Case, Study

ENGINES = ("reference", "scalar")
INFERENCE, TRAINING = "inference", "training"
_TIMED = 16  # steps in each repeat


@dataclass(frozen=True)
class StepTime:
    """One measurement.

    Attributes
    ----------
    step
        `INFERENCE`: scores, and choosing one node. `TRAINING`: that, and a gradient step.
    graph, engine
        Of what and how.
    ranks, cores
        MPI ranks, and cores of the machine that they ran on.
    seconds
        A step.
    """

    step: str
    graph: str
    engine: str
    ranks: int
    cores: int
    seconds: float


def read_step_times(path: Path) -> list[StepTime]:
    """Read a JSON list of objects like `StepTime`, or a record of ``benchmarks/``.

    Raises
    ------
    InputError
        Another file.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(document, list):
            return [StepTime(**each) for each in document]
        return list(_from_benchmark(document))
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(path, f"no list of times of steps ({error})") from None


def _from_benchmark(record: dict[str, Any]) -> Iterator[StepTime]:
    """Yield what engines.json and training.json hold: steps on one rank."""
    cores = record["machine"]["cores"]
    for graph, found in record["results"].items():
        if "reference_step_seconds" in found:
            seconds = (found["reference_step_seconds"], found["policy"]["step_seconds"])
            for engine, each in zip(ENGINES, seconds, strict=True):
                yield StepTime(INFERENCE, graph, engine, 1, cores, each)
        for key, engine in (("paper, reference", "reference"), ("paper", "scalar")):
            if key in found:
                yield StepTime(TRAINING, graph, engine, 1, cores, found[key]["step_seconds"])


def measure_step_times(
    step: str, name: str, graph: str, engines: Iterable[str], folder: Path
) -> list[StepTime]:
    """Time steps on this machine, with 1, 2, ... ranks up to its cores, by a scaling study.

    Parameters
    ----------
    step
        `INFERENCE` or `TRAINING`.
    name, graph
        What the graph is called, and what a case of a study calls it.
    engines
        Of `ENGINES`.
    folder
        Where the study is kept; what it holds is not measured again.

    Raises
    ------
    OggError
        A run that failed, or no mpiexec.
    """
    cores = len(os.sched_getaffinity(0))
    cases = (Case(kind=step, graph=graph, engine=engine, steps=_TIMED) for engine in engines)
    study = Study(ranks=tuple(range(1, cores + 1)), device="cpu", cases=tuple(cases))
    planned = plan_folder(study, folder)
    for point, failure in run_points(planned, MPIEXEC, _say).items():
        raise OggError(f"{point}: {failure}")
    return [
        StepTime(step, name, each.engine, each.ranks, cores, each.seconds)
        for each in planned.records()
    ]


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
