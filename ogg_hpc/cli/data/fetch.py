"""``ogg-hpc data fetch``: download a public graph, or list the catalogue."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ogg_hpc.cli.data.command import add_command, add_json, check_suffix
from ogg_hpc.cli.data.output import show, warn
from ogg_hpc.cli.options import (
    add_host_run_options,
    add_memory_option,
    console,
    memory_of_rank,
    print_json,
    start_ranks,
)
from ogg_hpc.runtime.signals import Came, noted_signals

if TYPE_CHECKING:
    from ogg_hpc.graphs.catalogue import CatalogueEntry
    from ogg_hpc.runtime.communicator import Communicator


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
    add_memory_option(parser)
    add_host_run_options(parser)


def run(args: argparse.Namespace) -> int:
    """Download a graph or list the catalogue (collective); return 0."""
    with noted_signals() as came:
        comm = start_ranks(args)
        from ogg_hpc.graphs.catalogue import load_catalogue

        catalogue = comm.on_all(lambda: load_catalogue(args.catalogue))
        if args.name is not None:
            _fetch(args, comm, catalogue, came)
        elif comm.rank == 0:
            _list(args, catalogue.values())
    return 0


def _fetch(
    args: argparse.Namespace,
    comm: Communicator,
    catalogue: dict[str, CatalogueEntry],
    came: Came,
) -> None:
    from ogg_hpc.graphs.catalogue import find_entry
    from ogg_hpc.graphs.fetch import fetch_graph

    entry = comm.on_all(lambda: find_entry(catalogue, args.name))
    output = args.output or Path(f"{entry.name}.h5")
    comm.on_all(lambda: check_suffix(output))
    memory = memory_of_rank(args, comm)
    converted = fetch_graph(comm, entry, output, memory=memory, url=args.url, came=came)
    if comm.rank == 0:
        warn(entry.name, converted.warnings)
        record = {
            "output": str(output),
            "nodes": converted.built.nodes,
            "edges": converted.built.edges,
            "source": args.url or entry.url,
            "licence": entry.licence,
        }
        show(args, record, "Fetched")


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
