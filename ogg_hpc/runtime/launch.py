"""Starting on one rank or on many: launcher detection, devices, failure.

Without a launcher nothing of MPI is imported. Under one, the size that MPI reports is compared
with the size that the launcher promised, because a launcher that does not match the MPI library
gives P independent programs that each believe to be alone.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import signal
import sys
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any

from ogg_hpc.errors import MissingExtraError, OggError, SettingsError
from ogg_hpc.runtime.abort import abort
from ogg_hpc.runtime.communicator import Communicator, MPICommunicator
from ogg_hpc.runtime.device import select_device
from ogg_hpc.runtime.watchdog import TIMEOUT, Watchdog

GPU_AWARENESS = ("auto", "on", "off")

# (launcher, variable with the number of ranks, variable with this rank's number), innermost
# launcher first: an mpiexec inside a Slurm job sees the variables of both.
_LAUNCHERS = (
    ("mpiexec (Open MPI)", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("mpiexec (PMI)", "PMI_SIZE", "PMI_RANK"),
    ("jsrun", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK"),
    ("srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
)
_MPIEXEC = _LAUNCHERS[:2]
# How a library is asked whether it takes the buffers of a platform's GPUs.
_GPU_QUERIES = {
    "cpu": (),
    "cuda": ("MPIX_Query_cuda_support",),
    "hip": ("MPIX_Query_rocm_support", "MPIX_Query_hip_support"),  # Open MPI's, MPICH's
}
# What else launchers tell a rank, so that its MPI finds the others.
_LAUNCHER_PREFIXES = ("HYDI_", "HYDRA_", "JSM_", "MPI_LOCAL", "OMPI_", "PMI", "PRTE_")
_PR_SET_PDEATHSIG = 1


def promised_size(environment: Mapping[str, str] = os.environ) -> tuple[str, int] | None:
    """Return the launcher and the number of ranks it started, or None without a launcher."""
    for launcher, size, _ in _LAUNCHERS:
        if environment.get(size, "").isdigit():
            return launcher, int(environment[size])
    return None


def promised_rank(environment: Mapping[str, str] = os.environ) -> int:
    """Return this process's rank by the launcher's word, before MPI starts; 0 without one."""
    for _, size, rank in _LAUNCHERS:
        if environment.get(size, "").isdigit():
            number = environment.get(rank, "0")
            return int(number) if number.isdigit() else 0
    return 0


def without_launcher(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return environment variables without those that make a process a rank.

    For a process that a rank starts beside itself: an MPI in it would take itself for that rank.
    """
    said = {name for _, *names in _LAUNCHERS for name in names}
    return {
        name: value
        for name, value in environment.items()
        if name not in said and not name.startswith(_LAUNCHER_PREFIXES)
    }


def start(device: str = "auto", gpu_aware: str = "auto", timeout: float = TIMEOUT) -> Communicator:
    """Start this rank: MPI if a launcher asks for it, a device, threads, failure handling.

    Parameters
    ----------
    device
        ``auto``, ``cpu`` or ``cuda``.
    gpu_aware
        Whether MPI is handed GPU buffers: ``on``, ``off``, or ``auto`` for where the library
        itself says that it takes them.
    timeout
        Seconds that a collective may keep a rank waiting before a `Watchdog` ends the job; 0 for
        no limit.

    Returns
    -------
    Communicator
        Over all ranks of the job.

    Raises
    ------
    SettingsError
        The launcher and the MPI library do not match, or the device cannot be used.
    MissingExtraError
        A launcher started several ranks and mpi4py is not installed.
    """
    if gpu_aware not in GPU_AWARENESS:
        raise SettingsError(f"GPU awareness {gpu_aware!r} is unknown; use auto, on or off")
    if not timeout >= 0:
        raise SettingsError(f"the timeout is a number of seconds, 0 for none, not {timeout:g}")
    promise = promised_size()
    if promise is None:
        _share_cores(1)
        return Communicator(select_device(device, 0))

    launcher, size = promise
    if launcher in {name for name, _, _ in _MPIEXEC}:
        die_with_parent()
    try:
        from mpi4py import MPI
    except ImportError as error:
        if size == 1:
            _share_cores(1)
            return Communicator(select_device(device, 0))
        raise MissingExtraError("mpi4py", "mpi") from error
    world = MPI.COMM_WORLD
    if world.Get_size() != size:
        library = MPI.Get_library_version().split("\n")[0].strip("\0 ")
        raise SettingsError(
            f"{launcher} started {size} ranks but MPI sees {world.Get_size()}: the launcher does"
            f" not belong to the library that mpi4py is built with ({library}); use that"
            " library's own launcher, or build mpi4py against the launcher's MPI"
        )
    sys.excepthook = _abort_on_exception
    comm = MPICommunicator(world, watchdog=Watchdog(world, timeout) if timeout else None)
    # Without it, ranks would wait for one that has stopped where no thread can watch: at the end.
    atexit.register(comm.barrier)
    _share_cores(_ranks_on_my_cores(MPI))
    use_device(comm, device, comm.local_rank, gpu_aware)
    return comm


