"""Options that several subcommands share."""

from __future__ import annotations

import argparse
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.runtime.watchdog import EXIT_CODE, TIMEOUT

if TYPE_CHECKING:
    from ogg_hpc.runtime.communicator import Communicator


def add_run_options(parser: argparse.ArgumentParser, device: str = "auto") -> None:
    """Add the options that say where a parallel command runs, by default on `device`."""
    group = add_host_run_options(parser)
    group.add_argument(
        "--device",
        choices=("auto", "cpu", "cuda"),
        default=device,
        help="device of each rank; cuda is an NVIDIA or AMD GPU, auto one where there is one "
        f"(default: {device})",
    )
    group.add_argument(
        "--gpu-aware",
        choices=("auto", "on", "off"),
        default="auto",
        help="hand GPU buffers to MPI directly; auto asks the library (default: auto)",
    )


def add_host_run_options(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add the options of a parallel command that uses no GPU; return their group."""
    parser.set_defaults(parallel=True, device="cpu", gpu_aware="off")
    group = parser.add_argument_group("where it runs")
    group.add_argument(
        "--timeout",
        type=float,
        default=TIMEOUT,
        metavar="SECONDS",
        help="end the job when ranks have waited so long for one that does not answer, with exit "
        f"code {EXIT_CODE}; 0 for no limit (default: {TIMEOUT:.0f})",
    )
    group.add_argument(
        "--profile",
        metavar="DIR",
        help="write what each rank did when, with every collective and its bytes, to "
        "DIR/rank-NNNNN.json, which https://ui.perfetto.dev shows; see also the phases of --json "
        "(default: no)",
    )
    return group


def add_node_weights_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that names a file of weights of the nodes."""
    parser.add_argument(
        "--node-weights",
        metavar="FILE",
        help="weights of the nodes: lines 'label weight', or one weight a line in the order of "
        "the nodes (default: those of the graph's own file, if any)",
    )


def add_memory_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that says how much memory each rank may use."""
    parser.add_argument(
        "--memory",
        type=parse_size,
        metavar="SIZE",
        help="memory that each rank may use, in bytes or with one of the letters K, M, G and T, "
        "e.g. 512M or 1.5G (default: half of what the host allows, shared among its ranks)",
    )


def add_config_options(parser: argparse.ArgumentParser, example: str) -> None:
    """Add the options of a command that runs a TOML file in a folder, with one in the help."""
    parser.add_argument("config", metavar="CONFIG", nargs="?", help="TOML file or preset")
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help=f"override a setting, such as {example}; may be repeated (default: none)",
    )
    parser.add_argument(
        "--output", metavar="RUN", help="folder of the run (default: runs/ and CONFIG's name)"
    )
    parser.add_argument(
        "--resume",
        metavar="RUN",
        help="continue the run in this folder from its newest valid checkpoint, on any number of "
        "ranks; with CONFIG, start it there if there is none yet",
    )
    add_max_requeues_option(parser)
    parser.add_argument(
        "--settings", action="store_true", help="list all settings with their defaults, and stop"
    )
    parser.add_argument("--json", action="store_true", help="print the record as one JSON object")


def add_max_requeues_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that says how often a run may ask to be submitted again."""
    parser.add_argument(
        "--max-requeues",
        type=int,
        default=100,
        metavar="N",
        help="leave no marker UNFINISHED when signals have stopped the run more than N times "
        "(default: 100)",
    )


def check_max_requeues(args: argparse.Namespace) -> None:
    """Refuse a negative number of requeues."""
    if args.max_requeues < 0:
        raise SettingsError("--max-requeues must not be negative")


def forget_marker_early(folder: Path) -> None:
    """Remove the marker of a run on rank 0, before ranks are started.

    Whatever fails from here on must not look like a run to be submitted again. A folder that cannot
    be written is told later, where all ranks hear of it.
    """
    from ogg_hpc.runtime.launch import promised_rank
    from ogg_hpc.runtime.unfinished import remove_marker

    if promised_rank() == 0:
        with suppress(InputError):
            remove_marker(folder)


def parse_size(text: str) -> int:
    """Return a number of bytes such as ``512M``; K, M, G and T are powers of 1024.

    Raises
    ------
    argparse.ArgumentTypeError
        It is none, or not positive.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    size = 0 if match is None else int(float(match[1]) * 1024 ** " KMGT".index(match[2].upper()))
    if size <= 0:
        raise argparse.ArgumentTypeError(f"expected a size such as 512M or 1.5G, not {text!r}")
    return size


def memory_of_rank(args: argparse.Namespace, comm: Communicator) -> int:
    """Return the bytes that each rank may use: the option, or the least share (collective)."""
    from ogg_hpc.runtime.resources import usable_memory_bytes

    share = usable_memory_bytes() // 2 // comm.local_size
    return args.memory or min(comm.gather_objects(share))


def start_ranks(args: argparse.Namespace) -> Communicator:
    """Start this rank, and its trace if there is to be one, as the options say.

    The trace is written at the end of the command, when `main` closes ``args.at_end``.
    """
    from ogg_hpc.runtime.launch import start
    from ogg_hpc.runtime.trace import profiled

    comm = start(args.device, args.gpu_aware, args.timeout)
    args.at_end.enter_context(profiled(comm, args.profile))
    args.at_end.enter_context(comm.trace.span(args.command))
    return comm


def console() -> Any:
    """Return a rich console for tables, 100 columns wide where it is no terminal."""
    from rich.console import Console

    class _Console(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # rich itself would exit with 1

    # File names and help texts may hold brackets, which are no markup.
    return _Console(width=None if sys.stdout.isatty() else 100, markup=False)


def print_json(record: Any) -> None:
    """Print one JSON object on a line of its own."""
    import json

    print(json.dumps(record), flush=True)


def print_settings(kind: type[Any]) -> None:
    """Print all settings of a class with their defaults and meanings."""
    from rich.table import Table

    from ogg_hpc.settings import describe

    table = Table("key", "default", "meaning", box=None)
    for key, default, text in describe(kind):
        table.add_row(key, default, text)
    console().print(table)
