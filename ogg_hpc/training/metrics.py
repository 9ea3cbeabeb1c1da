"""Curves of a training run: JSON lines, and TensorBoard where it is installed."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import Any


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
    """

    def __init__(self, folder: Path, keep: int, step: int, tensorboard: bool) -> None:
        path = folder / "metrics.jsonl"
        path.touch()
        # A file that the user has removed or cut must not be filled up with zeros.
        os.truncate(path, min(keep, path.stat().st_size))
        self._stream = open(path, "a", encoding="utf-8")  # noqa: SIM115 - closed by `close`
        self._board: Any = None
        if tensorboard and importlib.util.find_spec("tensorboard") is not None:
            from torch.utils.tensorboard import SummaryWriter

            self._board = SummaryWriter(str(folder / "tensorboard"), purge_step=step)

    def write(self, step: int, values: dict[str, Any]) -> None:
        """Add values of an environment step; None values are left out of the curves."""
        self._stream.write(json.dumps({"step": step, **values}) + "\n")
        if self._board is not None:
            for name, value in values.items():
                scalars = value if isinstance(value, dict) else {"": value}
                for part, scalar in scalars.items():
                    if isinstance(scalar, int | float):
                        tag = f"{name}/{part}" if part else name
                        self._board.add_scalar(tag, scalar, step)

    def flush(self) -> int:
        """Bring everything to disk and return the size of the JSON lines in bytes."""
        self._stream.flush()
        os.fsync(self._stream.fileno())
        return self._stream.tell()

    def close(self) -> None:
        """Close the files."""
        self._stream.close()
        if self._board is not None:
            self._board.close()
