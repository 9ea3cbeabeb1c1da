"""Progress on rank 0's terminal, and nowhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ogg_hpc.runtime.communicator import Communicator

_taken = False  # whether this process is inside a block of `progress_bar`


@contextmanager
def progress_bar(
    comm: Communicator, description: str, total: int
) -> Iterator[Callable[[int, str], None]]:
    """Yield a function that shows how much is done and a short text.

    Where rank 0's standard error is no terminal, the function does nothing: log files hold
    lines, not bars. Within the block, further bars do nothing either, on any rank: one graph of
    many that are solved on their own has no say.

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
    shown = not _taken and comm.rank == 0 and sys.stderr.isatty()
    outer, _taken = _taken, True
    try:
        if shown:
            with _bar(description, total) as update:
                yield update
        else:
            yield lambda done, text: None
    finally:
        _taken = outer


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
