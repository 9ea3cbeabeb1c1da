"""What this program runs on, for people and for records."""

from __future__ import annotations

import json
import os
import platform
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any

from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.device import installed_gpus, visibility
from ogg_hpc.runtime.launch import promised_size
from ogg_hpc.runtime.mistakes import common_mistakes
from ogg_hpc.runtime.resources import (
    compact,
    file_system,
    memory_limit_bytes,
    total_memory_bytes,
)

_LIBRARIES = ("ogg-hpc", "numpy", "scipy", "numba", "torch", "h5py", "networkx", "mpi4py")
_CUPY = ("cupy", "cupy-cuda12x", "cupy-cuda13x", "cupy-rocm-7-0")
_VARIABLES = (
    *(f"OMPI_COMM_WORLD_{name}" for name in ("SIZE", "LOCAL_SIZE")),
    *(f"PMI_{name}" for name in ("SIZE", "ID", "VERSION")),
    *("MPI_LOCALNRANKS", "MPICH_GPU_SUPPORT_ENABLED"),
    *(f"JSM_NAMESPACE_{name}" for name in ("SIZE", "LOCAL_SIZE")),
    *(f"LSB_{name}" for name in ("JOBID", "JOBINDEX", "DJOB_NUMPROC", "MAX_NUM_PROCESSORS")),
    *(
        f"SLURM_{name}"
        for name in (
            *("JOB_ID", "ARRAY_TASK_ID", "RESTART_COUNT", "JOB_NUM_NODES", "NTASKS"),
            *("NTASKS_PER_NODE", "CPUS_PER_TASK", "CPUS_ON_NODE", "GPUS_PER_TASK"),
            *("GPUS_PER_NODE", "GPUS_ON_NODE", "MEM_PER_NODE", "MEM_PER_CPU", "STEP_ID"),
            *("STEP_NUM_NODES", "STEP_NUM_TASKS", "DISTRIBUTION", "CPU_BIND_TYPE"),
        )
    ),
)


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
    """Return what a report of a problem should begin with (collective).

    Versions, the commit, the system, the MPI library, the launcher, every host and rank, the
    present folder's file system, and warnings of common mistakes.
    """
    description = {
        "versions": versions(),
        "commit": comm.on_root(commit),
        "system": {
            "os": _os_name(),
            "kernel": platform.release(),
            "machine": platform.machine(),
            "c_library": " ".join(platform.libc_ver()),
        },
        "mpi": {"library": _mpi_library(), "gpu_aware": comm.gpu_aware},
        "launcher": launcher(),
        "hosts": _describe_hosts(comm),
        "ranks": comm.gather_objects(_describe_rank(comm)),
        "folder": comm.on_root(lambda: file_system(".")),
        "hdf5_file_locking": os.environ.get("HDF5_USE_FILE_LOCKING"),
    }
    return {**description, "warnings": common_mistakes(description)}


def launcher(environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """Return the launcher's name and number of ranks, and its variables that say sizes and ids.

    Names and values outside a fixed list are left out: there may be secrets among them.
    """
    name, ranks = promised_size(environment) or (None, 1)
    variables = {key: environment[key] for key in _VARIABLES if key in environment}
    return {"name": name, "ranks": ranks, "variables": variables}


def _describe_hosts(comm: Communicator) -> list[dict[str, Any]]:
    mine = {
        "cores": os.cpu_count(),
        "memory_bytes": total_memory_bytes(),
        "memory_limit_bytes": memory_limit_bytes(),
    }
    by_host = dict(comm.gather_objects((socket.gethostname(), mine)))
    return [{**each, **by_host[each["host"]]} for each in hosts(comm)]


def _describe_rank(comm: Communicator) -> dict[str, Any]:
    cores = os.sched_getaffinity(0)
    return {
        "rank": comm.rank,
        "host": socket.gethostname(),
        "local_rank": comm.local_rank,
        "device": comm.device.name,
        "threads": _threads(),
        "cores": {"count": len(cores), "list": compact(cores)},
        "gpu": comm.device.gpu(),
        "gpus_installed": installed_gpus(),
        "visible_devices": visibility(),
    }


def _mpi_library() -> str:
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is None:
        return "none: one rank"
    return " ".join(mpi.Get_library_version().split("\n")[0].strip("\0").split())


def _threads() -> int | None:
    # A list is one number for each level of nested threads.
    number = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return int(number) if number.isdigit() and int(number) else os.cpu_count()


def _os_name() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return platform.system()


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
