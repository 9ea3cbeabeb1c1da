"""The folder of a run that embeds a graph, beside the output: how it is taken up again."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ogg_hpc.embedding.paths import run_folder
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.files import read_json, writing
from ogg_hpc.runtime.run_folder import (
    CHECKPOINTS,
    ENVIRONMENT,
    PROGRESS,
    SETTINGS,
    RunFolder,
    Standing,
    resume_settings,
    stored_settings,
)
from ogg_hpc.settings import build

CONTENT = "ogg-hpc-embedding-run/1"
# What a resumed run may change: where vectors lie makes no difference to their numbers.
_FREE = ("servers", "graph_memory", "checkpoint_minutes", "checkpoint_keep")
_ALIKE = ("partitioned", "simple", "dot")


@dataclass
class Progress(Standing):
    """Where a run stands, on all ranks; a step is a batch.

    Attributes
    ----------
    same : dict
        What a resumed run must share with this one: settings, graph and windows.
    training_seconds : float
        Time that sampling and training took.
    losses : list
        See `Losses.state`.
    """

    same: dict[str, Any]
    training_seconds: float = 0.0
    losses: list[Any] = field(default_factory=list)


class EmbeddingFolder(RunFolder):
    """The files of a run; for rank 0 alone.

    Parameters
    ----------
    output
        The file of the embedding; the folder lies beside it.
    settings
        The run.
    """

    _settings: EmbedSettings

    def __init__(self, output: Path, settings: EmbedSettings) -> None:
        super().__init__(run_folder(output), settings, CONTENT, settings.checkpoint_keep)
        self._output = output

    def check_new(self) -> None:
        """Raise if the folder holds a run that is not finished."""
        if (self.path / CHECKPOINTS).exists() and self.record() is None:
            raise SettingsError(
                f"{self.path} holds an unfinished run; continue it with --resume, choose another "
                "--output, or delete that folder"
            )

    def finished(self, graph: str) -> dict[str, Any] | None:
        """Return the record of the run if there is nothing left to do.

        Parameters
        ----------
        graph
            What is to be embedded, under the name that the run knows it by.

        Raises
        ------
        SettingsError
            The run in the folder is another one.
        """
        record = self.record()
        if record is None or not self._output.exists():
            return None
        self._check_same(
            {"graph": graph, **lasting(self._settings)},
            {
                "graph": record["graph"]["path"],
                **lasting(resume_settings(EmbedSettings, self.path)),
            },
        )
        return record

    def saved(self, same: dict[str, Any]) -> tuple[Path, Progress] | None:
        """Return the newest valid checkpoint and where the run stood; None if there is none.

        Parameters
        ----------
        same
            What it must share with the present run.

        Raises
        ------
        InputError
            There are checkpoints, and none is valid.
        SettingsError
            It is that of another run.
        """
        path = self._store.newest()
        if path is None:
            return None
        progress = Progress(**read_json(path / PROGRESS, "progress"))
        self._check_same(same, progress.same)
        return path, progress

    def forget(self) -> None:
        """Remove what a finished run, which another one replaces, has left of its starts.

        It may have been killed before it removed its checkpoints.
        """
        self.remove_checkpoints()
        with writing(self.path):
            (self.path / ENVIRONMENT).unlink(missing_ok=True)

    def remove_checkpoints(self) -> None:
        """Remove all checkpoints, which are as large as the output, once that is there."""
        shutil.rmtree(self.path / CHECKPOINTS, ignore_errors=True)

    def _check_same(self, own: dict[str, Any], found: dict[str, Any]) -> None:
        self.check_same(own, found, "go on with that, or choose another --output")


def resumed_settings(output: Path, given: Mapping[str, Any]) -> EmbedSettings:
    """Return the settings of a run that may have begun before.

    Parameters
    ----------
    output
        The file of the embedding.
    given
        Settings by name; they win over those of the run, and defaults over neither.
    """
    folder = run_folder(output)
    known = stored_settings(folder) if (folder / SETTINGS).exists() else {}
    return build(EmbedSettings, {**known, **given})


def lasting(settings: EmbedSettings) -> dict[str, Any]:
    """Return, as plain values, the settings that a resumed run must share with this one."""
    plain = settings.plain()
    for name in _FREE:
        del plain[name]
    if settings.strategy in _ALIKE:
        plain["strategy"] = " or ".join(_ALIKE)
    return plain
