"""``ogg-hpc data fetch``: download a public graph, or list the catalogue."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ogg_hpc.cli.data.command import FILE_SUFFIXES, add_command, add_json
from ogg_hpc.cli.data.output import progress, show, warn
from ogg_hpc.cli.options import console, print_json
from ogg_hpc.errors import SettingsError


def add_parser(commands: Any) -> None:
    """Add the subcommand to those of ``data``."""
    parser = add_command(
        commands,
        "fetch",
        run,
        "download a public graph, check it and write it as HDF5; without NAME, list all",
        "socfb-MIT",
    )
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="name in the catalogue, e.g. G14 (default: list)"
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="file to write, e.g. g.h5 (default: NAME.h5)"
    )
    parser.add_argument(
        "--url",
        help="a mirror of the file, e.g. https://mirror.example/G14 (default: the catalogue's)",
    )
    parser.add_argument(
        "--catalogue",
        type=Path,
        metavar="TOML",
        help="a catalogue to use, e.g. site.toml (default: the package's own)",
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Download a graph or list the catalogue; return 0."""
    from ogg_hpc.graphs.catalogue import find_entry, load_catalogue
    from ogg_hpc.graphs.fetch import fetch_graph

    catalogue = load_catalogue(args.catalogue)
    if args.name is None:
        _list(args, catalogue.values())
        return 0
    entry = find_entry(catalogue, args.name)
    output = args.output or Path(f"{entry.name}.h5")
    if output.suffix not in FILE_SUFFIXES:
        raise SettingsError(f"{output}: the output is HDF5, name it with the suffix .h5")
    with progress(f"fetching {entry.name}", bytes_=True) as report:
        graph = fetch_graph(entry, output, url=args.url, report=report)
    warn(entry.name, graph.warnings)
    record = {
        "output": str(output),
        "nodes": graph.n,
        "edges": graph.m,
        "source": args.url or entry.url,
        "licence": entry.licence,
    }
    show(args, record, "Fetched")
    return 0


def _list(args: argparse.Namespace, entries: Iterable[Any]) -> None:
    from dataclasses import asdict

    if args.json:
        print_json([asdict(entry) for entry in entries])
        return
    columns = ("name", "family", "nodes", "edges", "licence", "page", "url")
    rows = [[str(getattr(entry, column)) for column in columns] for entry in entries]
    if not sys.stdout.isatty():
        print("\n".join("\t".join(row) for row in [list(columns), *rows]))
        return
    from rich.table import Table

    table = Table(*columns, title="Catalogue of public graphs")
    for row in rows:
        table.add_row(*row)
    console().print(table)
