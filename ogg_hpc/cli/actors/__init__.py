"""``ogg-hpc actors``: learn from environments that many processes step, one module a command."""

from __future__ import annotations

from typing import Any

from ogg_hpc.cli.actors import actor, calibrate, controller, evaluate, learner, run


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to an argparse subparsers object."""
    about = "learn from environments that many processes step: actors and learners"
    parser = subparsers.add_parser(
        "actors", help=about, description=about[0].upper() + about[1:] + "."
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in (run, learner, controller, actor, evaluate, calibrate):
        command.add_parser(commands)
