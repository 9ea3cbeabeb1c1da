"""``ogg-hpc train``: learn a policy from a TOML configuration."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from signal import Signals
from typing import TYPE_CHECKING, Any

from ogg_hpc.cli.options import (
    add_config_options,
    add_run_options,
    check_max_requeues,
    forget_marker_early,
    print_json,
    print_settings,
    start_ranks,
)
from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.signals import noted_signals
from ogg_hpc.runtime.unfinished import remove_marker

if TYPE_CHECKING:
    from ogg_hpc.training.settings import TrainSettings

_DESCRIPTION = """\
Learn a policy by deep Q-learning (Alg. 5), or by evolution strategies (method = "evolution").
CONFIG is a TOML file, or the name of a preset: `default` (settings that were measured to work),
`paper` (those of OpenGraphGym-MG), `mvc-dqn` (a policy of messages by deep Q-learning), or
`PROBLEM-evolution` (policies of messages for mvc, mwvc, mis, clique, mds or maxcut).
Under mpiexec, srun or jsrun the ranks share each graph by rows, or form groups of
parallel.ranks_per_graph that work on graphs of their own; in evolution they share the candidates
of a generation.

A signal to any rank (SIGUSR1, SIGUSR2, SIGURG, SIGTERM, SIGINT) stops all of them before the next
step: a checkpoint and the marker RUN/UNFINISHED are written, and the exit code is 75. A run that
ends by itself or fails leaves no marker, so a jobscript submits itself again while there is one.
`ogg-hpc train CONFIG --resume RUN` is all that it needs to run."""

_EXAMPLES = """\
examples:
  ogg-hpc train default --output runs/first
  mpiexec -n 4 ogg-hpc train mine.toml --ranks-per-graph 1 --set learning.steps=5000
  mpiexec -n 2 ogg-hpc train mvc-evolution --output runs/evolved
  ogg-hpc train --resume runs/first
  srun ogg-hpc train default --resume runs/long --set output.checkpoint_minutes=5
  ogg-hpc train --settings"""


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "train",
        help="learn a policy",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_config_options(parser, "learning.steps=500")
    parser.add_argument(
        "--ranks-per-graph",
        metavar="R",
        help="ranks that share each graph; the other groups of R work on graphs of their own. "
        "Short for --set parallel.ranks_per_graph=R (default: all ranks)",
    )
    add_run_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Train (collective)."""
    with noted_signals() as stop:  # before the seconds that imports take
        if args.resume and not args.settings:
            forget_marker_early(Path(args.resume))
        return _train(args, stop)


def _train(args: argparse.Namespace, stop: Callable[[], Signals | None]) -> int:
    comm = start_ranks(args)
    from ogg_hpc.training.settings import TrainSettings

    if args.settings:
        if comm.rank == 0:
            print_settings(TrainSettings)
        return 0

    from ogg_hpc.training.run import train

    settings, folder = comm.on_root(lambda: _settings_and_folder(args))
    record = train(
        comm,
        settings,
        folder,
        resume=bool(args.resume),
        stop=stop,
        max_requeues=args.max_requeues,
    )
    if comm.rank == 0:
        if args.json:
            print_json(record)
        else:
            best = record["best"]
            if best is not None:
                ratios = ", ".join(f"{name} {value:.4f}" for name, value in best["ratios"].items())
                print(f"best policy at step {best['step']}: {ratios}")
            name = "last.npz" if best is None else "best.npz"
            print(f"{folder / name} written after {record['seconds']:.0f} s")
    return 0


def _settings_and_folder(args: argparse.Namespace) -> tuple[TrainSettings, Path]:
    from ogg_hpc.runtime.run_folder import resume_settings
    from ogg_hpc.training.settings import TrainSettings, load_train_settings, preset_names

    overrides = list(args.set)
    if args.ranks_per_graph is not None:
        overrides.append(f"parallel.ranks_per_graph={args.ranks_per_graph}")
    check_max_requeues(args)
    if args.resume:
        remove_marker(Path(args.resume))
    if args.resume and args.output:
        raise SettingsError("--resume names the folder of the run: leave out --output")
    if args.config:
        folder = args.resume or args.output or Path("runs") / Path(args.config).stem
        return load_train_settings(args.config, overrides), Path(folder)
    if args.resume:
        return resume_settings(TrainSettings, Path(args.resume), overrides), Path(args.resume)
    presets = ", ".join(preset_names())
    raise SettingsError(f"name a TOML file, a preset ({presets}), or a run to --resume")
