"""Common mistakes in how ranks are placed, told from the description of a job."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

from ogg_hpc.runtime.resources import compact

_NO_GPU = ("", "-1", "NoDevFiles")  # values of CUDA_VISIBLE_DEVICES that hide all GPUs


def common_mistakes(description: dict[str, Any]) -> list[str]:
    """Return warnings, each with what to do about it.

    Parameters
    ----------
    description
        What `ogg_hpc.runtime.environment.describe` says of the launcher, MPI and the ranks.
    """
    ranks = description["ranks"]
    return [
        *_no_launcher(description["launcher"]),
        *_too_many_threads(ranks),
        *_shared_gpus(ranks),
        *_idle_gpus(ranks, description["versions"]["cupy"]),
        *_staged_buffers(ranks, description["mpi"]["gpu_aware"]),
    ]


def _no_launcher(launcher: dict[str, Any]) -> Iterator[str]:
    """Tell of a command in a batch job that nothing has started on the job's ranks."""
    if launcher["name"] is not None:
        return
    for variable, remedy in (("SLURM_NTASKS", "srun"), ("LSB_DJOB_NUMPROC", "jsrun or mpiexec")):
        slots = launcher["variables"].get(variable, "")
        if slots.isdigit() and int(slots) > 1:
            yield f"one rank in a job of {slots} ({variable}): start the command by {remedy}"


def _too_many_threads(ranks: list[dict[str, Any]]) -> Iterator[str]:
    for (host, cores), sharing in _grouped(ranks, lambda r: (r["host"], r["cores"]["list"])):
        threads = sum(rank["threads"] for rank in sharing)
        count = sharing[0]["cores"]["count"]
        if threads <= count:
            continue
        remedy = f"set OMP_NUM_THREADS={count // len(sharing)}"
        if count < len(sharing):
            remedy = "start fewer ranks, or let them use more cores"
        yield (
            f"{host}: {threads} threads of {_named(sharing)} on {count} of its cores ({cores}) "
            f"slow one another: {remedy}"
        )


def _shared_gpus(ranks: list[dict[str, Any]]) -> Iterator[str]:
    on_gpu = [rank for rank in ranks if rank["gpu"]]
    for (host, bus), sharing in _grouped(on_gpu, lambda r: (r["host"], r["gpu"]["bus"])):
        if len(sharing) > 1:
            yield (
                f"{host}: {_named(sharing)} share one GPU ({bus}): give each its own, by srun "
                "--gpus-per-task=1 or jsrun -a1 -g1, or start as many ranks as there are GPUs"
            )


def _idle_gpus(ranks: list[dict[str, Any]], cupy: str | None) -> Iterator[str]:
    idle = [
        rank
        for rank in ranks
        if rank["gpus_installed"]
        and not rank["gpu"]
        and rank["visible_devices"].get("CUDA_VISIBLE_DEVICES") not in _NO_GPU
    ]
    remedy = "leave out --device cpu, and see that the driver suits CuPy and torch"
    if cupy is None:
        remedy = "pip install 'ogg-hpc[cuda12]'"
    for host, without in _grouped(idle, lambda r: r["host"]):
        gpus = without[0]["gpus_installed"]
        yield f"{host}: no GPU is used by {_named(without)}, though {gpus} are visible: {remedy}"


def _staged_buffers(ranks: list[dict[str, Any]], gpu_aware: bool) -> Iterator[str]:
    if len(ranks) > 1 and not gpu_aware and any(rank["gpu"] for rank in ranks):
        yield (
            "MPI is not GPU-aware, so that what GPUs send goes through host memory: use a library "
            "that is (jsrun --smpiargs=-gpu, MPICH_GPU_SUPPORT_ENABLED=1)"
        )


def _grouped(
    ranks: list[dict[str, Any]], key: Callable[[dict[str, Any]], Any]
) -> list[tuple[Any, list[dict[str, Any]]]]:
    return [(value, list(group)) for value, group in groupby(sorted(ranks, key=key), key)]


def _named(ranks: list[dict[str, Any]]) -> str:
    word = "rank" if len(ranks) == 1 else "ranks"
    return f"{word} {compact(rank['rank'] for rank in ranks)}"
