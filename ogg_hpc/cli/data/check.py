"""``ogg-hpc data check``: verify every checksum and invariant of a store."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from ogg_hpc.cli.data.command import add_command, add_json, check_store_path
from ogg_hpc.cli.options import add_host_run_options, print_json, start_ranks


def add_parser(commands: Any) -> None:
    """Add the subcommand to those of ``data``."""
    parser = add_command(
        commands,
        "check",
        run,
        "verify every checksum and invariant of a store, shared by all ranks; exit code 2 if any "
        "fails",
        "train/",
    )
    parser.add_argument("path", metavar="PATH", help="an HDF5 file or a folder of shards")
    add_json(parser)
    add_host_run_options(parser)


def run(args: argparse.Namespace) -> int:
    """Verify a store on all ranks; return 0 if it is sound, else 2."""
    comm = start_ranks(args)
    from ogg_hpc.graphs.shards import check_store

    comm.on_root(lambda: check_store_path(args.path))
    faults = check_store(args.path, comm)
    if comm.rank == 0:
        _tell(args, faults)
    return 2 if faults else 0


def _tell(args: argparse.Namespace, faults: list[str]) -> None:
    if args.json:
        print_json({"path": args.path, "sound": not faults, "faults": faults})
        return
    for fault in faults:
        print(fault, file=sys.stderr)
    if not faults:
        print(f"{args.path}: sound")
