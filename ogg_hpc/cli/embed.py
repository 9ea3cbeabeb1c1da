"""``ogg-hpc embed``: give each node of a graph a vector."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from signal import Signals
from typing import TYPE_CHECKING, Any, get_type_hints

from ogg_hpc.cli.options import (
    add_max_requeues_option,
    add_run_options,
    check_max_requeues,
    console,
    forget_marker_early,
    print_json,
    start_ranks,
)
from ogg_hpc.embedding.paths import run_folder
from ogg_hpc.embedding.settings import CHOICES, EmbedSettings
from ogg_hpc.graphs.members import name_of
from ogg_hpc.runtime.signals import noted_signals
from ogg_hpc.runtime.unfinished import remove_marker

if TYPE_CHECKING:
    from ogg_hpc.runtime.communicator import Communicator

_DESCRIPTION = """\
Give each node of a graph a vector, so that nodes that random walks or edges bring together have
vectors with large inner products: DeepWalk, node2vec, LINE, APP, or a sampler of your own.
Under mpiexec, srun or jsrun the ranks share pairs and vectors; the result does not depend on how
many there are. EMB.h5 holds the vectors, those of nodes as context of others, the labels and the
settings; .txt, .vec, .bin and .npy are the formats of word2vec and NumPy.

Beside the output lies the folder EMB.h5.run with checkpoints, curves and the record. A signal to
any rank (SIGUSR1, SIGUSR2, SIGURG, SIGTERM, SIGINT) stops all of them: a checkpoint and the marker
EMB.h5.run/UNFINISHED are written, and the exit code is 75. A run that ends by itself or fails
leaves no marker, so a jobscript submits itself again while there is one. With --resume the same
line starts a run and goes on with it, on any number of ranks."""

_EXAMPLES = """\
examples:
  ogg-hpc embed blogcatalog.mat --output blog.h5
  mpiexec -n 4 ogg-hpc embed graph.h5 --method node2vec --p 0.25 --q 4 --output emb.vec
  mpiexec -n 2 ogg-hpc embed edges.txt --directed --method app --walks 200 --output emb.h5
  srun ogg-hpc embed graph.h5 --method line --epochs 10 --output emb.h5 --resume"""

# What node2vec and DeepWalk call it.
_ALIASES = {
    "dim": ("--dimensions", "--representation-size"),
    "walks": ("--num-walks", "--number-walks"),
    "window": ("--window-size",),
    "epochs": ("--iter",),
}


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "embed",
        help="give each node of a graph a vector",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "graph", metavar="GRAPH", help="a graph file, a store of one graph, or STORE:INDEX"
    )
    parser.add_argument(
        "--output",
        metavar="EMB.h5",
        help="file of the embedding: .h5, .txt or .vec, .bin, .npy (default: the name of GRAPH "
        "with .emb.h5)",
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="continue the run that EMB.h5.run holds from its newest valid checkpoint, with its "
        "settings; start it if there is none (default: refuse to touch an unfinished run)",
    )
    add_max_requeues_option(parser)
    parser.add_argument("--json", action="store_true", help="print the record as one JSON object")
    _add_settings(parser.add_argument_group("how it is embedded"))
    add_run_options(parser, device="cpu")
    parser.set_defaults(run=run)


def _add_settings(group: argparse._ArgumentGroup) -> None:
    """Add an option for each setting, which is in the namespace only if it was given."""
    hints = get_type_hints(EmbedSettings)
    for entry in fields(EmbedSettings):
        kind, text = hints[entry.name], entry.metadata["help"]
        names = [f"--{entry.name.replace('_', '-')}", *_ALIASES.get(entry.name, ())]
        options: dict[str, Any] = {"dest": entry.name, "default": argparse.SUPPRESS}
        if kind is bool:
            options |= {
                "action": "store_true",
                "help": f"{text} (default: {'yes' if entry.default else 'no'})",
            }
        elif kind in (int, float, str):
            words = "|".join(CHOICES.get(entry.name, ()))
            metavar = words or {int: "N", float: "X", str: "NAME"}[kind]
            shown = "no" if entry.default == "" else entry.default
            options |= {"type": kind, "metavar": metavar, "help": f"{text} (default: {shown})"}
        else:
            options |= {"action": "append", "metavar": "KEY=VALUE", "help": f"{text} (default: no)"}
        group.add_argument(*names, **options)
    group.add_argument(
        "--unweighted",
        dest="weighted",
        action="store_false",
        default=argparse.SUPPRESS,
        help="ignore the weights of edges (default: no)",
    )


def run(args: argparse.Namespace) -> int:
    """Embed (collective)."""
    output = Path(args.output or f"{name_of(args.graph)}.emb.h5")
    with noted_signals() as stop:  # before the seconds that imports take
        forget_marker_early(run_folder(output))
        return _embed(start_ranks(args), args, output, stop)


def _embed(
    comm: Communicator, args: argparse.Namespace, output: Path, stop: Callable[[], Signals | None]
) -> int:
    from ogg_hpc.embedding.run import embed

    settings = comm.on_root(lambda: _settings(args, output))
    record = embed(
        comm,
        args.graph,
        settings,
        output,
        resume=args.resume,
        stop=stop,
        max_requeues=args.max_requeues,
    )
    if comm.rank == 0:
        if args.json:
            print_json(record)
        else:
            _print(record)
    return 0


def _settings(args: argparse.Namespace, output: Path) -> EmbedSettings:
    from ogg_hpc.embedding.folder import resumed_settings
    from ogg_hpc.settings import build

    check_max_requeues(args)
    remove_marker(run_folder(output))
    names = {entry.name for entry in fields(EmbedSettings)}
    given = {name: value for name, value in vars(args).items() if name in names}
    if args.resume:
        return resumed_settings(output, given)
    return build(EmbedSettings, given)


def _print(record: dict[str, Any]) -> None:
    nodes, dim = record["graph"]["nodes"], record["settings"]["dim"]
    print(f"{record['output']}: {nodes:,} nodes, vectors of {dim}")
    for each in record["losses"]:
        name = f"{each['model']}, epoch {each['epoch']}".removeprefix(", ")
        shown = "no pairs" if each["loss"] is None else f"loss {each['loss']:.4f}"
        print(f"{name}: {shown}, {each['pairs']:,} pairs")
    if record["pairs_per_second"]:
        ranks = f"{record['ranks']} rank{'s' if record['ranks'] > 1 else ''}"
        print(f"{record['pairs_per_second']:,.0f} pairs/s on {ranks}")
    _print_phases(record["phases"])
    if record["ranks"] > 1:
        for model in record["models"]:
            _print_traffic(model)


def _print_phases(phases: dict[str, dict[str, float]]) -> None:
    from rich.table import Table

    table = Table("phase", "seconds (median rank)", "share", box=None)
    total = phases["total"]["median"]
    for name, spread in phases.items():
        seconds = spread["median"]
        table.add_row(name, f"{seconds:.2f}", f"{100 * seconds / total:.0f} %")
    console().print(table)


def _print_traffic(model: dict[str, Any]) -> None:
    from rich.table import Table

    title = f"sent {model['model']}".strip()
    table = Table(title, "items", "MB", box=None)
    for name, kind in model["traffic"]["kinds"].items():
        table.add_row(name, f"{kind['crossed']:,}", f"{kind['bytes'] / 1e6:,.1f}")
    console().print(table)
    times = ", ".join(
        f"{seconds:.2f} s at {rate}" for rate, seconds in model["modelled_network_seconds"].items()
    )
    print(f"by a model, a network takes {times} for that")
