"""A process that is ended together with all that descends from it, daemons included."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

# Processes that lose their parent become children of this one instead of the machine's first.
_CONTAINER = """
import ctypes, os, subprocess, sys
ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER
subprocess.Popen(sys.argv[1:])
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
"""


class ContainedProcess:
    """Start a command in a container of processes, its output going to a log file."""

    def __init__(self, command: Sequence[str | Path], environment: Mapping[str, str], log: Path):
        with log.open("ab") as output:
            self._container = subprocess.Popen(
                [sys.executable, "-c", _CONTAINER, *map(str, command)],
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def crash(self) -> None:
        """Kill all its processes at once, as a crash of their machine would."""
        while descendants := list(_descendants(self._container.pid)):
            for pid in descendants:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)  # for those that were being started
        self._container.wait()


def _descendants(ancestor: int) -> Iterator[int]:
    children: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended meanwhile
            # The name before ")" may hold anything.
            state, parent = status.read_text().rpartition(")")[2].split()[:2]
            if state != "Z":
                children.setdefault(int(parent), []).append(int(status.parent.name))
    waiting = [ancestor]
    while waiting:
        found = children.get(waiting.pop(), [])
        yield from found
        waiting += found
