"""``ogg-hpc evaluate``: policies, heuristics and exact solvers side by side on many graphs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from signal import Signals
from typing import TYPE_CHECKING, Any

from ogg_hpc.cli.options import (
    add_node_weights_option,
    add_run_options,
    console,
    print_json,
    start_ranks,
)
from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.signals import noted_signals

if TYPE_CHECKING:
    from ogg_hpc.search.collection import Listed
    from ogg_hpc.search.evaluate import Row
    from ogg_hpc.search.evaluation_tables import Summary
    from ogg_hpc.search.methods import Method

_DESCRIPTION = """\
Solve many graphs by several methods and compare what they find: ratios to the best known value,
mean and worst for each folder, store or generated family. Solutions are verified. Under mpiexec,
srun or jsrun each rank solves graphs of its own, P at a time; the objectives are the same on every
number of ranks. A signal (SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGURG) ends the work before the next
method: the graphs that are done are shown and written, and the exit code is 128 and the signal's
number. A second SIGINT or SIGTERM acts as usual."""

_EXAMPLES = """\
examples:
  ogg-hpc evaluate er:n=250,p=0.15,count=20,seed=7 ba:n=1000,d=4,count=10 --against greedy,exact
  mpiexec -n 4 ogg-hpc evaluate graphs/ --policy mvc --policy runs/mine/best.npz --csv rows.csv
  ogg-hpc evaluate socfb/ --against greedy,benchmarks/best_known.csv --markdown table.md"""


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "evaluate",
        help="compare policies, heuristics and exact solvers",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "graphs",
        metavar="GRAPHS",
        nargs="+",
        help="graph files, folders of them, stores (every graph), STORE:INDEX, or generated "
        "families such as er:n=250,p=0.15,count=20,seed=7 (the graphs of data generate), with "
        "heaviest=100 of nodes of random weights up to 100",
    )
    parser.add_argument(
        "--problem", default="mvc", help="as for solve, or FILE.py:CLASS (default: mvc)"
    )
    parser.add_argument(
        "--policy",
        metavar="NAME|FILE",
        action="append",
        help="what solve takes as --policy; may be repeated (default: as solve)",
    )
    parser.add_argument(
        "--policy-class",
        metavar="FILE.py:CLASS",
        help="your own network, for parameter files of one (default: none)",
    )
    parser.add_argument(
        "--select",
        action="append",
        metavar="one|adaptive|paper|FILE",
        help="nodes that a policy chooses a step; may be repeated (default: as solve)",
    )
    parser.add_argument(
        "--engine", default="auto", metavar="NAME", help="what solve takes (default: auto)"
    )
    parser.add_argument(
        "--reduce",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="shrink each graph by exact reductions before policies and heuristics of solve see "
        "it, as solve does; without, they are compared alone (default: --no-reduce)",
    )
    parser.add_argument(
        "--samples",
        type=int,
        default=1,
        metavar="K",
        help="policies: the best of K solves, as solve does (default: 1)",
    )
    parser.add_argument(
        "--polish",
        type=float,
        default=0.0,
        metavar="SECONDS",
        help="local search after each of them (default: 0)",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of samples and polish (default: 0)"
    )
    parser.add_argument(
        "--against",
        default="",
        metavar="NAME,…",
        help="what to compare with: greedy (the problem's heuristics, for vertex cover by maximum, "
        "minimum and inverse degree, and two-message); exact (CP-SAT), highs (HiGHS), gurobi and "
        "cplex for all problems of solve, kamis (ReduMIS, which proves nothing) for vertex cover, "
        "independent set and clique without weights; exact also for small graphs of other "
        "problems; and a CSV file of best known values with a "
        "column graph, beside those that stores hold with their graphs (default: nothing)",
    )
    parser.add_argument(
        "--limit",
        type=float,
        default=10.0,
        metavar="SECONDS",
        help="time of such a solver on a graph; the best so far counts (default: 10)",
    )
    parser.add_argument(
        "--format", metavar="NAME", help="format of the graph files (default: detected)"
    )
    parser.add_argument(
        "--undirected", action="store_true", help="take every arc of a directed graph as an edge"
    )
    add_node_weights_option(parser)
    parser.add_argument(
        "--csv", metavar="FILE", help="write a line a graph and method (default: no)"
    )
    parser.add_argument(
        "--markdown", metavar="FILE", help="write the table of ratios in Markdown (default: no)"
    )
    parser.add_argument(
        "--plot",
        metavar="FILE",
        help="draw the ratios as .png, .pdf or .svg; needs Matplotlib (default: no)",
    )
    parser.add_argument(
        "--json", action="store_true", help="print all rows and the summary as one JSON object"
    )
    add_run_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Compare, print, write (collective)."""
    with noted_signals() as came:  # before the seconds that imports take
        return _evaluate(args, came)


