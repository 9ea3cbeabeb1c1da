"""What ``ogg-hpc actors run`` and ``ogg-hpc actors learner`` have in common."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
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
from ogg_hpc.runtime.signals import Came, noted_signals
from ogg_hpc.runtime.unfinished import remove_marker

if TYPE_CHECKING:
    from ogg_hpc.actors.settings import ActorsSettings


def add_learning_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a run."""
    add_config_options(parser, "steps=500_000 or environment.options.size=8")
    parser.add_argument(
        "--environment",
        metavar="NAME",
        help="gymnasium:ID, molecules, graph-problem, synthetic, or FILE.py:CLASS of your own. "
        "Short for --set environment.name=NAME; enough without CONFIG (default: as CONFIG says)",
    )
    add_run_options(parser)


def learn(args: argparse.Namespace, overrides: Sequence[str]) -> int:
    """Learn as the options say, and as `overrides` do, which win (collective)."""
    with noted_signals() as stop:  # before the seconds that imports take
        if args.resume and not args.settings:
            forget_marker_early(Path(args.resume))
        return _learn(args, overrides, stop)


def _learn(args: argparse.Namespace, overrides: Sequence[str], stop: Came) -> int:
    # Only those that learn look for a GPU; the others would import torch to no purpose.
    kind, args.device = args.device, "cpu"
    comm = start_ranks(args)
    from ogg_hpc.runtime.extras import check_actors

    comm.on_all(check_actors)

    from ogg_hpc.actors.settings import ActorsSettings

    if args.settings:
        if comm.rank == 0:
            print_settings(ActorsSettings)
        return 0

    from ogg_hpc.actors.run import run

    settings, folder = comm.on_root(lambda: _settings_and_folder(args, overrides))
    record = run(
        comm,
        settings,
        folder,
        resume=bool(args.resume),
        stop=stop,
        max_requeues=args.max_requeues,
        device=kind,
        gpu_aware=args.gpu_aware,
    )
    if comm.rank == 0:
        if args.json:
            print_json(record)
        else:
            _print(record, folder)
    return 0


def _settings_and_folder(
    args: argparse.Namespace, overrides: Sequence[str]
) -> tuple[ActorsSettings, Path]:
    from ogg_hpc import settings
    from ogg_hpc.actors.settings import ActorsSettings, load_actors_settings, preset_names
    from ogg_hpc.runtime.run_folder import resume_settings

    check_max_requeues(args)
    if args.resume:
        remove_marker(Path(args.resume))
    if args.resume and args.output:
        raise SettingsError("--resume names the folder of the run: leave out --output")
    given = [*args.set, *overrides]
    if args.environment:
        given.insert(0, f"environment.name={args.environment}")
    if args.config:
        folder = args.resume or args.output or Path("runs") / Path(args.config).stem
        return load_actors_settings(args.config, given), Path(folder)
    if args.resume:
        return resume_settings(ActorsSettings, Path(args.resume), given), Path(args.resume)
    if args.environment:
        folder = args.output or Path("runs") / args.environment.rpartition(":")[2]
        document = settings.override({}, given)
        return settings.build(ActorsSettings, document), Path(folder)
    presets = ", ".join(preset_names())
    raise SettingsError(
        f"name a TOML file, a preset ({presets}), an --environment, or a run to --resume"
    )


def _print(record: dict[str, Any], folder: Path) -> None:
    from ogg_hpc.actors.folder import POLICY
    from ogg_hpc.training.folder import BEST, LAST

    rate, seconds = record["steps_per_second"], record["seconds"]
    print(f"{record['steps']:,} steps, {rate:,.0f} steps/s, after {seconds:.0f} s")
    if record["algorithm"] == "dqn":
        name = LAST if record["best"] is None else BEST
        print(f"{folder / name} written; ogg-hpc solve GRAPH --policy {folder / name} takes it")
    else:
        print(f"{folder / POLICY} written; ogg-hpc actors evaluate {folder} plays it")
