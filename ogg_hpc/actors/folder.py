"""The folder of a run of actors and learners: what lies where, and how it is taken up again."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.actors.settings import (
    ActorsSettings,
    CollectionSettings,
    OutputSettings,
    RemoteSettings,
    RolesSettings,
)
from ogg_hpc.runtime.files import read_arrays, read_json
from ogg_hpc.runtime.run_folder import (
    PROGRESS,
    SETTINGS,
    RunFolder,
    Standing,
    resume_settings,
)

POLICY = "policy.safetensors"
STATE = "state.npz"  # in a checkpoint
CONTENT = "ogg-hpc-actors/1"


@dataclass
class Progress(Standing):
    """Where a run stands, on all learners; a step is one of an environment.

    Attributes
    ----------
    settings : dict
        The settings that a resumed run must share with this one.
    """

    settings: dict[str, Any]


@dataclass
class Saved:
    """What the newest valid checkpoint holds.

    Attributes
    ----------
    progress
        Where the run stood.
    state
        What the algorithm's `Algorithm.state` returned.
    """

    progress: Progress
    state: dict[str, NDArray[np.generic]]


class ActorsFolder(RunFolder):
    """The files of a run; for rank 0 alone.

    Parameters
    ----------
    path
        The folder of a run, which holds the policy ``policy.safetensors``, too.
    settings
        The run.
    """

    _settings: ActorsSettings

    def __init__(self, path: Path, settings: ActorsSettings) -> None:
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
        self._check_same(lasting(resume_settings(ActorsSettings, self.path)))
        record = self.record()
        return record if record is not None and record["steps"] >= self._settings.steps else None

    def saved(self) -> Saved | None:
        """Return the newest valid checkpoint; None if there is no checkpoint at all.

        Raises
        ------
        InputError
            None is valid.
        SettingsError
            It is that of another run.
        """
        path = self._store.newest()
        if path is None:
            return None
        progress = Progress(**read_json(path / PROGRESS, "progress"))
        self._check_same(progress.settings)
        return Saved(progress, read_arrays(path / STATE, "a learning state"))

    def save(self, progress: Progress, state: dict[str, NDArray[np.generic]]) -> None:
        """Write a checkpoint, whole or not at all."""

        def write(folder: Path) -> None:
            np.savez(folder / STATE, allow_pickle=False, **state)

        self.commit(progress, write)

    def _check_same(self, found: dict[str, Any]) -> None:
        self.check_same(
            lasting(self._settings),
            found,
            "only steps, [roles], [collection], [remote] and [output] may differ; start a new run "
            "instead",
        )


def lasting(settings: ActorsSettings) -> dict[str, Any]:
    """Return, as plain values, the settings that a resumed run must share with this one."""
    same = replace(
        settings,
        steps=1,
        roles=RolesSettings(),
        collection=CollectionSettings(),
        remote=RemoteSettings(),
        output=OutputSettings(),
    )
    plain: dict[str, Any] = json.loads(json.dumps(asdict(same)))
    return plain
