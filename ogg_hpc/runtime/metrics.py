"""Curves of a run: JSON lines, and TensorBoard where it is installed."""

from __future__ import annotations

import importlib.util
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from ogg_hpc.errors import InputError
from ogg_hpc.runtime.event_file import EventFile
from ogg_hpc.runtime.files import sync, writing

METRICS = "metrics.jsonl"


class Metrics:
    """Writes one JSON object a line to ``metrics.jsonl``, and scalars to ``tensorboard/``.

    Parameters
    ----------
    folder
        The run's folder.
    keep
        Bytes of an existing file to keep, at most; what follows was written after the checkpoint
        that a resumed run starts from, and will be written again.
    step
        The step that comes next; TensorBoard forgets what was written for it and later ones.
    tensorboard
        Whether to write TensorBoard files where tensorboard is installed.

    Attributes
    ----------
    failure : InputError or None
        Why nothing has been written for some time; for `flush` to raise.

    Raises
    ------
    InputError
        A file cannot be written.
    """

    def __init__(self, folder: Path, keep: int, step: int, tensorboard: bool) -> None:
        self._path = folder / METRICS
        self._events_folder = folder / "tensorboard"
        self._events: EventFile | None = None
        self.failure: InputError | None = None
        with writing(self._path):
            self._path.touch()
            # A file that the user has removed or cut must not be filled up with zeros.
            os.truncate(self._path, min(keep, self._path.stat().st_size))
            self._stream = open(self._path, "a", encoding="utf-8")  # noqa: SIM115 - see `close`
        if tensorboard and importlib.util.find_spec("tensorboard") is not None:
            with writing(self._events_folder):
                self._events = EventFile(self._events_folder, step)

    def write(self, step: int, values: dict[str, Any]) -> None:
        """Add values of a step; None values are left out of the curves.

        Raises nothing, so that one rank alone may call it: see `failure`.
        """
        if self.failure is not None:
            return
        try:
            with writing(self._path):
                self._stream.write(json.dumps({"step": step, **values}) + "\n")
            if self._events is not None:
                with writing(self._events_folder):
                    self._events.add(step, _scalars(values))
        except InputError as error:
            self.failure = error

    def flush(self) -> int:
        """Bring everything to disk and return the size of the JSON lines in bytes.

        Raises
        ------
        InputError
            Something could not be written, now or earlier.
        """
        if self.failure is not None:
            raise self.failure
        with writing(self._path):
            self._stream.flush()
            sync(self._path)
        if self._events is not None:
            with writing(self._events_folder):
                self._events.flush()
        return self._stream.tell()

    def close(self) -> None:
        """Close the files, whether or not what is left can be written: `flush` tells."""
        for stream in (self._stream, self._events):
            if stream is not None:
                with suppress(OSError):
                    stream.close()


def _scalars(values: dict[str, Any]) -> dict[str, float]:
    """Return the numbers in values and in dictionaries of them, by tag."""
    found = {}
    for name, value in values.items():
        parts = value if isinstance(value, dict) else {"": value}
        for part, scalar in parts.items():
            if isinstance(scalar, int | float):
                found[f"{name}/{part}" if part else name] = scalar
    return found
