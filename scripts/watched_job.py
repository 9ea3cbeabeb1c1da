"""A job under a launcher that is watched from outside: which processes there are, which are left.

Its processes are known by a mark in their environment, wherever they have got to.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ogg_hpc.runtime.watchdog import process_state

_MARK = "OGG_HPC_WATCHED_JOB"
_RANK = ("PMI_RANK", "OMPI_COMM_WORLD_RANK")


class WatchedJob:
    """A command that has been started; as a context manager it leaves no process behind.

    Parameters
    ----------
    command
        The launcher and what it launches.
    environment
        Its environment.
    folder
        Where it runs; its output goes to ``output.txt`` and ``errors.txt`` there.
    """

    def __init__(
        self, command: Sequence[Any], environment: Mapping[str, str], folder: Path
    ) -> None:
        self._mark = uuid.uuid4().hex
        self._errors = folder / "errors.txt"
        with open(folder / "output.txt", "w") as output, open(self._errors, "w") as errors:
            self.process = subprocess.Popen(
                [str(word) for word in command],
                env={**environment, _MARK: self._mark},
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
            )

    def __enter__(self) -> WatchedJob:
        return self

    def __exit__(self, *_: object) -> None:
        for pid in self.processes():
            os.kill(pid, signal.SIGKILL)
        self.process.wait()

    @property
    def errors(self) -> str:
        """What the job has said on standard error."""
        return self._errors.read_text()

    def processes(self) -> dict[int, dict[str, str]]:
        """Return each process of the job that is not gone, with its environment."""
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                lines = (folder / "environ").read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue
            if f"{_MARK}={self._mark}" in lines and process_state(int(folder.name)) != "gone":
                found[int(folder.name)] = dict(line.partition("=")[::2] for line in lines)
        return found

    def rank(self, number: int) -> int | None:
        """Return the process of a rank, None if it has not begun."""
        pids = [
            pid
            for pid, variables in self.processes().items()
            if str(number) in (variables.get(name) for name in _RANK)
        ]
        # What a rank has started has the same environment.
        return next((pid for pid in pids if parent(pid) not in pids), None)

    def wait_until(self, condition: Callable[[], bool], limit: float = 120) -> bool:
        """Wait for a condition; return False if the job ends without it.

        Raises
        ------
        TimeoutError
            Neither has come.
        """
        ends = time.monotonic() + limit
        while not condition():
            if self.process.poll() is not None:
                return condition()
            if time.monotonic() > ends:
                raise TimeoutError(f"no end within {limit} s; {self.errors}")
            time.sleep(0.001)
        return True

    def wait_for_the_end(self, limit: float) -> int:
        """Wait for the launcher and for all other processes; return its exit code.

        Raises
        ------
        TimeoutError
            Some are left.
        """
        ends = time.monotonic() + limit
        try:
            code = self.process.wait(limit)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"no end within {limit} s; {self.errors}") from None
        while left := self.processes():
            if time.monotonic() > ends:
                raise TimeoutError(f"left after {limit} s: {[command_line(pid) for pid in left]}")
            time.sleep(0.01)
        return code


def parent(pid: int) -> int | None:
    """Return the process that a process was started by, None if it is gone."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def command_line(pid: int) -> str:
    """Return the command line of a process, nothing of one that is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode().replace("\0", " ")
    except OSError:
        return ""
