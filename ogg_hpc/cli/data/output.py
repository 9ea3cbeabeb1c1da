"""What the subcommands of ``ogg-hpc data`` print: records and warnings."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ogg_hpc.cli.options import console, print_json


def warn(path: str, warnings: Iterable[str]) -> None:
    """Print warnings about a file to standard error."""
    for warning in warnings:
        print(f"warning: {path}: {warning}", file=sys.stderr)


def show(args: argparse.Namespace, record: Mapping[str, Any], title: str) -> None:
    """Print a record: as JSON, as a table on a terminal, else one line an item."""
    if args.json:
        print_json(record)
        return
    rows = [(name, _text(value)) for name, value in _flat(record)]
    if not sys.stdout.isatty():
        print("\n".join(f"{name}: {value}" for name, value in rows))
        return
    from rich.table import Table

    table = Table(title=title, show_header=False)
    table.add_column()
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, value)
    console().print(table)


def _flat(record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in record.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}.{key}", inner) for key, inner in _flat(value))
        elif value is not None:
            yield name, value


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
