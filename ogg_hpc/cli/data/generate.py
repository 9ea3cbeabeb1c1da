"""``ogg-hpc data generate``: make random graphs."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from signal import Signals
from typing import Any

from ogg_hpc.cli.data.command import FILE_SUFFIXES, add_command, add_json
from ogg_hpc.cli.data.output import show
from ogg_hpc.cli.options import (
    add_host_run_options,
    add_memory_option,
    memory_of_rank,
    start_ranks,
)
from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.signals import noted_signals

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
    "rmat": "R-MAT, the recursive matrix of Graph500, of 2^k nodes, needs --d",
    "geometric": "points on a torus, joined where they are near, needs --d",
}
_OPTIONS = ("p", "d", "a", "b", "c")  # parameters of some of them


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
        type=_number,
        help="edges of each new node (ba, plc), degree (regular), degree of the ring (ws), mean "
        "degree (girg, geometric), number of planar graphs (planar), nodes of each clique (rb) or "
        "edges drawn for each node (rmat), e.g. 4 (default: none)",
    )
    for name, quadrant, default in (
        ("a", "upper left", 0.57),
        ("b", "upper right", 0.19),
        ("c", "lower left", 0.19),
    ):
        parser.add_argument(
            f"--{name}",
            type=float,
            help=f"probability of the {quadrant} quadrant (rmat), e.g. 0.25 (default: {default})",
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
    add_memory_option(parser)
    add_json(parser)
    add_host_run_options(parser)


def run(args: argparse.Namespace) -> int:
    """Make random graphs; return 0 (collective)."""
    with noted_signals() as came:  # before the seconds that imports take
        return _generate(args, came)


def _generate(args: argparse.Namespace, came: Callable[[], Signals | None]) -> int:
    comm = start_ranks(args)
    from ogg_hpc.graphs.families import Family
    from ogg_hpc.graphs.generation import generate_file, generate_folder

    given = comm.on_all(lambda: _parameters(args))
    family = Family(
        args.kind,
        {"n": args.nodes, **given},
        args.count,
        args.seed,
        args.lightest,
        args.heaviest,
    )
    settings = {
        "generator": args.kind,
        "generator_nodes": args.nodes,
        **{f"generator_{name}": value for name, value in given.items()},
        "seed": args.seed,
    }
    if args.heaviest:
        settings |= {"lightest": args.lightest, "heaviest": args.heaviest}
    if args.output.suffix in FILE_SUFFIXES:
        memory = memory_of_rank(args, comm)
        made = generate_file(comm, family, args.output, settings, memory=memory, came=came)
    else:
        each = args.graphs_per_shard
        made = generate_folder(
            comm, family, args.output, settings, graphs_per_shard=each, came=came
        )
    record: dict[str, Any] = {"output": str(args.output), "graphs": args.count, "edges": made.edges}
    if made.built is not None:
        dropped = ("self_loops", "duplicates", "reversed_pairs", "isolated")
        record |= {name: getattr(made.built, name) for name in dropped}
    record |= {
        **settings,
        "ranks": comm.size,
        "seconds": made.seconds,
        "peak_memory_bytes": max(comm.gather_objects(comm.device.peak_memory_bytes())),
    }
    if comm.rank == 0:
        show(args, record, "Generated")
    return 0


def _parameters(args: argparse.Namespace) -> dict[str, int | float]:
    """Return the parameters of the generator that are given, if they are the right ones."""
    import inspect

    from ogg_hpc.graphs.generators import GENERATORS

    takes = inspect.signature(GENERATORS[args.kind]).parameters
    given = {name: getattr(args, name) for name in _OPTIONS if getattr(args, name) is not None}
    for name in _OPTIONS:
        needed = name in takes and takes[name].default is inspect.Parameter.empty
        if needed and name not in given:
            raise SettingsError(f"data generate {args.kind} needs --{name}: {_KINDS[args.kind]}")
        if name in given and name not in takes:
            raise SettingsError(
                f"data generate {args.kind} does not take --{name}: {_KINDS[args.kind]}"
            )
        if name in given and takes[name].annotation == "int" and not isinstance(given[name], int):
            raise SettingsError(
                f"data generate {args.kind} takes a whole number as --{name}, not {given[name]}"
            )
    if args.count < 1:
        raise SettingsError(f"--count must be at least 1, not {args.count}")
    return given


def _number(text: str) -> int | float:
    """Return a whole number where it is one."""
    try:
        return int(text)
    except ValueError:
        return float(text)