def _evaluate(args: argparse.Namespace, came: Callable[[], Signals | None]) -> int:
    comm = start_ranks(args)
    import numpy as np

    from ogg_hpc.problems.registry import problem_by_name
    from ogg_hpc.search.collection import StoredObjectives, listed, stored_objectives
    from ogg_hpc.search.evaluate import Evaluation, evaluate
    from ogg_hpc.search.evaluation_tables import read_best_known, summarise

    def check_files() -> list[Listed]:
        _check_outputs(args)
        return listed(args.graphs)

    graphs = comm.on_root(check_files)

    def stored() -> StoredObjectives:
        if args.node_weights is not None:  # those that are stored are for other weights
            return StoredObjectives()
        return stored_objectives(graphs, problem_by_name(args.problem).name)

    known_by_stores = comm.on_root(stored)

    def prepare() -> Evaluation:
        names = [name for name in args.against.split(",") if name]
        files = [name for name in names if name.endswith(".csv")]
        known: dict[str, float] = {}
        for file in files:
            known |= read_best_known(file, args.problem)
        return Evaluation(
            args.problem,
            graphs,
            _methods(args, [name for name in names if name not in files]),
            known,
            args.format,
            args.undirected,
            args.node_weights,
            stored=known_by_stores,
        )

    evaluation = comm.on_all(prepare)
    rows = evaluate(comm, evaluation, lambda: came() is not None)
    [number] = comm.agree(np.array([came() or 0], np.int64)).tolist()
    missing = len(graphs) - len(rows) // len(evaluation.methods)
    if missing and comm.rank == 0:
        text = f"{missing} of {_graphs(len(graphs))} left out"
        print(f"warning: {Signals(number).name} came: {text}", file=sys.stderr)
    if rows and comm.rank == 0:
        summaries = summarise(rows)
        _write(args, rows, summaries)
        if args.json:
            _print_record(args, comm.size, rows, summaries)
        else:
            _print_table(rows, summaries)
    return 128 + int(number) if missing else 0


def _methods(args: argparse.Namespace, against: list[str]) -> list[Method]:
    from dataclasses import replace

    from ogg_hpc.problems.registry import problem_by_name
    from ogg_hpc.search.approach import find_approach
    from ogg_hpc.search.exact_solvers import SOLVERS
    from ogg_hpc.search.methods import Search, exact_method, greedy_methods
    from ogg_hpc.search.settings import SolveSettings

    common = SolveSettings(
        problem=args.problem, reduce=args.reduce, polish=args.polish, seed=args.seed
    )
    selects = list(dict.fromkeys(args.select or [None]))
    methods: dict[str, Method] = {}
    problem = problem_by_name(args.problem)
    for policy in args.policy or [find_approach(problem, None, args.engine).name]:
        for select in selects:
            name = policy if len(selects) == 1 else f"{policy}, {select}"
            settings = replace(
                common, policy=policy, policy_class=args.policy_class, select=select,
                engine=args.engine, samples=args.samples,
            )  # fmt: skip
            methods[name] = Search(name, settings)
    for choice in against:
        if choice == "greedy":
            further = greedy_methods(common)
        elif choice in SOLVERS:
            further = [exact_method(args.problem, args.limit, choice)]
        else:
            known = ", ".join(("greedy", *SOLVERS))
            raise SettingsError(
                f"--against {choice}: unknown; use {known} or a file that ends in .csv"
            )
        for method in further:
            methods.setdefault(method.name, method)  # or what --policy and --select say of it
    return list(methods.values())


def _check_outputs(args: argparse.Namespace) -> None:
    from ogg_hpc.runtime.extras import check_plot
    from ogg_hpc.runtime.files import check_writable

    for path in filter(None, (args.csv, args.markdown, args.plot)):
        check_writable(path)
    if args.plot:
        check_plot()


def _write(args: argparse.Namespace, rows: list[Row], summaries: list[Summary]) -> None:
    from ogg_hpc.runtime.files import write_whole
    from ogg_hpc.search.evaluation_tables import markdown_table, rows_to_csv, write_plot

    texts = ((args.csv, rows_to_csv(rows)), (args.markdown, markdown_table(summaries)))
    for path, text in texts:
        if path:
            with write_whole(path) as temporary:
                Path(temporary).write_text(text, encoding="utf-8")
    if args.plot:
        write_plot(args.plot, summaries)


def _print_record(
    args: argparse.Namespace, ranks: int, rows: list[Row], summaries: list[Summary]
) -> None:
    from dataclasses import asdict

    print_json(
        {
            "problem": args.problem,
            "limit": args.limit,
            "ranks": ranks,
            "summary": [asdict(each) for each in summaries],
            "rows": [asdict(row) for row in rows],
        }
    )


def _print_table(rows: list[Row], summaries: list[Summary]) -> None:
    from rich.table import Table

    for family in dict.fromkeys(each.family for each in summaries):
        own = [each for each in summaries if each.family == family]
        title = f"{family}: {_graphs(own[0].graphs)}"
        table = Table(title=title, box=None, title_justify="left", title_style="bold")
        table.add_column("method")
        for column in ("mean ratio", "worst", "optimal", "seconds"):
            table.add_column(column, justify="right")
        for each in own:
            numbers = f"{each.mean:.4f}", f"{each.worst:.4f}", str(each.optimal)
            table.add_row(each.method, *numbers, f"{each.seconds:.3f}")
        console().print(table)
    sources = {row.graph: row.best_from for row in rows}
    texts = {"optimum": "proven optimum", "file": "best known value", "found": "best found here"}
    counts = [
        f"{text} ({_graphs(list(sources.values()).count(source))})"
        for source, text in texts.items()
        if source in sources.values()
    ]
    print(f"ratio to the {', '.join(counts)}; seconds without reading, bounding and verifying")


def _graphs(count: int) -> str:
    return "1 graph" if count == 1 else f"{count} graphs"
