"""``ogg-hpc scale actors``: environment steps a second against the number of actors."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ogg_hpc.cli.options import console

_DESCRIPTION = """\
Run a configuration of `ogg-hpc actors run` with several numbers of environment processes, for some
rounds each, and draw steps a second against their number, with Amdahl's bound and the model
T(n) = T_learn + T_collect / n + c n that is fitted to the measured rounds. What DIR holds already
is not measured again. It writes DIR/actors.json and DIR/actors.png."""

_EXAMPLES = """\
examples:
  ogg-hpc scale actors synthetic --actors 1 2 4 8 16 32 --seeds 4 --output runs/actors
  ogg-hpc scale actors molecules-qed --actors 1 2 4 --hosts remote --output runs/remote"""


def add_parser(commands: Any) -> None:
    """Add the command to those of ``scale``."""
    parser = commands.add_parser(
        "actors",
        help="measure and draw steps a second against the number of actors",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_study_options(parser, actors=[1, 2, 4, 8, 16], seeds=4, rounds=3)
    parser.add_argument("--output", metavar="DIR", required=True, help="folder of the study")
    parser.set_defaults(run=run)


def add_study_options(
    parser: argparse.ArgumentParser, *, actors: list[int], seeds: int, rounds: int
) -> None:
    """Add the options that say what to measure, with their defaults."""
    parser.add_argument("config", metavar="CONFIG", help="TOML file or preset, as for actors run")
    parser.add_argument(
        "--actors",
        metavar="N",
        type=int,
        nargs="+",
        default=actors,
        help=f"numbers of environment processes (default: {' '.join(map(str, actors))})",
    )
    parser.add_argument(
        "--seeds",
        metavar="K",
        type=int,
        default=seeds,
        help=f"runs for each number of actors, a seed each (default: {seeds})",
    )
    parser.add_argument(
        "--rounds",
        metavar="R",
        type=int,
        default=rounds,
        help=f"rounds that are measured in a run (default: {rounds})",
    )
    parser.add_argument(
        "--hosts",
        choices=("local", "remote"),
        default="local",
        help="whether the learner has the processes, or a host of its own that connects to the "
        "controller (default: local)",
    )
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="override a setting of CONFIG; may be repeated (default: none)",
    )


def measure(args: argparse.Namespace, folder: Path) -> list[Any]:
    """Measure what the options ask for; return all points."""
    from ogg_hpc.actors.settings import load_actors_settings
    from ogg_hpc.runtime.extras import check_actors
    from ogg_hpc.scaling.actors import ActorStudy, measure_points

    check_actors()
    settings = load_actors_settings(args.config, args.set)
    study = ActorStudy(
        args.config, tuple(args.set), tuple(args.actors), args.seeds, args.rounds, args.hosts
    )
    return measure_points(study, settings, folder, print)


def show(points: list[Any], model: Any) -> None:
    """Print what was measured, and what the model says."""
    from rich.table import Table

    from ogg_hpc.scaling.actors_report import actors_table, verdict

    table = actors_table(points, model)
    shown = Table(*table.header, title=table.title, box=None, title_justify="left")
    for row in table.rows:
        shown.add_row(*row)
    console().print(shown)
    for text in verdict(model):
        print(text)


def run(args: argparse.Namespace) -> int:
    """Measure, write and tell."""
    from ogg_hpc.actors.throughput_model import fit_throughput
    from ogg_hpc.scaling.actors_report import write_report

    folder = Path(args.output)
    points = measure(args, folder)
    model = fit_throughput(points)
    describe = {name: getattr(args, name) for name in ("config", "set", "hosts", "seeds", "rounds")}
    write_report(folder, Path(args.config).stem, points, model, describe)
    show(points, model)
    print(f"{folder / 'actors.json'} and {folder / 'actors.png'} written")
    return 0
