"""The folder of a training run: what lies where, and how a run is taken up again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc import settings as settings_module
from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.runtime.checkpoints import CheckpointStore
from ogg_hpc.runtime.files import (
    read_arrays,
    read_json,
    remove_leftovers,
    write_json,
    write_whole,
    writing,
)
from ogg_hpc.training.metrics import Metrics
from ogg_hpc.training.settings import OutputSettings, TrainSettings

SETTINGS = "settings.json"
ENVIRONMENT = "environment.json"
LOG_FILE = "log.txt"
CHECKPOINTS = "checkpoints"
BEST = "best.npz"
LAST = "last.npz"
RECORD = "record.json"
# In a checkpoint.
STATE = "state.npz"
PROGRESS = "progress.json"
CONTENT = "ogg-hpc-training/1"


@dataclass
class Progress:
    """Where a run stands, on all ranks.

    Attributes
    ----------
    settings : dict
        The settings that a resumed run must share with this one.
    groups : int
        Groups of ranks that have led here.
    step : int
        Steps made.
    seconds : float
        Time they took.
    metrics_bytes : int
        Size of the curves so far.
    signal_stops : int
        How often a signal has stopped the run.
    first, best : dict, optional
        Evaluations: ``score`` and ``ratios``, and the ``step`` of the best.
    first_objectives : dict
        What held-out results are divided by; see `Evaluation.first_objectives`.
    """

    settings: dict[str, Any]
    groups: int
    step: int = 0
    seconds: float = 0.0
    metrics_bytes: int = 0
    signal_stops: int = 0
    first: dict[str, Any] | None = None
    best: dict[str, Any] | None = None
    first_objectives: dict[str, list[float]] = field(default_factory=dict)


@dataclass
class Saved:
    """What the newest valid checkpoint holds.

    Attributes
    ----------
    path
        The checkpoint.
    progress
        Where the run stood.
    state
        What the learner's `Learner.state` returned.
    """

    path: Path
    progress: Progress
    state: dict[str, NDArray[np.generic]]


class RunFolder:
    """The files of a run; for rank 0 alone.

    Parameters
    ----------
    path
        The folder; it holds ``settings.json``, ``environment.json``, ``log.txt``,
        ``metrics.jsonl``, ``tensorboard/``, ``checkpoints/``, the policies ``best.npz`` and
        ``last.npz``, and at the end ``record.json``.
    settings
        The run.

    Attributes
    ----------
    metrics : Metrics
        The curves, once they are opened.
    """

    metrics: Metrics

    def __init__(self, path: Path, settings: TrainSettings) -> None:
        self.path, self._settings = path, settings
        self._store = CheckpointStore(path / CHECKPOINTS, CONTENT, settings.output.keep_checkpoints)

    def check_new(self) -> None:
        """Raise if the folder holds a run."""
        if self.holds_run():
            raise SettingsError(
                f"{self.path} holds a run already; continue it with --resume {self.path}, "
                "or choose another --output"
            )

    def holds_run(self) -> bool:
        """Return whether there is a run to be resumed."""
        return (self.path / SETTINGS).exists() or (self.path / CHECKPOINTS).exists()

    def finished(self) -> dict[str, Any] | None:
        """Return the record of the run if there is nothing left to do.

        Raises
        ------
        SettingsError
            The run in the folder is another one.
        """
        if not (self.path / SETTINGS).exists():
            return None
        self._check_same(lasting(resume_settings(self.path, ())))
        try:
            record = read_json(self.path / RECORD, "record")
        except InputError:
            return None
        return record if record.get("steps") == self._settings.steps else None

    def saved(self) -> Saved | None:
        """Return the newest valid checkpoint; None if there is no checkpoint at all.

        Raises
        ------
        InputError
            None is valid.
        SettingsError
            It is that of another run, or of a later step than the last.
        """
        path = self._store.newest()
        if path is None:
            return None
        progress = Progress(**json.loads((path / PROGRESS).read_text(encoding="utf-8")))
        self._check_same(progress.settings)
        if progress.step > self._settings.steps:
            raise SettingsError(
                f"{self.path}: the checkpoint is of step {progress.step}, beyond "
                f"{self._settings.steps_key} = {self._settings.steps}; raise it with --set"
            )
        return Saved(path, progress, read_arrays(path / STATE, "a learning state"))

    def damaged(self) -> list[str]:
        """Return a text on each checkpoint that `saved` has passed over."""
        return [f"{path}: {fault}" for path, fault in self._store.damaged.items()]

    def open(self, saved: Saved | None) -> None:
        """Bring the files to where a checkpoint left them, or to the start of a run."""
        with writing(self.path):
            remove_leftovers(self.path)
            (self.path / RECORD).unlink(missing_ok=True)
        write_json(self.path / SETTINGS, asdict(self._settings))
        self._restore_best(saved)
        kept, step = (saved.progress.metrics_bytes, saved.progress.step) if saved else (0, 0)
        self.metrics = Metrics(self.path, kept, step, self._settings.output.tensorboard)

    def add_start(self, start: dict[str, Any]) -> None:
        """Add to ``environment.json``, the list of all starts of the run."""
        try:
            earlier = json.loads((self.path / ENVIRONMENT).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            earlier = []
        write_json(self.path / ENVIRONMENT, [*earlier, start])

    def commit(self, progress: Progress, state: dict[str, NDArray[np.generic]]) -> None:
        """Write a checkpoint, whole or not at all."""
        progress.metrics_bytes = self.metrics.flush()

        def write(folder: Path) -> None:
            np.savez(folder / STATE, allow_pickle=False, **state)
            text = json.dumps(asdict(progress), indent=1) + "\n"
            (folder / PROGRESS).write_text(text, encoding="utf-8")
            if (self.path / BEST).exists():  # else the user has taken it away
                shutil.copyfile(self.path / BEST, folder / BEST)

        self._store.commit(progress.step, write)

    def write_record(self, record: dict[str, Any]) -> None:
        """Bring all curves to disk, and the record, which says that the run is finished."""
        self.metrics.flush()
        write_json(self.path / RECORD, record)

    def close(self) -> None:
        """Close the curves, if they are open."""
        if hasattr(self, "metrics"):
            self.metrics.close()

    def _restore_best(self, saved: Saved | None) -> None:
        """Take back the best policy too: a later one will be found again, or not."""
        best = self.path / BEST
        if saved is None or saved.progress.best is None:
            with writing(best):
                best.unlink(missing_ok=True)
        elif (saved.path / BEST).exists():
            with write_whole(best) as temporary:
                shutil.copyfile(saved.path / BEST, temporary)

    def _check_same(self, found: dict[str, Any]) -> None:
        own = lasting(self._settings)
        different = list(differences(own, found))
        if different:
            raise SettingsError(
                f"{self.path} holds a run with {'; '.join(different)}; only "
                f"{self._settings.steps_key}, parallel.ranks_per_graph, graph_cache and [output] "
                "may differ; "
                "start a new run instead"
            )


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


def lasting(settings: TrainSettings) -> dict[str, Any]:
    """Return, as plain values, the settings that a resumed run must share with this one."""
    same = replace(
        settings,
        learning=replace(settings.learning, steps=1),
        evolution=replace(settings.evolution, generations=1),
        parallel=replace(settings.parallel, ranks_per_graph=0),
        output=OutputSettings(),
    )
    plain: dict[str, Any] = json.loads(json.dumps(asdict(same)))
    del plain["graph_cache"]
    return plain


def differences(own: Any, found: Any, key: str = "") -> Iterator[str]:
    """Yield a text on each plain value found that is not the one asked for."""
    if isinstance(own, dict) and isinstance(found, dict):
        for name in dict.fromkeys([*own, *found]):
            inner = f"{key}.{name}" if key else name
            yield from differences(own.get(name), found.get(name), inner)
    elif isinstance(own, list) and isinstance(found, list) and len(own) == len(found):
        for i, values in enumerate(zip(own, found, strict=True)):
            yield from differences(*values, f"{key}[{i}]")
    elif own != found:
        yield f"{key} = {json.dumps(found)}, not {json.dumps(own)}"
