"""What this program runs on, for people and for records."""

from __future__ import annotations

import os
import platform
import socket
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from ogg_hpc.runtime.communicator import Communicator

_LIBRARIES = ("ogg-hpc", "numpy", "scipy", "numba", "torch", "h5py", "networkx", "mpi4py")
_CUPY = ("cupy", "cupy-cuda12x", "cupy-cuda13x")


def versions() -> dict[str, str | None]:
    """Return the version of Python and of each library; None where it is not installed."""
    found: dict[str, str | None] = {"python": platform.python_version()}
    for name in _LIBRARIES:
        found[name] = _version(name)
    found["cupy"] = next((v for v in map(_version, _CUPY) if v), None)
    return found


def describe(comm: Communicator) -> dict[str, Any]:
    """Return versions, the MPI library and every rank's place (collective)."""
    mpi = sys.modules.get("mpi4py.MPI")
    library = mpi.Get_library_version().split("\n")[0].strip("\0 ") if mpi else "none: one rank"
    mine = {
        "rank": comm.rank,
        "host": socket.gethostname(),
        "local_rank": comm.local_rank,
        "device": comm.device.name,
        "threads": int(os.environ.get("OMP_NUM_THREADS", "0")) or os.cpu_count(),
    }
    return {
        "versions": versions(),
        "mpi": {"library": library, "gpu_aware": comm.gpu_aware},
        "ranks": comm.gather_objects(mine),
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
