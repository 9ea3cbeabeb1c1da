"""``ogg-hpc data info``: describe a graph or a store of graphs."""

from __future__ import annotations

import argparse
from typing import Any

from ogg_hpc.cli.data.command import add_command, add_json
from ogg_hpc.cli.data.output import show, warn


def add_parser(commands: Any) -> None:
    """Add the subcommand to those of ``data``."""
    parser = add_command(
        commands, "info", run, "describe a graph or a store of graphs", "graphs.h5:3"
    )
    parser.add_argument(
        "path",
        metavar="PATH",
        help="a graph in any format, or a store; PATH:INDEX is one graph of a store, e.g. train/:3",
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Describe a graph or a store; return 0."""
    from dataclasses import asdict

    from ogg_hpc.graphs.members import is_store
    from ogg_hpc.graphs.readers import read_graph
    from ogg_hpc.graphs.shards import GraphStore
    from ogg_hpc.graphs.statistics import graph_statistics

    record: dict[str, Any] = {"path": args.path}
    graph = None
    if is_store(args.path):
        with GraphStore(args.path) as store:
            record |= _store_record(store)
            if len(store) == 1:
                graph = store.read(0)
    else:
        graph = read_graph(args.path)
        warn(args.path, graph.warnings)
    if graph is not None:
        record |= asdict(graph_statistics(graph))
    show(args, record, "Graph" if graph is not None else "Store")
    return 0


def _store_record(store: Any) -> dict[str, Any]:
    from ogg_hpc.graphs.store_format import FORMAT

    record: dict[str, Any] = {
        "format": f"{FORMAT}/{store.version}",
        "graphs": len(store),
        "shards": len(store.shards) or None,
        "problems": list(store.problems) or None,
        "attributes": store.attributes,
    }
    if len(store) > 1:
        edges = store.nnz if store.directed else store.nnz // 2
        record["directed"] = store.directed
        for name, values in (("nodes", store.nodes), ("edges", edges)):
            record[name] = {
                "min": int(values.min()),
                "mean": float(values.mean()),
                "max": int(values.max()),
                "total": int(values.sum()),
            }
    return record
