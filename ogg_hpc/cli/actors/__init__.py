"""``ogg-hpc actors``: reinforcement learning by actors and learners, one module a subcommand."""

from __future__ import annotations

from typing import Any

from ogg_hpc.cli.actors import controller


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to an argparse subparsers object."""
    actors = subparsers.add_parser(
        "actors",
        help="reinforcement learning by actors and learners",
        description="Reinforcement learning by actors and learners.",
    )
    commands = actors.add_subparsers(metavar="COMMAND", required=True)
    for command in (controller,):
        command.add_parser(commands)
