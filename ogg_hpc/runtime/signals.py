"""Signals as a question: whether this process has been asked to come to an end."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from ogg_hpc.errors import StoppedError

# What people, batch systems and their warnings before the walltime send.
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGURG)
# The second of these is obeyed. The others are warnings, which may come from the batch system
# and from the jobscript, or again and again.
INSISTENT = (signal.SIGINT, signal.SIGTERM)

Came = Callable[[], signal.Signals | None]
"""Tells which signal has come to this rank."""


def none_came() -> None:
    """Return that no signal has come."""


@contextmanager
def noted_signals() -> Iterator[Callable[[], signal.Signals | None]]:
    """Note signals within the block instead of obeying them; yield what tells the first of them.

    SIGINT and SIGTERM act as before the block when they come a second time. Main thread only.
    """
    came: signal.Signals | None = None
    before: dict[int, Any] = {}

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal came
        came = came or signal.Signals(number)
        if number in INSISTENT:
            signal.signal(number, before[number])

    for number in SIGNALS:
        before[number] = signal.signal(number, note)
    try:
        yield lambda: came
    finally:
        for number in SIGNALS:
            signal.signal(number, before[number])


def refuse_after(came: signal.Signals | None) -> None:
    """End work that can be taken up again, if a signal has come.

    Raises
    ------
    StoppedError
        One has.
    """
    if came is not None:
        raise StoppedError(f"stopped by {came.name}: give the same command again")
