"""What this program runs on, for people and for records."""

from __future__ import annotations

import json
import os
import platform
import socket
import subprocess
import sys
from collections import Counter
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any

from ogg_hpc.runtime.communicator import Communicator

_LIBRARIES = ("ogg-hpc", "numpy", "scipy", "numba", "torch", "h5py", "networkx", "mpi4py")
_CUPY = ("cupy", "cupy-cuda12x", "cupy-cuda13x", "cupy-rocm-7-0")


def versions() -> dict[str, str | None]:
    """Return the version of Python and of each library; None where it is not installed."""
    found: dict[str, str | None] = {"python": platform.python_version()}
    for name in _LIBRARIES:
        found[name] = _version(name)
    found["cupy"] = next((v for v in map(_version, _CUPY) if v), None)
    return found


@cache
def commit() -> str | None:
    """Return the commit that this package is of, None where nothing says so.

    Of a checkout it is what ``git describe`` says, with ``-dirty`` where files were changed; of
    a package that pip took from a repository, the commit that pip has noted.
    """
    root = Path(__file__).parents[2]
    if (root / ".git").exists():
        return _described(root)
    try:
        source = json.loads(distribution("ogg-hpc").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return None
    noted: str | None = source.get("vcs_info", {}).get("commit_id")
    return noted


def hosts(comm: Communicator) -> list[dict[str, Any]]:
    """Return the name of each host and its number of ranks, in rank order (collective)."""
    names = Counter(comm.gather_objects(socket.gethostname()))
    return [{"host": name, "ranks": ranks} for name, ranks in names.items()]


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


def _described(checkout: Path) -> str | None:
    command = ["git", "-C", str(checkout), "describe", "--always", "--tags", "--dirty"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):  # no git, or not its owner's checkout
        return None
    return done.stdout.strip()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
