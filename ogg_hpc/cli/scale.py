"""``ogg-hpc scale``: strong and weak scaling studies."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ogg_hpc.cli import scale_actors
from ogg_hpc.cli.options import add_run_options, console, start_ranks

if TYPE_CHECKING:
    from ogg_hpc.scaling.folder import StudyFolder

_DESCRIPTION = """\
Measure steps of inference and training at several numbers of ranks P, with the graph fixed
(strong scaling) or growing with P (weak scaling); tabulate and draw times, speed-ups, efficiency
and bytes, and fit the paper's model T(P) = compute / P + alpha log P + beta bytes(P), which says
what to expect of more ranks. A study is a TOML file (`ogg-hpc scale plan --settings` explains its
keys); a folder keeps it, with a record a point: what is measured is not measured again."""

_EXAMPLES = """\
examples:
  ogg-hpc scale run examples/scaling.toml --output runs/scaling
  ogg-hpc scale plan mine.toml --output runs/mine --scheduler slurm --ranks-per-node 4
  ogg-hpc scale run runs/mine --submit
  ogg-hpc scale report runs/mine --latency 2e-6 --bandwidth 12.5e9"""

_SCHEDULERS = ("none", "slurm", "lsf")


def add_parser(subparsers: Any) -> None:
    """Add the subcommand and its own."""
    parser = subparsers.add_parser(
        "scale",
        help="strong and weak scaling studies",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    plan = commands.add_parser("plan", help="write the folder of a study, and jobscripts")
    plan.add_argument("study", metavar="STUDY.toml", nargs="?", help="the study")
    plan.add_argument("--output", metavar="DIR", help="folder of the study")
    plan.add_argument(
        "--settings", action="store_true", help="list all keys with their defaults, and stop"
    )
    _add_plan_options(plan)
    plan.set_defaults(run=run_plan)

    run = commands.add_parser(
        "run",
        help="measure what has no record yet, and report",
        description="Measure the points of a study that have no record yet, each by a run of "
        "`ogg-hpc scale measure` under srun or jsrun inside an allocation, else mpiexec; then "
        "report. A study that was interrupted goes on.",
    )
    run.add_argument("study", metavar="STUDY.toml|DIR", help="the study, or a planned folder")
    run.add_argument("--output", metavar="DIR", help="folder of the study, if it is a file")
    run.add_argument(
        "--launcher",
        metavar="COMMAND",
        help="how ranks are started, such as 'mpiexec -n {ranks}' (default: srun or jsrun inside "
        "an allocation, else mpiexec)",
    )
    run.add_argument(
        "--submit", action="store_true", help="submit the planned jobs instead (sbatch or bsub)"
    )
    _add_plan_options(run)
    _add_report_options(run)
    run.set_defaults(run=run_run)

    scale_actors.add_parser(commands)

    measure = commands.add_parser(
        "measure",
        help="measure one point; run by the others under a launcher",
        description="Measure one point of a planned study, on the ranks that it wants.",
    )
    measure.add_argument("point", metavar="POINT", help="a file of DIR/points")
    measure.add_argument("--output", metavar="RECORD.json", required=True, help="the record")
    add_run_options(measure)
    measure.set_defaults(run=run_measure)

    report = commands.add_parser(
        "report",
        help="tables, plots and the model of what has been measured",
        description="Print and write (report.md, CSV files, PNG plots) what a study has measured "
        "so far, and what the model says of more ranks. Points that are missing are named.",
    )
    report.add_argument("folder", metavar="DIR", help="folder of the study")
    _add_report_options(report)
    report.set_defaults(run=run_report)


def _add_plan_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("jobscripts")
    group.add_argument(
        "--scheduler",
        choices=_SCHEDULERS,
        default="none",
        help="batch system that jobscripts are written for, one for each P (default: none)",
    )
    group.add_argument(
        "--ranks-per-node",
        type=int,
        metavar="R",
        help="most ranks on a node, as --scheduler needs: its GPUs, or its cores over the study's "
        "threads (default: none)",
    )


def _add_report_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("model")
    group.add_argument(
        "--up-to",
        type=int,
        default=4096,
        metavar="P",
        help="largest P of the model (default: 4096)",
    )
    group.add_argument(
        "--latency",
        type=float,
        metavar="SECONDS",
        help="of a modelled network, with --bandwidth (default: as measured)",
    )
    group.add_argument(
        "--bandwidth",
        type=float,
        metavar="BYTES",
        help="a second, of a modelled network (default: as measured)",
    )


def run_plan(args: argparse.Namespace) -> int:
    """Write the folder of a study."""
    from ogg_hpc.errors import SettingsError

    if args.settings:
        _print_settings()
        return 0
    if not args.study or not args.output:
        raise SettingsError("name the study and its folder: scale plan STUDY.toml --output DIR")
    folder = _planned(args)
    print(f"{folder.path}: {len(folder.points)} points, {len(folder.missing())} without a record")
    return 0


def run_run(args: argparse.Namespace) -> int:
    """Measure or submit what is missing; report."""
    from ogg_hpc.errors import SettingsError
    from ogg_hpc.runtime.extras import check_plot
    from ogg_hpc.runtime.launch import promised_size
    from ogg_hpc.scaling.launcher import launcher_here
    from ogg_hpc.scaling.run import run_points, submit

    if promised_size() is not None:
        raise SettingsError("scale run starts ranks itself: run it without mpiexec, srun or jsrun")
    _modelled(args)
    check_plot()
    folder = _planned(args)
    if args.submit:
        for script, answer in submit(folder).items():
            print(f"{script}: {answer}")
        return 0
    failures = run_points(
        folder,
        args.launcher or launcher_here(),
        lambda text: print(text, file=sys.stderr, flush=True),
    )
    if len(folder.missing()) == len(folder.points):
        raise SettingsError(f"no point could be measured; see {folder.path / 'logs'}")
    _report(folder, args)
    if failures:
        names = ", ".join(failures)
        print(f"ogg-hpc: {len(failures)} points failed: {names}", file=sys.stderr)
    return 1 if failures else 0


def run_measure(args: argparse.Namespace) -> int:
    """Measure one point (collective)."""
    comm = start_ranks(args)
    from ogg_hpc.runtime.files import check_writable
    from ogg_hpc.scaling.measure import measure
    from ogg_hpc.scaling.points import read_point
    from ogg_hpc.scaling.records import write_record

    comm.on_root(lambda: check_writable(args.output))
    record = measure(comm, comm.on_root(lambda: read_point(args.point)))
    comm.on_root(lambda: write_record(args.output, record))
    return 0


def run_report(args: argparse.Namespace) -> int:
    """Report what has been measured."""
    from ogg_hpc.scaling.folder import StudyFolder

    _report(StudyFolder(args.folder), args)
    return 0


def _planned(args: argparse.Namespace) -> StudyFolder:
    from ogg_hpc.errors import SettingsError
    from ogg_hpc.scaling.folder import StudyFolder, plan_folder
    from ogg_hpc.scaling.jobscripts import write_jobscripts
    from ogg_hpc.scaling.study import load_study

    if Path(args.study).is_dir():
        if args.output and Path(args.output).resolve() != Path(args.study).resolve():
            raise SettingsError(f"{args.study} is the folder of a study: leave --output out")
        folder = StudyFolder(args.study)
    elif not args.output:
        raise SettingsError("name the folder of the study: --output DIR")
    else:
        folder = plan_folder(load_study(args.study), args.output)
    if args.scheduler != "none":
        if args.ranks_per_node is None:
            raise SettingsError(f"--scheduler {args.scheduler} needs --ranks-per-node R")
        for path in write_jobscripts(folder, args.scheduler, args.ranks_per_node):
            print(path)
    return folder


def _modelled(args: argparse.Namespace) -> Any:
    """Return the network that the options describe, None without them."""
    from ogg_hpc.errors import SettingsError
    from ogg_hpc.scaling.network import Network

    if args.up_to < 1:
        raise SettingsError("--up-to must be at least 1")
    if args.latency is None and args.bandwidth is None:
        return None
    if args.latency is None or args.bandwidth is None:
        raise SettingsError("a modelled network takes both --latency and --bandwidth")
    if not 0 <= args.latency < math.inf:
        raise SettingsError("--latency must be finite, and not negative")
    if not (args.bandwidth > 0 and 1 / args.bandwidth < math.inf):
        raise SettingsError("--bandwidth must be positive")
    return Network(args.latency, 1 / args.bandwidth, "of the network that was given, not measured")


def _report(folder: StudyFolder, args: argparse.Namespace) -> None:
    from rich.table import Table

    from ogg_hpc.scaling.report import write_report

    report, out = write_report(folder, args.up_to, _modelled(args)), console()
    out.print(report.title)
    for table in report.tables:
        out.print(f"\n{table.title}", style="bold")
        drawn = Table(box=None)
        for k, head in enumerate(table.header):
            drawn.add_column(head, justify="left" if k == 0 else "right")
        for row in table.rows:
            drawn.add_row(*row)
        out.print(drawn)
    out.print()
    for note in report.notes:
        out.print(f"- {note}")
    names = ", ".join(path.name for path in report.files)
    out.print(f"\nwritten to {folder.path}: {names}")


def _print_settings() -> None:
    from rich.table import Table

    from ogg_hpc.scaling.study import Study
    from ogg_hpc.settings import describe

    table = Table("key", "default", "meaning", box=None)
    for key, default, text in describe(Study):
        table.add_row(key, default, text)
    console().print(table)
