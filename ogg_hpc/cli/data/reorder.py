"""``ogg-hpc data reorder``: renumber the nodes of a store for ranks that share it by rows."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ogg_hpc.cli.data.command import add_command, add_json, check_store_path, check_suffix
from ogg_hpc.cli.options import console, print_json
from ogg_hpc.errors import InputError, SettingsError

if TYPE_CHECKING:
    from ogg_hpc.graphs.partition_quality import PartitionQuality


def add_parser(commands: Any) -> None:
    """Add the subcommand to those of ``data``."""
    parser = add_command(
        commands,
        "reorder",
        run,
        "renumber the nodes of a graph so that ranks that share it by rows exchange less, and tell "
        "what is gained; labels stay. One process holds it in memory",
        "socfb-MIT.h5 socfb-MIT-rcm.h5 --by rcm --parts 4",
    )
    parser.add_argument("input", metavar="INPUT", help="a store of one graph, e.g. graph.h5")
    parser.add_argument("output", type=Path, metavar="OUTPUT.h5", help="the file to write")
    parser.add_argument(
        "--by",
        required=True,
        metavar="degree|bfs|rcm|metis",
        help="degree, descending; bfs, breadth first; rcm, reverse Cuthill-McKee; metis, part by "
        "part of a partition by METIS, which needs the extra metis",
    )
    parser.add_argument(
        "--parts",
        type=int,
        default=4,
        metavar="P",
        help="number of ranks that the table is for; only the order metis depends on it, e.g. 16 "
        "(default: 4)",
    )
    parser.add_argument(
        "--balance",
        default="rows",
        metavar="NAME",
        help="what these ranks hold the same number of: rows or edges (default: rows)",
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Renumber one graph; return 0."""
    from ogg_hpc.graphs.ordering import check_order
    from ogg_hpc.graphs.reordering import reorder
    from ogg_hpc.graphs.row_block import check_balance
    from ogg_hpc.graphs.shards import GraphStore, SolvedGraph, write_store

    check_order(args.by)
    check_balance(args.balance)
    if args.parts < 1:
        raise SettingsError(f"--parts must be at least 1, not {args.parts}")
    check_suffix(args.output)
    check_store_path(args.input)
    with GraphStore(args.input) as store:
        if len(store) != 1:
            raise InputError(args.input, f"holds {len(store)} graphs; expected a store of one")
        graph, objectives, attributes = store.read(0), store.objectives_of(0), store.attributes
    new = reorder(graph, args.by, args.parts, args.balance)
    record: dict[str, Any] = {"order": args.by}
    if args.by == "metis":
        record |= {"parts": args.parts, "balance": args.balance}
    write_store(args.output, [SolvedGraph(new.graph, objectives)], {**attributes, **record})
    if args.json:
        print_json(
            {
                "output": str(args.output),
                "order": args.by,
                "parts": args.parts,
                "balance": args.balance,
                "before": new.before.record(),
                "after": new.after.record(),
            }
        )
    else:
        _print_table(args.by, new.before, new.after)
    return 0


def _print_table(by: str, before: PartitionQuality, after: PartitionQuality) -> None:
    from rich.table import Table

    table = Table(box=None)
    table.add_column(f"over {len(before.rows)} ranks")
    for title in ("as given", by):
        table.add_column(title, justify="right")
    old, new = before.summary(), after.summary()
    for name, form in (
        ("halo_max", ",.0f"),
        ("halo_mean", ",.0f"),
        ("cut_edges", ",.0f"),
        ("row_imbalance", ".2f"),
        ("entry_imbalance", ".2f"),
    ):
        table.add_row(name.replace("_", " "), f"{old[name]:{form}}", f"{new[name]:{form}}")
    console().print(table)
