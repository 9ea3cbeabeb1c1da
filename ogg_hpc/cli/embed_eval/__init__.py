"""``ogg-hpc embed-eval``: what an embedding is worth, one module a task."""

from __future__ import annotations

from typing import Any

from ogg_hpc.cli.embed_eval import classify, link, reconstruct, split


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to an argparse subparsers object."""
    about = "measure what an embedding is worth: links, classes of nodes, reconstruction"
    parser = subparsers.add_parser(
        "embed-eval", help=about, description=about[0].upper() + about[1:] + "."
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in (split, link, classify, reconstruct):
        command.add_parser(commands)
