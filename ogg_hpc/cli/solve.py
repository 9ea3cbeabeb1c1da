"""``ogg-hpc solve``: a verified solution of one graph, or of each graph of a store."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from ogg_hpc.cli.options import (
    add_node_weights_option,
    add_run_options,
    console,
    print_json,
    start_ranks,
)
from ogg_hpc.runtime.signals import noted_signals
from ogg_hpc.runtime.stop import Stop

_DESCRIPTION = """\
Solve a graph optimisation problem: shrink the graph by exact reductions, solve what is left with
a learned policy (Alg. 4), remove what is redundant, polish the answer by a local search if asked,
verify it against the graph, bound it from the other side, and write it in the graph's own labels.
Under mpiexec, srun or jsrun all ranks share the graph by rows. A signal (SIGINT, SIGTERM, SIGUSR1,
SIGUSR2, SIGURG) ends all that takes long: what the policy has chosen so far is completed by a
heuristic, verified and written. A second SIGINT or SIGTERM acts as usual."""

_EXAMPLES = """\
examples:
  ogg-hpc solve graph.mtx
  mpiexec -n 4 ogg-hpc solve graph.mtx --problem mvc --policy runs/mvc/best.npz --json
  mpiexec -n 4 ogg-hpc solve graph.mtx --samples 8
  mpiexec -n 4 ogg-hpc solve graph.mtx --polish 10
  ogg-hpc solve graph.mtx --problem clique --policy two-message
  ogg-hpc solve store.h5:3 --select one --output cover.json"""


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "solve",
        help="solve a graph with a policy",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("graph", metavar="GRAPH", help="a graph file, a store, or STORE:INDEX")
    parser.add_argument(
        "--problem",
        default="mvc",
        metavar="NAME",
        help="mvc: minimum vertex cover; mis: maximum independent set, and clique: maximum clique, "
        "both also by the policies of mvc; mwvc and mwis: the same of least and largest weight of "
        "nodes; mds: minimum dominating set; maxcut: maximum cut; or FILE.py:CLASS of your own "
        "(default: mvc)",
    )
    parser.add_argument(
        "--policy",
        metavar="NAME|FILE",
        help="a shipped policy; a heuristic: max-degree, min-degree, inverse-degree[:EXPONENT], "
        "the largest sum of deg^-EXPONENT over neighbours (1.25), or two-message; for maxcut sg3; "
        "for mds and clique greedy; for mwvc and mwis degree-weight or local-ratio, for mwis also "
        "gwmin; or a parameter file such as runs/mvc/best.npz (default: the "
        "policy shipped for the problem, else its first heuristic)",
    )
    parser.add_argument(
        "--policy-class",
        metavar="FILE.py:CLASS",
        help="your own network, for a parameter file of one (default: none)",
    )
    parser.add_argument(
        "--select",
        metavar="one|adaptive|paper|FILE",
        help="nodes chosen a step: one, adaptive (0.1 %% of all nodes while more than half are "
        "candidates, fewer as these get few), paper (8, 4, 2, 1 in the same way), or a TOML table "
        "(default: adaptive; for mds one)",
    )
    parser.add_argument(
        "--engine",
        default="auto",
        metavar="NAME",
        help="how scores are computed: reference (any network, and messages), frontier "
        "(structure2vec: only what a step changes), scalar (structure2vec of up to two layers, "
        "and messages: faster still), or auto for the fastest that fits, and "
        "for max-degree, min-degree, sg3 and greedy, which need none (default: auto)",
    )
    parser.add_argument(
        "--refresh-above",
        type=float,
        metavar="SHARE",
        help="policies of messages: send one anew when it has moved by more than this share, for "
        "maxcut of a whole side; 0 for always (default: 0.05, for maxcut 0.02)",
    )
    parser.add_argument(
        "--collective",
        default="allgather",
        metavar="NAME",
        help="how neighbour sums cross ranks: allgather, or allreduce as in the paper, which "
        "moves twice the bytes (default: allgather)",
    )
    parser.add_argument(
        "--balance",
        default="rows",
        metavar="NAME",
        help="what is balanced over ranks: rows or edges (default: rows)",
    )
    parser.add_argument(
        "--order",
        metavar="degree|bfs|rcm|metis",
        help="renumber the nodes first, so that ranks exchange less: by degree, breadth first, "
        "reverse Cuthill-McKee, or part by part of METIS, one part a rank, whose answer then "
        "depends on their number; labels stay (default: as given)",
    )
    parser.add_argument(
        "--no-reduce",
        dest="reduce",
        action="store_false",
        help="leave out the exact reductions that shrink the graph first: the policy alone "
        "(default: reduce)",
    )
    parser.add_argument(
        "--samples",
        type=int,
        default=1,
        metavar="K",
        help="the best of K solves, by the policy and others around it, spread over the ranks, "
        "each of which then holds the whole graph (default: 1)",
    )
    parser.add_argument(
        "--polish",
        type=float,
        default=0.0,
        metavar="SECONDS",
        help="local search after the policy, on every rank from a seed of its own (default: 0)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        help="of the samples and the polish; one policy's search draws no random numbers "
        "(default: 0)",
    )
    parser.add_argument("--format", metavar="NAME", help="format of the graph (default: detected)")
    parser.add_argument(
        "--undirected", action="store_true", help="take every arc of a directed graph as an edge"
    )
    add_node_weights_option(parser)
    parser.add_argument(
        "--output",
        metavar="FILE",
        help="where the solution goes (default: GRAPH's name with .PROBLEM.json, in this folder)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object a graph")
    add_run_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Solve, write, print (collective)."""
    with noted_signals() as came:  # before the seconds that imports take
        return _solve(args, lambda: came() is not None)


