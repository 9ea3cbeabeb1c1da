"""``ogg-hpc data generate``: make random graphs."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ogg_hpc.cli.data.command import FILE_SUFFIXES, add_command, add_json
from ogg_hpc.cli.data.output import progress, show
from ogg_hpc.errors import SettingsError

if TYPE_CHECKING:
    from ogg_hpc.graphs.graph import Graph

_KINDS = {
    "er": "Erdős-Rényi G(n, p), needs --p",
    "ba": "Barabási-Albert, needs --d",
    "ws": "Watts-Strogatz small world, needs --d (even) and --p",
    "plc": "power-law cluster of Holme and Kim, needs --d and --p",
    "regular": "random regular, needs --d",
    "girg": "geometric inhomogeneous, like a social network, needs --d",
    "torus": "grid on a torus",
    "planar": "union of random planar graphs, needs --d",
    "rb": "model RB, like the frb graphs of BHOSLIB, needs --d and --p",
}


def add_parser(commands: Any) -> None:
    """Add the subcommand to those of ``data``."""
    parser = add_command(
        commands,
        "generate",
        run,
        "make random graphs",
        "er --nodes 1000 --p 0.15 --count 64 --seed 1 --output train/",
    )
    kinds = "; ".join(f"{kind}: {about}" for kind, about in _KINDS.items())
    parser.add_argument("kind", choices=list(_KINDS), help=kinds)
    parser.add_argument(
        "--nodes", type=int, required=True, metavar="N", help="nodes of each graph, e.g. 1000"
    )
    parser.add_argument(
        "--p",
        type=float,
        help="probability of an edge (er), of rewiring (ws), of a triangle (plc), share of pairs "
        "joined (rb), e.g. 0.15 (default: none)",
    )
    parser.add_argument(
        "--d",
        type=int,
        help="edges of each new node (ba, plc), degree (regular), degree of the ring (ws), mean "
        "degree (girg), number of planar graphs (planar) or nodes of each clique (rb), e.g. 4 "
        "(default: none)",
    )
    parser.add_argument(
        "--count", type=int, default=1, metavar="C", help="number of graphs, e.g. 64 (default: 1)"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="S",
        help="graph i is a function of the parameters, S and i, e.g. 7 (default: 0)",
    )
    parser.add_argument(
        "--heaviest",
        type=int,
        default=0,
        metavar="W",
        help="give nodes random whole weights up to W, e.g. 100 (default: no weights)",
    )
    parser.add_argument(
        "--lightest", type=int, default=1, metavar="W", help="least of them, e.g. 20 (default: 1)"
    )
    parser.add_argument(
        "--output",
        type=Path,
        required=True,
        metavar="DIR|FILE",
        help="a file if it ends in .h5, e.g. graph.h5, else a folder of shards, e.g. train/",
    )
    parser.add_argument(
        "--graphs-per-shard",
        type=int,
        default=1000,
        metavar="G",
        help="graphs in each file of a folder, e.g. 100 (default: 1000)",
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Make random graphs; return 0."""
    import inspect

    from ogg_hpc.graphs.generators import GENERATORS, with_random_node_weights
    from ogg_hpc.graphs.shards import write_shards, write_store
    from ogg_hpc.runtime.random import hash64, stream

    generate = GENERATORS[args.kind]
    given = {name: getattr(args, name) for name in ("p", "d") if getattr(args, name) is not None}
    wanted = set(inspect.signature(generate).parameters) & {"p", "d"}
    for name in sorted(wanted ^ set(given)):
        verb = "needs" if name in wanted else "does not take"
        raise SettingsError(f"data generate {args.kind} {verb} --{name}: {_KINDS[args.kind]}")
    if args.count < 1:
        raise SettingsError(f"--count must be at least 1, not {args.count}")

    edges = 0

    def graphs(advance: Callable[[int, int | None], None]) -> Iterator[Graph]:
        nonlocal edges
        for i in range(args.count):
            seed = int(hash64(args.seed, stream("graph"), i))
            graph = generate(args.nodes, **given, seed=seed)
            graph = with_random_node_weights(graph, args.lightest, args.heaviest, seed)
            edges += graph.m
            yield graph
            advance(i + 1, args.count)

    settings = {
        "generator": args.kind,
        "generator_nodes": args.nodes,
        **{f"generator_{name}": value for name, value in given.items()},
        "seed": args.seed,
    }
    if args.heaviest:
        settings |= {"lightest": args.lightest, "heaviest": args.heaviest}
    with progress("generating") as advance:
        if args.output.suffix in FILE_SUFFIXES:
            write_store(args.output, graphs(advance), settings)
        else:
            write_shards(args.output, graphs(advance), args.graphs_per_shard, settings)
    record = {"output": str(args.output), "graphs": args.count, "edges": edges, **settings}
    show(args, record, "Generated")
    return 0
