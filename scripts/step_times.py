"""Times of inference and training steps against the number of ranks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ogg_hpc.errors import InputError, MissingExtraError, OggError
from ogg_hpc.runtime.files import write_whole

ENGINES = ("reference", "scalar")
INFERENCE, TRAINING = "inference", "training"
# Training steps that are timed, after as many others that fill the replay buffer.
_TIMED = 20


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
    """Read a list that `write_step_times` has written, or a record of ``benchmarks/``.

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


def write_step_times(path: Path, times: Iterable[StepTime]) -> None:
    """Write times as a JSON list of objects with the attributes of `StepTime`."""
    with write_whole(path) as temporary:
        temporary.write_text(json.dumps([asdict(each) for each in times], indent=1) + "\n")


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
    graphs: Iterable[tuple[str, str, Path]], engines: Iterable[str]
) -> Iterator[StepTime]:
    """Time steps on this machine, with 1, 2, ... ranks up to its cores.

    Parameters
    ----------
    graphs
        What is timed, the graph's name, and its file.
    engines
        Of `ENGINES`.

    Raises
    ------
    OggError
        A run that failed, or no mpiexec.
    """
    cores = len(os.sched_getaffinity(0))
    time = {INFERENCE: _inference, TRAINING: _training}
    for step, name, path in graphs:
        for engine in engines:
            for ranks in range(1, cores + 1):
                seconds = time[step](ranks, path, engine)
                yield StepTime(step, name, engine, ranks, cores, seconds)


def _inference(ranks: int, graph: Path, engine: str) -> float:
    """Return the median of the first 100 steps of a solve, one node a step."""
    how = ["--policy", "mvc-s2v", "--engine", engine, "--select", "one", "--no-reduce"]
    with tempfile.TemporaryDirectory() as folder:
        record = _run(ranks, "solve", graph, *how, "--output", f"{folder}/cover.json")
    return float(record["step_seconds"]["first_100_median"])


def _training(ranks: int, graph: Path, engine: str) -> float:
    """Return the mean of the last steps of a short run with the paper's settings."""
    settings = {
        "train": f"[{{path = '{graph.resolve()}'}}]",
        # Times are noted where a policy is tested; a tiny graph makes that a matter of moments.
        "validation": "[{family = 'ba', nodes = 5, d = 1, count = 1}]",
        "learning.engine": engine,
        "learning.steps": 2 * _TIMED,
        "output.evaluate_every": _TIMED,
        "output.tensorboard": "false",
    }
    assignments = [text for key, value in settings.items() for text in ("--set", f"{key}={value}")]
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        _run(ranks, "train", "paper", *assignments, "--output", run)
        lines = (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    moments = [line["seconds"] for line in map(json.loads, lines) if "seconds" in line]
    return float(moments[-1] - moments[-2]) / _TIMED


def _run(ranks: int, *arguments: object) -> dict[str, Any]:
    """Return the record that a command of ``ogg-hpc`` prints."""
    mpiexec = shutil.which("mpiexec")
    if ranks > 1 and mpiexec is None:
        raise MissingExtraError("mpiexec", "mpi")
    launcher = [mpiexec, "-n", ranks] if ranks > 1 else []
    command = [*launcher, sys.executable, "-m", "ogg_hpc", *arguments, "--json", "--device", "cpu"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        raise OggError(f"{' '.join(map(str, command))}: {done.stderr}")
    return dict(json.loads(done.stdout))