def use_device(comm: Communicator, device: str, number: int, gpu_aware: str) -> None:
    """Give a rank its device; see `start`.

    Parameters
    ----------
    comm
        Where its buffers will be sent.
    number
        The rank's number among those of its node that take a device.

    Raises
    ------
    SettingsError
        The device cannot be used.
    """
    comm.device = select_device(device, number)
    comm.gpu_aware = gpu_aware == "on" or (
        gpu_aware == "auto" and library_is_gpu_aware(comm.device.platform, _mpi_version())
    )


def library_is_gpu_aware(platform: str, version: str) -> bool:
    """Return whether the loaded MPI library says that it takes buffers of a platform's GPUs.

    The library is asked, never tried: handing a GPU buffer to one that cannot take it is a
    segmentation fault.

    Parameters
    ----------
    platform
        That of the rank's device.
    version
        What the library calls itself.
    """
    # Cray MPICH takes GPU buffers by this switch alone, and has ended the job in MPI_Init if its
    # transport layer for GPUs is missing. Other libraries do not know the variable.
    if "CRAY MPICH" in version and platform != "cpu":
        return os.environ.get("MPICH_GPU_SUPPORT_ENABLED") == "1"
    return any(
        getattr(library, query)()
        for library in _mpi_libraries()
        for query in _GPU_QUERIES[platform]
        if hasattr(library, query)
    )


def _mpi_libraries() -> Iterator[ctypes.CDLL]:
    """Yield the MPI libraries that this process has loaded; their names alone do not find them."""
    try:
        with open("/proc/self/maps") as maps:
            paths = {line.split()[-1] for line in maps if "libmpi" in line}
    except OSError:
        return
    for path in sorted(paths):
        with suppress(OSError):  # a mapping whose file has been replaced
            yield ctypes.CDLL(path)


def _mpi_version() -> str:
    """Return what the MPI library calls itself; nothing where MPI was not started."""
    module = sys.modules.get("mpi4py.MPI")
    return "" if module is None else str(module.Get_library_version())


def end_job(error: OggError) -> int:
    """Report a user's error and return the exit code, ending the other ranks if need be.

    An error that all ranks share is reported by rank 0 and each rank exits by itself; an error
    of one rank alone is reported with its number and the job is aborted.
    """
    mpi = _running_mpi()
    if mpi is None or error.collective:
        if promised_rank() == 0:
            print(f"ogg-hpc: {error}", file=sys.stderr, flush=True)
        return error.exit_code
    rank = mpi.COMM_WORLD.Get_rank()
    if rank != 0:
        time.sleep(1)  # if rank 0 has the same error, its message is enough
    with suppress(OSError):
        print(f"ogg-hpc: rank {rank}: {error}", file=sys.stderr, flush=True)
    abort(mpi.COMM_WORLD, error.exit_code)
    return error.exit_code


def _running_mpi() -> Any | None:
    module = sys.modules.get("mpi4py.MPI")
    if module is None or not module.Is_initialized() or module.Is_finalized():
        return None
    return module if module.COMM_WORLD.Get_size() > 1 else None


def _abort_on_exception(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """End the whole job with this rank's traceback; without it the other ranks would wait."""
    mpi = _running_mpi()
    rank = mpi.COMM_WORLD.Get_rank() if mpi is not None else 0
    try:
        if rank != 0 and getattr(error, "raised_on_root", False):
            time.sleep(2)  # rank 0 has the traceback and will end the job
        else:
            prefix = f"[rank {rank}] " if mpi is not None else ""
            text = "".join(traceback.format_exception(kind, error, trace))
            sys.stderr.write("".join(prefix + line for line in text.splitlines(keepends=True)))
        sys.stdout.flush()
        sys.stderr.flush()
    finally:  # also where nothing can be written
        if mpi is not None:
            abort(mpi.COMM_WORLD, 130 if issubclass(kind, KeyboardInterrupt) else 1)


def _ranks_on_my_cores(MPI: Any) -> int:
    """Return how many ranks may run on cores of this one, itself included (collective).

    A launcher that binds gives each rank cores of its own; one that does not gives all ranks
    all cores of their node.
    """
    mine = os.sched_getaffinity(0)
    node = MPI.COMM_WORLD.Split_type(MPI.COMM_TYPE_SHARED)
    sharing = sum(not mine.isdisjoint(cores) for cores in node.allgather(mine))
    node.Free()
    return sharing


def _share_cores(ranks: int) -> None:
    """Give each of the ranks on these cores its share, unless the user has set a number.

    Must run before torch and Numba are imported: they read the number once.
    """
    cores = len(os.sched_getaffinity(0))
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, cores // ranks)))


def die_with_parent(by: signal.Signals = signal.SIGKILL) -> None:
    """Ask Linux to end this process when the one that started it dies, so that no orphan is left.

    Parameters
    ----------
    by
        SIGKILL for a rank: a long compiled call does not delay it, nor a stopped process, and
        nobody takes it for the request to come to an end in time. SIGTERM for a launcher, which
        then ends its ranks.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, by)
