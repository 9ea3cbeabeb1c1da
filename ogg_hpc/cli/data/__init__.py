"""``ogg-hpc data``: make, convert, reorder, describe, check and fetch graphs, one module each."""

from __future__ import annotations

from typing import Any

from ogg_hpc.cli.data import check, convert, fetch, generate, info, reorder


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to an argparse subparsers object."""
    data = subparsers.add_parser(
        "data",
        help="make, convert, reorder, describe, check and fetch graphs",
        description="Make, convert, reorder, describe, check and fetch graphs.",
    )
    commands = data.add_subparsers(metavar="COMMAND", required=True)
    for command in (generate, convert, reorder, info, check, fetch):
        command.add_parser(commands)
