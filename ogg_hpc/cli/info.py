"""``ogg-hpc info``: what the program runs on, and what may be wrong with it."""

from __future__ import annotations

import argparse
from typing import Any

from ogg_hpc.cli.options import add_run_options, console, print_json, start_ranks


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "info",
        help="versions, launcher, hosts, ranks and common mistakes: attach it to a report",
        description="Print what the program runs on: versions and commit, the system, the MPI "
        "library and its GPU-awareness, the launcher and its variables, each host's memory, each "
        "rank's cores, threads and GPU, the present folder's file system; and warn of common "
        "mistakes in how ranks are placed. Attach it to a report of a problem. "
        "Example: mpiexec -n 2 ogg-hpc info",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")
    add_run_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the report on rank 0 (collective)."""
    from ogg_hpc.runtime.environment import describe

    comm = start_ranks(args)
    record = describe(comm)
    if comm.rank != 0:
        return 0
    if args.json:
        print_json(record)
        return 0

    _print_tables(record)
    return 0


def _print_tables(record: dict[str, Any]) -> None:
    from rich.table import Table

    out = console()
    versions = Table("library", "version", title="Versions")
    for name, version in record["versions"].items():
        versions.add_row(name, version or "not installed")
    out.print(versions)
    system, mpi, launcher = record["system"], record["mpi"], record["launcher"]
    folder = record["folder"]
    for name, value in (
        ("commit", record["commit"] or "unknown"),
        ("system", ", ".join(system.values())),
        ("MPI", f"{mpi['library']} (GPU-aware: {'yes' if mpi['gpu_aware'] else 'no'})"),
        ("launcher", f"{launcher['name'] or 'none'}, ranks: {launcher['ranks']}"),
        ("variables", " ".join(f"{k}={v}" for k, v in launcher["variables"].items()) or "none"),
        (
            "folder",
            f"{folder['path']} on {folder['type'] or 'an unknown file system'}, "
            f"{_gib(folder['free_bytes'])} free",
        ),
        ("HDF5 file locking", record["hdf5_file_locking"] or "not set"),
    ):
        out.print(f"{name}: {value}")
    hosts = Table("host", "ranks", "cores", "memory", "memory limit", title="Hosts")
    for host in record["hosts"]:
        limit = host["memory_limit_bytes"]
        hosts.add_row(
            host["host"],
            str(host["ranks"]),
            str(host["cores"]),
            _gib(host["memory_bytes"]),
            "none" if limit is None else _gib(limit),
        )
    out.print(hosts)
    ranks = Table("rank", "host", "local rank", "device", "threads", "cores", "GPU", title="Ranks")
    for rank in record["ranks"]:
        values = (rank[name] for name in ("rank", "host", "local_rank", "device", "threads"))
        ranks.add_row(*map(str, values), rank["cores"]["list"], _gpu(rank))
    out.print(ranks)
    for warning in record["warnings"]:
        out.print(f"warning: {warning}", soft_wrap=True)


def _gpu(rank: dict[str, Any]) -> str:
    gpu = rank["gpu"]
    seen = [f"{name}={value}" for name, value in rank["visible_devices"].items()]
    if gpu is None:
        return ", ".join(seen) or "none"
    memory = f"{_gib(gpu['free_bytes'])} of {_gib(gpu['memory_bytes'])} free"
    driver = [f"driver {gpu['driver']}, CUDA {gpu['cuda']}"] if gpu["driver"] else []
    return ", ".join([f"{gpu['name']} at {gpu['bus']}", memory, *driver, *seen])


def _gib(count: int) -> str:
    return f"{count / 2**30:.1f} GiB"