def _solve(args: argparse.Namespace, stop: Stop) -> int:
    comm = start_ranks(args)
    from ogg_hpc.graphs.members import check_apart, members, name_of
    from ogg_hpc.runtime.files import check_writable
    from ogg_hpc.search.settings import SolveSettings
    from ogg_hpc.search.solve import solve_graph

    settings = SolveSettings(
        problem=args.problem,
        policy=args.policy,
        policy_class=args.policy_class,
        select=args.select,
        engine=args.engine,
        refresh_above=args.refresh_above,
        collective=args.collective,
        balance=args.balance,
        order=args.order,
        reduce=args.reduce,
        samples=args.samples,
        polish=args.polish,
        seed=args.seed,
        file_format=args.format,
        undirected=args.undirected,
        node_weights=args.node_weights,
    )

    def graphs_to_solve() -> list[str]:
        if args.output:
            check_apart(args.output, args.graph)
            check_writable(args.output)
        return members(args.graph)

    problem = args.problem.rpartition(":")[2]  # of FILE.py:CLASS the class
    graphs = comm.on_root(graphs_to_solve)
    for number, graph in enumerate(graphs, start=1):
        output = Path(args.output or f"{name_of(graph)}.{problem}.json")
        if args.output and graph != args.graph:
            output = output.with_suffix(f".{graph.rpartition(':')[2]}{output.suffix}")
        record = solve_graph(comm, graph, settings, output, stop).record
        if comm.rank == 0:
            _print(record, args.json)
        if record["stopped"]:
            if comm.rank == 0 and number < len(graphs):
                left = f"{len(graphs) - number} of {len(graphs)} graphs"
                print(f"warning: {args.graph}: not solved: {left}", file=sys.stderr)
            break
    return 0


def _print(record: dict[str, Any], as_json: bool) -> None:
    for warning in record["warnings"]:
        print(f"warning: {record['graph']['path']}: {warning}", file=sys.stderr)
    if as_json:
        print_json(record)
    else:
        _print_table(record)


def _print_table(record: dict[str, Any]) -> None:
    from rich.table import Table

    graph, kernel, seconds = record["graph"], record["reduced"], record["seconds"]
    table = Table(show_header=False, box=None)
    for name, value in (
        ("graph", f"{graph['path']}: {graph['nodes']} nodes, {graph['edges']} edges"),
        ("dropped", f"{graph['self_loops']} self loops, {graph['duplicates']} repeated edges"),
        *_order(record["order"]),
        ("reduced", f"to {kernel['nodes']} nodes, {kernel['edges']} edges"),
        ("problem", record["problem"]),
        ("objective", f"{record['objective']} (verified)"),
        ("bound", f"{record['bound']} ({_gap(record)})"),
        ("policy", f"{record['policy']}, {record['engine']} engine, select {record['select']}"),
        ("steps", str(record["steps"])),
        ("ranks", f"{record['ranks']} on {record['device']}"),
        ("seconds", ", ".join(f"{name} {value:.2f}" for name, value in seconds.items())),
        ("solution", record["solution"]),
    ):
        table.add_row(name, str(value))
    console().print(table)


def _order(order: dict[str, Any] | None) -> list[tuple[str, str]]:
    if order is None:
        return []
    before, after = order["before"], order["after"]
    gained = (
        f"largest halo from {before['halo_max']} to {after['halo_max']}, most entries from "
        f"{before['entry_imbalance']:.2f} to {after['entry_imbalance']:.2f} of the mean"
    )
    return [("order", f"{order['by']}: {gained}")]


def _gap(record: dict[str, Any]) -> str:
    return "optimal" if record["optimal"] else f"gap {100 * record['gap']:.1f} %"
