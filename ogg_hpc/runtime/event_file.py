"""Curves in a file for TensorBoard.

Written at once, by this thread: TensorBoard's own writer does it in a thread of its own, where
a full disk is a traceback.
"""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import Any


class EventFile:
    """One more file of curves in a folder.

    Parameters
    ----------
    folder
        Made when missing.
    step
        TensorBoard forgets what earlier files hold of this step and later ones.

    Raises
    ------
    ImportError
        TensorBoard is not installed.
    OSError
        The file cannot be written; of all methods.
    """

    def __init__(self, folder: Path, step: int) -> None:
        from tensorboard.compat.proto import event_pb2, summary_pb2
        from tensorboard.summary.writer.record_writer import RecordWriter

        self._event, self._summary = event_pb2.Event, summary_pb2.Summary
        folder.mkdir(parents=True, exist_ok=True)
        # The kind of name that TensorBoard looks for.
        now = time.time_ns()
        name = f"events.out.tfevents.{now // 10**9:010d}.{socket.gethostname()}.{os.getpid()}.{now}"
        self._stream = open(folder / name, "wb")  # noqa: SIM115 - closed by `close`
        self._records = RecordWriter(self._stream)
        self._add(file_version="brain.Event:2")
        start = event_pb2.SessionLog(status=event_pb2.SessionLog.START)
        self._add(step=step, session_log=start)

    def add(self, step: int, values: dict[str, float]) -> None:
        """Add a point to each of some curves."""
        points = [self._summary.Value(tag=tag, simple_value=v) for tag, v in values.items()]
        self._add(step=step, summary=self._summary(value=points))

    def flush(self) -> None:
        """Hand everything to the system."""
        self._stream.flush()

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def _add(self, **content: Any) -> None:
        event = self._event(wall_time=time.time(), **content)
        self._records.write(event.SerializeToString())
