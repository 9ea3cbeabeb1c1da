"""``ogg-hpc info``: what the program runs on."""

from __future__ import annotations

import argparse
from typing import Any

from ogg_hpc.cli.options import add_run_options, console, print_json, start_ranks


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "info",
        help="versions, MPI library, and each rank's host, device and threads",
        description="Print versions, the MPI library and its GPU-awareness, and each rank's host, "
        "device and threads. Example: mpiexec -n 2 ogg-hpc info",
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

    from rich.table import Table

    out = console()
    versions = Table("library", "version", title="Versions")
    for name, version in record["versions"].items():
        versions.add_row(name, version or "not installed")
    out.print(versions)
    mpi = record["mpi"]
    out.print(f"MPI: {mpi['library']} (GPU-aware: {'yes' if mpi['gpu_aware'] else 'no'})")
    ranks = Table("rank", "host", "local rank", "device", "threads", title="Ranks")
    for row in record["ranks"]:
        ranks.add_row(*(str(value) for value in row.values()))
    out.print(ranks)
    return 0
