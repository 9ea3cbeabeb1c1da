"""``ogg-hpc data info``: describe a graph or a store of graphs."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

from ogg_hpc.cli.data.command import add_command, add_json
from ogg_hpc.cli.data.output import show, warn

if TYPE_CHECKING:
    from ogg_hpc.graphs.shards import GraphStore

# A stored graph with more entries is not read as a whole unasked: this many take some seconds and
# half a gigabyte.
_MOST_ENTRIES = 20_000_000


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
    parser.add_argument(
        "--whole",
        action="store_true",
        help="read stored graphs as a whole, for components and weights, also those with more than "
        f"{_MOST_ENTRIES:,} entries (default: of these read offsets alone, for the degrees)",
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Describe a graph or a store; return 0."""
    from dataclasses import asdict

    from ogg_hpc.graphs.members import is_store, split_index
    from ogg_hpc.graphs.readers import read_graph
    from ogg_hpc.graphs.shards import GraphStore
    from ogg_hpc.graphs.statistics import graph_statistics

    record: dict[str, Any] = {"path": args.path}
    path, index = split_index(args.path)
    title = "Graph"
    if is_store(path):
        with GraphStore(path) as store:
            record |= _store_record(store)
            if index is None and len(store) != 1:
                title = "Store"
                record |= _totals(store)
            else:
                record |= _stored_graph_record(store, index or 0, args.whole)
    else:
        graph = read_graph(args.path)
        warn(args.path, graph.warnings)
        record |= asdict(graph_statistics(graph))
    show(args, record, title)
    return 0


def _store_record(store: GraphStore) -> dict[str, Any]:
    from ogg_hpc.graphs.store_format import FORMAT

    return {
        "format": f"{FORMAT}/{store.version}",
        "graphs": len(store),
        "shards": len(store.shards) or None,
        "attributes": store.attributes,
        "directed": store.kind.directed,
        "weighted": store.kind.weighted,
        "node_weighted": store.kind.node_weighted,
        "labels": store.kind.label_kind,
    }


def _totals(store: GraphStore) -> dict[str, Any]:
    """Describe all graphs of a store together."""
    import numpy as np

    record: dict[str, Any] = {}
    if len(store):
        edges = store.nnz if store.directed else store.nnz // 2
        for name, values in (("nodes", store.nodes), ("edges", edges)):
            record[name] = {
                "min": int(values.min()),
                "mean": float(values.mean()),
                "max": int(values.max()),
                "total": int(values.sum()),
            }
    known = {}
    for problem in store.problems:
        objectives, proven = store.objectives(problem)
        known[problem] = {"known": int(np.isfinite(objectives).sum()), "proven": int(proven.sum())}
    return record | {"objectives": known}


def _stored_graph_record(store: GraphStore, index: int, whole: bool) -> dict[str, Any]:
    """Describe one graph of a store."""
    from dataclasses import asdict

    from ogg_hpc.graphs.statistics import graph_statistics, stored_outline

    outline = stored_outline(store, index)
    entries = outline.edges if outline.directed else 2 * outline.edges
    if whole or entries <= _MOST_ENTRIES:
        record = asdict(graph_statistics(store.read(index)))
    else:
        note = f"components and weights take reading all {entries:,} entries, as --whole does"
        record = asdict(outline) | {"note": note}
    objectives = {}
    for problem in store.problems:
        value, proven = (array[index] for array in store.objectives(problem))
        if math.isfinite(value):
            objectives[problem] = {"value": float(value), "proven": bool(proven)}
    return record | {"objectives": objectives}
