"""``ogg-hpc data convert``: a graph in any format to HDF5."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ogg_hpc.cli.data.command import FILE_SUFFIXES, add_command, add_json
from ogg_hpc.cli.data.output import show, warn
from ogg_hpc.cli.options import add_node_weights_option
from ogg_hpc.errors import SettingsError


def add_parser(commands: Any) -> None:
    """Add the subcommand to those of ``data``."""
    parser = add_command(
        commands,
        "convert",
        run,
        "read a graph in any format and write it as HDF5",
        "socfb-MIT.mtx socfb-MIT.h5",
    )
    parser.add_argument("input", metavar="INPUT", help="the graph, e.g. edges.txt.gz")
    parser.add_argument("output", type=Path, metavar="OUTPUT.h5", help="the file to write")
    parser.add_argument(
        "--format", metavar="NAME", help="format of INPUT, e.g. edgelist (default: by its content)"
    )
    direction = parser.add_mutually_exclusive_group()
    direction.add_argument(
        "--directed",
        action="store_true",
        help="take each line as an arc, e.g. for wiki-Vote.txt (default: as the format says, "
        "an edge list is undirected)",
    )
    direction.add_argument(
        "--undirected",
        action="store_true",
        help="take each arc as an edge, e.g. for Pajek arcs (default: keep directions)",
    )
    add_node_weights_option(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Convert one graph; return 0."""
    from ogg_hpc.graphs.readers import read_graph
    from ogg_hpc.graphs.readers.node_weights import read_node_weights
    from ogg_hpc.graphs.shards import write_store
    from ogg_hpc.runtime.files import sha256_of_file

    if args.output.suffix not in FILE_SUFFIXES:
        raise SettingsError(f"{args.output}: the output is HDF5, name it with the suffix .h5")
    graph = read_graph(
        args.input, format=args.format, directed=args.directed, undirected=args.undirected
    )
    if args.node_weights is not None:
        graph = read_node_weights(args.node_weights, graph)
    warn(args.input, graph.warnings)
    source = Path(args.input)
    settings = {"source": source.name}
    if source.is_file():
        settings["source_sha256"] = sha256_of_file(source)
    write_store(args.output, [graph], settings)
    record = {
        "output": str(args.output),
        "nodes": graph.n,
        "edges": graph.m,
        "directed": graph.directed,
        "weighted": graph.weights is not None,
        "node_weighted": graph.node_weights is not None,
        "self_loops": graph.self_loops,
        "duplicates": graph.duplicates,
    }
    show(args, record, "Converted")
    return 0
