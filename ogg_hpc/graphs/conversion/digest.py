"""The checksum of an input, computed while the ranks read it."""

from __future__ import annotations

import threading
from pathlib import Path

from ogg_hpc.errors import InputError
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.files import sha256_of_file


class Digest:
    """The SHA-256 of a file, computed by rank 0 while it goes on with its work."""

    def __init__(self, comm: Communicator, path: Path) -> None:
        self._comm, self._path = comm, path
        self._found: str | OSError | None = None
        # A daemon does not keep a job alive that has failed.
        self._thread = threading.Thread(target=self._compute, args=(path,), daemon=True)
        if comm.rank == 0:
            self._thread.start()

    def _compute(self, path: Path) -> None:
        try:
            self._found = sha256_of_file(path)
        except OSError as error:
            self._found = error

    def value(self) -> str:
        """Return the digest on all ranks, when it is there (collective)."""

        def wait() -> str:
            self._thread.join()
            if isinstance(self._found, str):
                return self._found
            raise InputError(self._path, f"cannot be read ({self._found})")

        return self._comm.on_root(wait)
