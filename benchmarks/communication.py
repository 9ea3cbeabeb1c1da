"""Bytes that a rank sends in an inference step, counted, beside the formulas of the paper.

One job of 6 ranks measures P = 1, 2, 3, 4 and 6 on parts of itself: the first steps of each policy
and engine on each graph, one node a step. The reference engine runs on the two smallest graphs.
The yardstick is one Allreduce of B K N L numbers of 4 bytes (here B = 1, K = 32, L = 2).

Use: mpiexec -n 6 python benchmarks/communication.py [--facebook FOLDER] [--output FILE]
"""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path

import numpy as np
from common import FIRST_STEPS, EnoughError, write_record

from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.graphs.generators import barabasi_albert, erdos_renyi
from ogg_hpc.graphs.readers import read_graph
from ogg_hpc.graphs.row_block import scatter_rows
from ogg_hpc.policies.degree_messages import TWO_MESSAGES, two_messages
from ogg_hpc.policies.file import load_policy
from ogg_hpc.policies.scalar_form import inverse_degree_form, scalar_form
from ogg_hpc.policies.scorer import PolicyScorer
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.runtime.launch import start
from ogg_hpc.search.policy_search import search
from ogg_hpc.search.scalar_search import scalar_search
from ogg_hpc.search.schedule import ONE

HERE = Path(__file__).parent
GRAPHS = {
    "ER 3,000, p = 0.15": lambda: erdos_renyi(3_000, 0.15, 1),
    "ER 15,000, p = 0.15": lambda: erdos_renyi(15_000, 0.15, 1),
    "ER 21,000, p = 0.15": lambda: erdos_renyi(21_000, 0.15, 1),
    "BA 100,000, d = 4": lambda: barabasi_albert(100_000, 4, 1),
    "BA 1,000,000, d = 4": lambda: barabasi_albert(1_000_000, 4, 1),
}
RANKS = (1, 2, 3, 4, 6)
# The reference engine multiplies everything: a few steps of it say as much as many.
REFERENCE_STEPS = 3
K, L = 32, 2
NONE = np.empty(0, np.int64)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", nargs="*", default=list(GRAPHS))
    parser.add_argument("--facebook", type=Path, help="folder with socfb-Vanderbilt48.mtx")
    parser.add_argument("--output", type=Path, default=HERE / "communication.json")
    args = parser.parse_args()
    comm = start("cpu")
    if comm.size != max(RANKS):
        raise SystemExit(f"run it as mpiexec -n {max(RANKS)} python {__file__}")
    graphs = {name: GRAPHS[name] for name in args.graphs}
    if args.facebook:
        path = args.facebook / "socfb-Vanderbilt48.mtx"
        graphs["Vanderbilt48"] = lambda: read_graph(path).unweighted()
    results = {}
    for name, make in graphs.items():
        graph = make() if comm.rank == 0 else None
        results[name] = measure(comm, graph)
        if comm.rank == 0:
            print(name, results[name], flush=True)
    if comm.rank == 0:
        write_record(args.output, results)


def measure(comm, graph):
    """Return for each policy and P the bytes a step, and their share of the yardstick."""
    results = {}
    for ranks in RANKS:
        part = comm.split(int(comm.rank < ranks))
        if comm.rank < ranks:
            for name, run in engines(part, scatter_rows(part, graph)).items():
                steps = REFERENCE_STEPS if "reference" in name else FIRST_STEPS
                results.setdefault(name, {})[ranks] = bytes_per_step(part, run, steps)
        comm.barrier()
    n = comm.broadcast_object(graph.n if graph is not None else 0)
    yardstick = 4 * K * L * n
    return {
        name: {
            ranks: {"bytes": sent, "share": sent / yardstick} for ranks, sent in by_ranks.items()
        }
        for name, by_ranks in results.items()
    }


def engines(comm, block):
    """Return by name functions that run a search and call back after each step."""
    stored = load_policy("mvc-s2v", "mvc")
    forms = {
        "shipped policy, scalar": scalar_form(stored, block.entries / block.n),
        "inverse degree, scalar": inverse_degree_form(block.n, 1.25),
        "two messages, scalar": two_messages(block.n, 0.05, **TWO_MESSAGES),
    }
    runs = {
        name: lambda on_step, form=form: scalar_search(comm, block, form, ONE, NONE, on_step)
        for name, form in forms.items()
    }
    if block.entries < 2_000_000:
        for collective in ("allgather", "allreduce"):
            runs[f"shipped policy, reference, {collective}"] = lambda on_step, how=collective: (
                search(
                    GraphBatch(comm, [block], collective=how),
                    MinimumVertexCover(),
                    PolicyScorer(stored.policy()),
                    ONE,
                    on_step=on_step,
                )
            )
    return runs


def bytes_per_step(comm, run, steps):
    """Return the mean bytes that a rank sends in one of the first steps, the most of all ranks."""
    reports = []

    def on_step(step, left):
        reports.append(sum(count["bytes"] for count in comm.report().values()))
        if step > steps:
            raise EnoughError

    with contextlib.suppress(EnoughError):
        run(on_step)
    # What was sent before the first step is no part of a step.
    sent = (reports[-1] - reports[0]) / (len(reports) - 1)
    return max(comm.gather_objects(sent))


if __name__ == "__main__":
    main()
