"""The folder of a run that can be stopped and taken up again: what each such run keeps there."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.runtime.checkpoints import CheckpointStore
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.environment import describe
from ogg_hpc.runtime.files import read_json, remove_leftovers, write_json, writing
from ogg_hpc.runtime.log import LOG, say
from ogg_hpc.runtime.metrics import Metrics
from ogg_hpc.settings import build, differences, override

T = TypeVar("T")

SETTINGS = "settings.json"
ENVIRONMENT = "environment.json"
LOG_FILE = "log.txt"
CHECKPOINTS = "checkpoints"
RECORD = "record.json"
PROGRESS = "progress.json"  # in a checkpoint


@dataclass(kw_only=True)
class Standing:
    """Where a run stands, on all ranks.

    Attributes
    ----------
    step : int
        Steps made.
    seconds : float
        Time they took.
    metrics_bytes : int
        Size of the curves so far.
    signal_stops : int
        How often a signal has stopped the run.
    """

    step: int = 0
    seconds: float = 0.0
    metrics_bytes: int = 0
    signal_stops: int = 0


class RunFolder:
    """The files of a run; for rank 0 alone.

    Parameters
    ----------
    path
        The folder; it holds ``settings.json``, ``environment.json``, ``log.txt``,
        ``metrics.jsonl``, ``tensorboard/``, ``checkpoints/``, and at the end ``record.json``.
    settings
        The run's, a dataclass.
    content, keep
        Of the checkpoints; see `CheckpointStore`.

    Attributes
    ----------
    metrics : Metrics
        The curves, once they are opened.
    """

    metrics: Metrics

    def __init__(self, path: Path, settings: Any, content: str, keep: int) -> None:
        self.path, self._settings = path, settings
        self._store = CheckpointStore(path / CHECKPOINTS, content, keep)

    def holds_run(self) -> bool:
        """Return whether there is a run to be resumed."""
        return (self.path / SETTINGS).exists() or (self.path / CHECKPOINTS).exists()

    def check_new(self) -> None:
        """Raise if the folder holds a run."""
        if self.holds_run():
            raise SettingsError(
                f"{self.path} holds a run already; continue it with --resume {self.path}, "
                "or choose another --output"
            )

    def check_same(self, own: dict[str, Any], found: dict[str, Any], remedy: str) -> None:
        """Raise if the run in the folder was told other things than this one, as plain values."""
        different = list(differences(own, found))
        if different:
            raise SettingsError(f"{self.path} holds a run with {'; '.join(different)}; {remedy}")

    def record(self) -> dict[str, Any] | None:
        """Return the record of a run that is finished, None of another."""
        try:
            return read_json(self.path / RECORD, "record")
        except InputError:
            return None

    def damaged(self) -> list[str]:
        """Return a text on each checkpoint that was passed over in search of a valid one."""
        return [f"{path}: {fault}" for path, fault in self._store.damaged.items()]

    def begin(self, standing: Standing, tensorboard: bool) -> None:
        """Bring the files to where a checkpoint left them, or to the start of a run."""
        with writing(self.path):
            remove_leftovers(self.path)
            (self.path / RECORD).unlink(missing_ok=True)
        write_json(self.path / SETTINGS, asdict(self._settings))
        self.metrics = Metrics(self.path, standing.metrics_bytes, standing.step, tensorboard)

    def commit(self, standing: Standing, write: Callable[[Path], None]) -> None:
        """Write a checkpoint, whole or not at all.

        Parameters
        ----------
        standing
            Where the run stands, which a file ``progress.json`` will hold.
        write
            Writes the other files into the folder that it is given.
        """
        standing.metrics_bytes = self.metrics.flush()

        def write_all(folder: Path) -> None:
            write(folder)
            text = json.dumps(asdict(standing), indent=1) + "\n"
            (folder / PROGRESS).write_text(text, encoding="utf-8")

        self._store.commit(standing.step, write_all)

    def add_start(self, start: dict[str, Any]) -> None:
        """Add to ``environment.json``, the list of all starts of the run."""
        try:
            earlier = json.loads((self.path / ENVIRONMENT).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            earlier = []
        write_json(self.path / ENVIRONMENT, [*earlier, start])

    def write_record(self, record: dict[str, Any]) -> None:
        """Bring all curves to disk, and the record, which says that the run is finished."""
        self.metrics.flush()
        write_json(self.path / RECORD, record)

    def close(self) -> None:
        """Close the curves, if they are open."""
        if hasattr(self, "metrics"):
            self.metrics.close()


def stored_settings(folder: Path) -> dict[str, Any]:
    """Return the settings that the folder of a run holds, as plain values.

    Raises
    ------
    InputError
        There are none.
    """
    path = folder / SETTINGS
    try:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(path, f"cannot resume: {error.strerror}; is this a run?") from None
    except ValueError as error:
        raise InputError(path, f"not JSON: {error}") from None
    return document


def resume_settings(kind: type[T], folder: Path, overrides: Sequence[str] = ()) -> T:
    """Return the settings that a run's folder holds, with ``--set`` assignments applied.

    Raises
    ------
    InputError
        There are none.
    SettingsError
        They, or the assignments, do not fit.
    """
    return build(kind, override(stored_settings(folder), overrides))


def newest_saved(comm: Communicator, files: RunFolder, read: Callable[[], T | None]) -> T | None:
    """Return what the newest valid checkpoint holds, None without one; for rank 0 alone.

    Parameters
    ----------
    comm
        Who hears of checkpoints that are passed over, and of a run that has none.
    files
        The folder of the run.
    read
        Reads the newest valid checkpoint.
    """
    known = files.holds_run()
    saved = read()
    for text in files.damaged():
        say(comm, f"warning: {text}: skipped")
    if saved is None and known:
        say(comm, f"{files.path} holds no checkpoint: starting from step 0")
    return saved


def describe_start(comm: Communicator, step: int) -> dict[str, Any]:
    """Return where a run is started, or started again: it may be elsewhere each time (collective).

    Warnings of common mistakes go to the log.
    """
    about = describe(comm)
    del about["ranks"]  # there may be thousands
    for warning in about["warnings"] if comm.rank == 0 else ():
        LOG.warning("warning: %s", warning)
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": sys.argv,
        "step": step,
        "device": comm.device.name,
        "gpu": comm.device.gpu(),
        **about,
    }


def hosts_without(comm: Communicator, folder: Path) -> list[str]:
    """Return the hosts that do not see a folder which rank 0 has made (collective)."""
    missing = socket.gethostname() if comm.local_rank == 0 and not folder.is_dir() else None
    return sorted({host for host in comm.gather_objects(missing) if host is not None})
