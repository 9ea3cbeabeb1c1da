"""Progress on rank 0: a bar on a terminal, a line now and then in a log file."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.log import say

# Seconds until the first line, and at most between two.
_FIRST, _LONGEST = 60.0, 600.0

_taken = False  # whether this process is inside a block of `progress_bar`


@contextmanager
def progress_bar(
    comm: Communicator, description: str, total: int
) -> Iterator[Callable[[int, str], None]]:
    """Yield a function that shows how much is done and a short text.

    Where rank 0's standard error is no terminal, it says a line after a minute, and then
    ever more rarely. Within the block, further ones do nothing, on any rank: one graph of many
    that are solved on their own has no say.

    Parameters
    ----------
    comm
        The ranks; all but rank 0 are silent.
    description
        What is being done.
    total
        How much there is to do.
    """
    global _taken
    silent = _taken or comm.rank != 0
    outer, _taken = _taken, True
    try:
        if silent:
            yield lambda done, text: None
        elif sys.stderr.isatty():
            with _bar(description, total) as update:
                yield update
        else:
            yield _lines(comm, description, total)
    finally:
        _taken = outer


def _lines(comm: Communicator, description: str, total: int) -> Callable[[int, str], None]:
    start = time.monotonic()
    due = start + _FIRST

    def update(done: int, text: str) -> None:
        nonlocal due
        now = time.monotonic()
        if now < due:
            return
        elapsed = now - start
        due = now + min(max(_FIRST, elapsed / 2), _LONGEST)
        share = 100 * done / max(total, 1)
        parts = [f"{share:.0f} % after {_clock_time(elapsed)}", *filter(None, [text])]
        say(comm, f"{description}: {', '.join(parts)}")

    return update


def _clock_time(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"


@contextmanager
def _bar(description: str, total: int) -> Iterator[Callable[[int, str], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} % {task.fields[text]}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task(description, total=total, text="")
        yield lambda done, text: bar.update(task, completed=done, text=text)
