"""``ogg-hpc data convert``: a graph in any format to HDF5."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ogg_hpc.cli.data.command import add_command, add_json, check_suffix
from ogg_hpc.cli.data.output import show, warn
from ogg_hpc.cli.options import (
    add_host_run_options,
    add_memory_option,
    add_node_weights_option,
    memory_of_rank,
    start_ranks,
)
from ogg_hpc.runtime.signals import noted_signals

_DESCRIPTION = """\
Read a graph in any format and write it as HDF5. Under mpiexec, srun or jsrun the ranks share edge
lists, MatrixMarket files and Parquet tables of any size, also compressed ones, and keep to
--memory; other formats are read as a whole by rank 0. The file is the same, byte for byte, on any
number of ranks. A conversion that was killed, or stopped by a signal (exit code 75), goes on when
the same command is given again, on as many ranks as you like; until then what is finished lies in
.OUTPUT.h5.parts beside the output."""


def add_parser(commands: Any) -> None:
    """Add the subcommand to those of ``data``."""
    parser = add_command(
        commands,
        "convert",
        run,
        "read a graph in any format and write it as HDF5",
        "socfb-MIT.mtx socfb-MIT.h5",
    )
    parser.description = _DESCRIPTION
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
    add_memory_option(parser)
    add_json(parser)
    add_host_run_options(parser)


def run(args: argparse.Namespace) -> int:
    """Convert one graph (collective); return 0."""
    with noted_signals() as came:  # before the seconds that imports take
        comm = start_ranks(args)
        from ogg_hpc.graphs.conversion.convert import convert
        from ogg_hpc.graphs.conversion.request import Request

        comm.on_all(lambda: check_suffix(args.output))
        request = Request(
            source=Path(args.input),
            output=args.output,
            format=args.format,
            directed=args.directed,
            undirected=args.undirected,
            node_weights=args.node_weights,
        )
        converted = convert(comm, request, memory=memory_of_rank(args, comm), came=came)
    built = converted.built
    record = {
        "output": str(args.output),
        "nodes": built.nodes,
        "edges": built.edges,
        "directed": built.directed,
        "weighted": built.weighted,
        "node_weighted": converted.node_weighted,
        "self_loops": built.self_loops,
        "duplicates": built.duplicates,
        "reversed_pairs": built.reversed_pairs,
        "isolated": built.isolated,
        "ranks": comm.size,
        "seconds": converted.seconds,
        "peak_memory_bytes": max(comm.gather_objects(comm.device.peak_memory_bytes())),
    }
    if comm.rank == 0:
        warn(args.input, converted.warnings)
        show(args, record, "Converted")
    return 0
