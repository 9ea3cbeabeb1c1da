"""``ogg-hpc verify``: recompute feasibility and objective from the graph alone."""

from __future__ import annotations

import argparse
import math
import sys
from typing import Any

from ogg_hpc.cli.options import add_node_weights_option, print_json
from ogg_hpc.errors import InfeasibleError, InputError

_DESCRIPTION = """\
Check a solution against the graph alone: feasibility and objective are recomputed, nothing
that the file claims is trusted. Reads SOLUTION.json, or a text of one 0 or 1 a line in the
order of the graph's nodes.

Exit codes: 0 feasible, 2 a file that cannot be read, 3 infeasible or another objective."""

_EXAMPLE = "example: ogg-hpc verify karate.graph SOLUTION.json"


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to an argparse subparsers object."""
    parser = subparsers.add_parser(
        "verify",
        help="check a solution against its graph",
        description=_DESCRIPTION,
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("graph", metavar="GRAPH", help="the graph file")
    parser.add_argument("solution", metavar="SOLUTION", help="SOLUTION.json, or one 0/1 a line")
    parser.add_argument(
        "--problem",
        metavar="NAME",
        help="a problem's name or path/to/file.py:ClassName (default: as the file says, else mvc)",
    )
    parser.add_argument(
        "--format", metavar="NAME", help="format of the graph file (default: by its content)"
    )
    parser.add_argument(
        "--undirected",
        action="store_true",
        help="take every arc of a directed graph as an edge (default: refuse such a graph)",
    )
    add_node_weights_option(parser)
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object (default: one line of text)"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Verify; return 0.

    Raises
    ------
    InputError, SettingsError
        Files or options that do not fit together.
    InfeasibleError
        An infeasible solution, or an objective other than the file claims.
    """
    from ogg_hpc.problems.graph_input import read_undirected, without_unused_weights
    from ogg_hpc.problems.registry import problem_by_name, problem_names
    from ogg_hpc.problems.solution import graph_record, plain_number, read_solution

    graph = read_undirected(args.graph, args.format, args.undirected, args.node_weights)
    solution = read_solution(args.solution, graph)
    # Only the command line may name a file of code to run, never a solution file.
    if args.problem is None and solution.problem not in (None, *problem_names()):
        raise InputError(
            args.solution,
            f"key 'problem': {solution.problem!r} is no problem of this package; "
            "give its class with --problem path/to/file.py:ClassName",
        )
    problem = problem_by_name(args.problem or solution.problem or "mvc")
    if solution.problem not in (None, problem.name):
        raise InputError(
            args.solution,
            f"key 'problem': the file solves {solution.problem!r}, --problem says {problem.name!r}",
        )
    graph = without_unused_weights(graph, problem)
    for warning in graph.warnings:
        print(f"warning: {args.graph}: {warning}", file=sys.stderr)

    violation = problem.violation(graph, solution.nodes)
    value = None if violation else plain_number(problem.objective(graph, solution.nodes))
    if (
        value is not None
        and solution.objective is not None
        and not math.isclose(value, solution.objective, rel_tol=1e-9)
    ):
        violation = f"key 'objective': the file says {solution.objective}, recomputed it is {value}"

    if args.json:
        record = {
            "problem": problem.name,
            "graph": graph_record(args.graph, graph),
            "objective": value,
            "feasible": value is not None,
            "violation": violation,
            "solution": str(args.solution),
        }
        print_json(record)
    if violation:
        raise InfeasibleError(f"{args.solution}: {violation}")
    if not args.json:
        print(f"{args.solution}: feasible {problem.name} solution with objective {value}")
    return 0
