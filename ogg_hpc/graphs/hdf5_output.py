"""HDF5 files that are written to a disk that may be full.

HDF5 does not survive a write that fails: it prints tracebacks of its own and crashes when the
program ends. So it writes to a stream that takes everything, and the failure is raised beside it.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py


@contextmanager
def hdf5_output(path: Path, **options: Any) -> Iterator[tuple[h5py.File, Callable[[], None]]]:
    """Yield a new HDF5 file and a function that raises what has failed so far.

    Parameters
    ----------
    path
        The file.
    **options
        Of ``h5py.File``.

    Raises
    ------
    OSError
        It could not be written as a whole; also by the function.
    """
    with _Output(path, "w+") as output:
        with h5py.File(output, "w", **options) as file:
            yield file, output.check
        output.check()


class _Output(io.FileIO):
    """A stream whose writes never fail; it keeps the first failure."""

    _error: OSError | None = None

    def check(self) -> None:
        """Raise the first failure, if there was one."""
        if self._error is not None:
            raise self._error

    def write(self, data: Any) -> int:
        """Write all, or nothing after a failure."""
        rest = memoryview(data).cast("B")
        size = len(rest)
        try:
            while rest and self._error is None:
                rest = rest[super().write(rest) :]
        except OSError as error:
            self._error = error
        return size

    def truncate(self, size: int | None = None) -> int:
        """Set the size, or do nothing after a failure."""
        try:
            return super().truncate(size) if self._error is None else 0
        except OSError as error:
            self._error = error
            return 0
