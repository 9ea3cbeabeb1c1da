"""Ending all ranks of a job at once."""

from __future__ import annotations

import time
from typing import Any

# A launcher that is told to end the job does not always hand on first what ranks have said.
_LAST_WORDS = 0.3  # seconds


def abort(world: Any, code: int) -> None:
    """End the whole job with an exit code, after what this rank has said has left the launcher.

    Parameters
    ----------
    world
        The ``mpi4py.MPI.Intracomm`` of all ranks.
    code
        The exit code.
    """
    time.sleep(_LAST_WORDS)
    world.Abort(code)
