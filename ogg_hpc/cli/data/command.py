"""What the subcommands of ``ogg-hpc data`` have in common on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ogg_hpc.errors import InputError, SettingsError

FILE_SUFFIXES = (".h5", ".hdf5")


def add_command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], int], about: str, example: str
) -> argparse.ArgumentParser:
    """Add a subcommand with its help text and an example."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=about,
        description=about[0].upper() + about[1:] + ".",
        epilog=f"example: ogg-hpc data {name} {example}",
    )
    parser.set_defaults(run=run)
    return parser


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option that prints the record as JSON."""
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object (default: a table)"
    )


def check_store_path(path: str) -> None:
    """Refuse a file that is no store where one is wanted; one that is missing has its own message.

    Raises
    ------
    InputError
        It is a file of another kind.
    """
    from ogg_hpc.graphs.members import is_store

    if Path(path).exists() and not is_store(path):
        raise InputError(path, "is no store of graphs; data convert makes one of it")


def check_suffix(output: Path) -> None:
    """Refuse to write HDF5 to a file that is named as another kind.

    Raises
    ------
    SettingsError
        It is.
    """
    if output.suffix not in FILE_SUFFIXES:
        raise SettingsError(f"{output}: the output is HDF5, name it with the suffix .h5")
