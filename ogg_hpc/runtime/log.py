"""What a run says to people: on rank 0's standard error, and in a file that stays."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ogg_hpc.errors import OggError

if TYPE_CHECKING:
    from ogg_hpc.runtime.communicator import Communicator

# Programs that call this package can add handlers of their own.
LOG = logging.getLogger("ogg_hpc")
LOG.setLevel(logging.INFO)
LOG.addHandler(logging.NullHandler())


def say(comm: Communicator, text: str) -> None:
    """Say something on rank 0's standard error, and to the log; the other ranks are silent.

    A standard error that cannot be written is no reason to stop.
    """
    if comm.rank == 0:
        with suppress(OSError):
            print(text, file=sys.stderr, flush=True)
        LOG.info(text)


@contextmanager
def log_to(comm: Communicator, path: Path) -> Iterator[None]:
    """Append to a file what is said within the block, with times and numbers of ranks.

    That is what rank 0 says, Python's warnings on any rank, and the error that ends the block on
    this one. A rank with nothing to tell does not open the file; a file that cannot be written is
    no reason to stop.
    """
    handler = _LogFile(path)
    line = f"%(asctime)s [rank {comm.rank}] %(message)s"
    handler.setFormatter(logging.Formatter(line, datefmt="%Y-%m-%dT%H:%M:%S%z"))
    LOG.addHandler(handler)
    try:
        with _warnings_logged():
            yield
    except OggError as error:
        if comm.rank == 0 or not error.collective:
            LOG.error(str(error))
        raise
    except BaseException:
        LOG.exception("ended by an error:")
        raise
    finally:
        LOG.removeHandler(handler)


class _LogFile(logging.Handler):
    """Opens its file for each of the few messages: nothing is lost, and nothing held open."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError), open(self._path, "a", encoding="utf-8") as stream:
            stream.write(self.format(record) + "\n")


@contextmanager
def _warnings_logged() -> Iterator[None]:
    show = warnings.showwarning

    def show_and_log(
        message: Warning | str, category: type[Warning], filename: str, lineno: int,
        file: TextIO | None = None, line: str | None = None,
    ) -> None:  # fmt: skip
        show(message, category, filename, lineno, file, line)
        LOG.warning(warnings.formatwarning(message, category, filename, lineno, line).rstrip())

    warnings.showwarning = show_and_log
    try:
        yield
    finally:
        warnings.showwarning = show
