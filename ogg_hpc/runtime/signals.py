"""Signals as a question: whether this process has been asked to come to an end."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

# What people, batch systems and their warnings before the walltime send.
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGURG)


@contextmanager
def noted_signals() -> Iterator[Callable[[], bool]]:
    """Note signals within the block instead of obeying them; yield what tells whether one came.

    A signal that comes a second time acts as it did before the block. Main thread only.
    """
    came = False
    before: dict[int, Any] = {}

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal came
        came = True
        signal.signal(number, before[number])

    for number in SIGNALS:
        before[number] = signal.signal(number, note)
    try:
        yield lambda: came
    finally:
        for number in SIGNALS:
            signal.signal(number, before[number])
