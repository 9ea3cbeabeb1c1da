"""``ogg-hpc embed-eval split``: hold out edges before a graph is embedded."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ogg_hpc.cli.embed_eval.command import add_command

_DESCRIPTION = """\
Hold out random edges of a graph, to be predicted from an embedding of the rest. Writes
DIR/train.h5, the graph to embed, and DIR/held-out.h5, the edges for embed-eval link. Both keep
all nodes with their labels, weights, and the directions of arcs."""


def add_parser(commands: Any) -> None:
    """Add the subcommand to those of ``embed-eval``."""
    parser = add_command(
        commands,
        "split",
        run,
        "hold out edges before a graph is embedded",
        _DESCRIPTION,
        "wiki-Vote.txt --directed --fraction 0.2 --output split/",
    )
    parser.add_argument("graph", metavar="GRAPH", help="the graph, in any format")
    parser.add_argument(
        "--fraction", type=float, default=0.2, help="part of the edges held out (default: 0.2)"
    )
    parser.add_argument(
        "--connected",
        action="store_true",
        help="hold out no edge of a random spanning forest, so that no component falls apart "
        "(default: any edge)",
    )
    parser.add_argument(
        "--output", type=Path, required=True, metavar="DIR", help="folder to write, e.g. split/"
    )
    parser.add_argument(
        "--format", metavar="NAME", help="format of GRAPH, e.g. edgelist (default: by its content)"
    )
    direction = parser.add_mutually_exclusive_group()
    direction.add_argument(
        "--directed",
        action="store_true",
        help="take each line as an arc (default: as the format says, an edge list is undirected)",
    )
    direction.add_argument(
        "--undirected",
        action="store_true",
        help="take each arc as an edge (default: keep directions)",
    )


def run(args: argparse.Namespace) -> int:
    """Split the edges of a graph; return 0."""
    from ogg_hpc.cli.data.output import show, warn
    from ogg_hpc.embedding.evaluation.split import Split, split_edges
    from ogg_hpc.graphs.members import check_apart
    from ogg_hpc.graphs.readers import read_graph
    from ogg_hpc.graphs.shards import write_store

    paths = {part: args.output / f"{part.replace('_', '-')}.h5" for part in Split._fields}
    for path in paths.values():
        check_apart(path, args.graph)
    graph = read_graph(
        args.graph, format=args.format, directed=args.directed, undirected=args.undirected
    )
    warn(args.graph, graph.warnings)
    split = split_edges(graph, args.fraction, args.seed, connected=args.connected)
    settings = {
        "source": args.graph,
        "fraction": args.fraction,
        "connected": args.connected,
        "seed": args.seed,
    }
    for part, path in paths.items():
        write_store(path, [getattr(split, part)], {**settings, "part": part})
    record = {
        **{part: str(path) for part, path in paths.items()},
        "nodes": graph.n,
        "directed": graph.directed,
        "training_edges": split.train.m,
        "held_out_edges": split.held_out.m,
        **settings,
    }
    show(args, record, "Split")
    return 0
