"""A training run: its folder, its loop, its record."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from ogg_hpc import settings as settings_module
from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.problems.registry import problem_by_name
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.environment import versions
from ogg_hpc.runtime.files import write_whole
from ogg_hpc.runtime.progress import progress_bar
from ogg_hpc.training.evolution import EvolutionLearner
from ogg_hpc.training.learner import Learner
from ogg_hpc.training.metrics import Metrics
from ogg_hpc.training.q_learning import QLearner
from ogg_hpc.training.settings import OutputSettings, TrainSettings

SETTINGS = "settings.json"
CHECKPOINT = "checkpoint.npz"
BEST = "best.npz"
LAST = "last.npz"
RECORD = "record.json"
METHODS: dict[str, Callable[[Communicator, TrainSettings], Learner]] = {
    "q-learning": QLearner,
    "evolution": EvolutionLearner,
}


@contextmanager
def _torch_threads_restored() -> Iterator[None]:
    """Leave torch with as many threads as there were: the scalar engine takes one."""
    threads = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@_torch_threads_restored()
def train(
    comm: Communicator, settings: TrainSettings, folder: Path, *, resume: bool = False
) -> dict[str, Any]:
    """Train a policy (collective).

    Parameters
    ----------
    comm
        All ranks.
    settings
        The run.
    folder
        Where everything goes: ``settings.json``, ``metrics.jsonl``, ``checkpoint.npz``, the
        policies ``best.npz`` (on held-out graphs) and ``last.npz``, ``record.json`` at the end.
    resume
        Continue from the checkpoint in the folder. On the same number of ranks the run ends
        with the very parameters of an undisturbed one.

    Returns
    -------
    dict
        The content of ``record.json``.

    Raises
    ------
    OggError
        Settings or files that do not fit.
    """
    start = time.perf_counter()
    learner = comm.on_all(lambda: _method(settings))(comm, settings)
    output, evaluation = settings.output, learner.evaluation
    progress: dict[str, Any] = {
        "step": 0,
        "fingerprint": _fingerprint(settings),
        "metrics_bytes": 0,
        "seconds": 0.0,
        "first": None,
        "best": None,
    }
    if resume:
        fingerprint = progress["fingerprint"]
        progress = learner.load(
            folder / CHECKPOINT,
            lambda found: _check_resumable(folder, found, learner, fingerprint),
        )
        comm.on_root(lambda: _write_json(folder / SETTINGS, asdict(settings)))
        evaluation.restore(progress["first_objectives"])
    else:
        comm.on_root(lambda: _create(folder, settings))
    metrics: Metrics | None = None

    def open_metrics() -> None:
        nonlocal metrics
        metrics = Metrics(folder, progress["metrics_bytes"], progress["step"], output.tensorboard)

    comm.on_root(open_metrics)
    earlier = progress["seconds"]

    def elapsed() -> float:
        return float(earlier + time.perf_counter() - start)

    def save(name: str, step: int) -> None:
        def write() -> None:
            training = {
                "settings": asdict(settings),
                "step": step,
                "groups": learner.groups,
                "best": progress["best"],
                "seconds": elapsed(),
                "versions": versions(),
            }
            learner.save_policy(folder / name, training)

        comm.on_root(write)

    def evaluate(step: int) -> None:
        ratios = learner.ratios()
        score = sum(ratios.values()) / len(ratios)
        first = progress["first"] is None
        if first:
            progress["first"] = {"score": score, "ratios": ratios}
        better = first or score < progress["best"]["score"]
        if better:
            progress["best"] = {"step": step, "score": score, "ratios": ratios}
            save(BEST, step)
        if metrics is not None:
            metrics.write(step, {"ratio": ratios, "score": score, "seconds": elapsed()})
        parts = " ".join(f"{name} {ratio:.4f}" for name, ratio in ratios.items())
        _say(comm, f"step {step}: {parts}{' (best so far)' if better else ''}")

    steps = learner.steps
    with progress_bar(comm, "training", steps) as show:
        for step in range(progress["step"], steps):
            if settings.validation and step % output.evaluate_every == 0:
                evaluate(step)
            values, text = learner.advance(step)
            if metrics is not None:
                metrics.write(step, values)
            show(step + 1, text)
            if (step + 1) % output.check_every == 0:
                learner.check_ranks_agree()
            if (step + 1) % output.checkpoint_every == 0:
                progress |= {
                    "step": step + 1,
                    "seconds": elapsed(),
                    "first_objectives": evaluation.first_objectives(),
                }
                if metrics is not None:
                    progress["metrics_bytes"] = metrics.flush()
                learner.save(folder / CHECKPOINT, progress)
    if settings.validation:
        evaluate(steps)
    save(LAST, steps)
    record = {
        "folder": str(folder),
        "problem": problem_by_name(settings.problem).name,
        "policy": settings.policy,
        "method": settings.method,
        "steps": steps,
        "best": progress["best"],
        "first": progress["first"],
        "references": evaluation.kinds(),
        "ranks": comm.size,
        "groups": learner.groups,
        "device": comm.device.name,
        "seconds": elapsed(),
        "collectives": comm.report(),
        **learner.record(),
        "peak_memory_bytes": max(comm.gather_objects(comm.device.peak_memory_bytes())),
        "versions": versions(),
    }
    if metrics is not None:
        metrics.flush()
        metrics.close()
    comm.on_root(lambda: _write_json(folder / RECORD, record))
    return record


def resume_settings(folder: Path, overrides: Any) -> TrainSettings:
    """Return the settings that a run's folder holds, with ``--set`` assignments applied."""
    path = folder / SETTINGS
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(path, f"cannot resume: {error.strerror}; is this a run?") from None
    except ValueError as error:
        raise InputError(path, f"not JSON: {error}") from None
    return settings_module.build(TrainSettings, settings_module.override(document, overrides))


def _method(settings: TrainSettings) -> Callable[[Communicator, TrainSettings], Learner]:
    if settings.method not in METHODS:
        raise SettingsError(f"method is {' or '.join(METHODS)}, not {settings.method!r}")
    return METHODS[settings.method]


def _create(folder: Path, settings: TrainSettings) -> None:
    if (folder / SETTINGS).exists():
        raise SettingsError(
            f"{folder} holds a run already; continue it with --resume {folder}, "
            "or choose another --output"
        )
    _write_json(folder / SETTINGS, asdict(settings))


def _fingerprint(settings: TrainSettings) -> str:
    """Return the settings that a resumed run must share with the interrupted one."""
    of_any_length = replace(
        settings,
        learning=replace(settings.learning, steps=1),
        evolution=replace(settings.evolution, generations=1),
        output=OutputSettings(),
    )
    return json.dumps(asdict(of_any_length))


def _check_resumable(
    folder: Path, found: dict[str, Any], learner: Learner, fingerprint: str
) -> None:
    message = None
    if found["fingerprint"] != fingerprint:
        message = (
            f"{folder}: settings other than {learner.steps_key} and [output] differ from those of "
            "the checkpoint; start a new run instead"
        )
    elif found["step"] > learner.steps:
        message = (
            f"{folder}: the checkpoint is of step {found['step']}, beyond "
            f"{learner.steps_key} = {learner.steps}; raise it with --set"
        )
    if message is not None:
        error = SettingsError(message)
        raise error.shared()


def _write_json(path: Path, value: Any) -> None:
    with write_whole(path) as temporary:
        temporary.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


def _say(comm: Communicator, text: str) -> None:
    if comm.rank == 0:
        print(text, file=sys.stderr, flush=True)
