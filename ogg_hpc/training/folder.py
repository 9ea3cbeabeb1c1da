"""The folder of a training run: what lies where, and how a run is taken up again."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.files import read_arrays, write_whole, writing
from ogg_hpc.runtime.run_folder import (
    PROGRESS,
    SETTINGS,
    RunFolder,
    Standing,
    resume_settings,
)
from ogg_hpc.training.settings import OutputSettings, TrainSettings

BEST = "best.npz"
LAST = "last.npz"
STATE = "state.npz"  # in a checkpoint
CONTENT = "ogg-hpc-training/1"


@dataclass
class Progress(Standing):
    """Where a training run stands, on all ranks.

    Attributes
    ----------
    settings : dict
        The settings that a resumed run must share with this one.
    groups : int
        Groups of ranks that have led here.
    first, best : dict, optional
        Evaluations: ``score`` and ``ratios``, and the ``step`` of the best.
    first_objectives : dict
        What held-out results are divided by; see `Evaluation.first_objectives`.
    """

    settings: dict[str, Any]
    groups: int
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


class TrainingFolder(RunFolder):
    """The files of a training run; for rank 0 alone.

    Parameters
    ----------
    path
        The folder of a run, which holds the policies ``best.npz`` and ``last.npz``, too.
    settings
        The run.
    """

    _settings: TrainSettings

    def __init__(self, path: Path, settings: TrainSettings) -> None:
        super().__init__(path, settings, CONTENT, settings.output.keep_checkpoints)

    def finished(self) -> dict[str, Any] | None:
        """Return the record of the run if there is nothing left to do.

        Raises
        ------
        SettingsError
            The run in the folder is another one.
        """
        if not (self.path / SETTINGS).exists():
            return None
        self._check_same(lasting(resume_settings(TrainSettings, self.path)))
        record = self.record()
        if record is None or record.get("steps") != self._settings.steps:
            return None
        return record

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

    def open(self, saved: Saved | None) -> None:
        """Bring the files to where a checkpoint left them, or to the start of a run."""
        standing = Standing() if saved is None else saved.progress
        self.begin(standing, self._settings.output.tensorboard)
        self._restore_best(saved)

    def save(self, progress: Progress, state: dict[str, NDArray[np.generic]]) -> None:
        """Write a checkpoint, whole or not at all."""

        def write(folder: Path) -> None:
            np.savez(folder / STATE, allow_pickle=False, **state)
            if (self.path / BEST).exists():  # else the user has taken it away
                shutil.copyfile(self.path / BEST, folder / BEST)

        self.commit(progress, write)

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
        self.check_same(
            lasting(self._settings),
            found,
            f"only {self._settings.steps_key}, parallel.ranks_per_graph, graph_cache and [output] "
            "may differ; start a new run instead",
        )


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
