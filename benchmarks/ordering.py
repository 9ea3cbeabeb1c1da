"""What the order of the nodes does to halos, balance and speed, side by side on the same graphs.

For each graph as it comes and in each order: seconds to find the order and to renumber; the largest
halo, cut edges and imbalances over some ranks; and on one rank the least processor time of some
whole solves by the default policy, and of some steps of the reference engine with the shipped
structure2vec policy. Orders take turns, so that a busy machine slows all.

Use: python benchmarks/ordering.py [--graphs NAME …] [--facebook FOLDER] [--output ordering.json]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from common import EnoughError, write_record

import ogg_hpc
from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.graphs.generators import GENERATORS, barabasi_albert, watts_strogatz
from ogg_hpc.graphs.ordering import ORDERS
from ogg_hpc.graphs.readers import read_graph
from ogg_hpc.graphs.renumbering import renumbered
from ogg_hpc.graphs.reordering import reorder
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.policies.file import load_policy
from ogg_hpc.policies.scorer import PolicyScorer
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.runtime.launch import start
from ogg_hpc.search.policy_search import search
from ogg_hpc.search.schedule import ONE

RANKS = 4
REPEATS = 2
STEPS = 3  # of the reference engine, after a first one


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", nargs="*", default=list(GRAPHS))
    parser.add_argument("--facebook", type=Path, help="folder with socfb-Vanderbilt48.mtx")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".json"))
    args = parser.parse_args()
    comm = start("cpu")
    measure(comm, barabasi_albert(500, 4, 0))  # compiles
    graphs = {}
    if args.facebook:
        path = args.facebook / "socfb-Vanderbilt48.mtx"
        graphs["Vanderbilt48"] = lambda: read_graph(path)
    graphs |= {name: GRAPHS[name] for name in args.graphs}
    results = {}
    for name, make in graphs.items():
        results[name] = measure(comm, make())
        print(name, json.dumps(results[name], indent=1), flush=True)
        write_record(args.output, results)


def scrambled(graph):
    """Return a graph with ids that say nothing."""
    order = np.random.default_rng(1).permutation(graph.n)
    return replace(renumbered(graph, order), labels=None)


GRAPHS = {
    "torus 200,000, scrambled": lambda: scrambled(GENERATORS["torus"](200_000, seed=1)),
    "WS 200,000, d = 6, p = 0.05, scrambled": lambda: scrambled(
        watts_strogatz(200_000, 6, 0.05, 1)
    ),
    "PLC 200,000, d = 4, p = 0.5, scrambled": lambda: scrambled(
        GENERATORS["plc"](200_000, d=4, p=0.5, seed=1)
    ),
    "BA 200,000, d = 4, scrambled": lambda: scrambled(barabasi_albert(200_000, 4, 1)),
    "BA 1,000,000, d = 4": lambda: barabasi_albert(1_000_000, 4, 1),
}


def measure(comm, graph):
    orders, result = {"as given": graph}, {"nodes": graph.n, "edges": graph.m}
    for by in ORDERS:
        begin = time.process_time()
        new = reorder(graph, by, RANKS, "rows")
        seconds = time.process_time() - begin
        orders[by] = new.graph
        result["as given"] = new.before.summary()
        result[by] = {"reorder_seconds": seconds, **new.after.summary()}
    for _ in range(REPEATS):
        for by, each in orders.items():
            begin = time.process_time()
            record = ogg_hpc.solve(each, comm=comm).record
            seconds = time.process_time() - begin
            result[by]["cover"] = record["objective"]
            result[by]["solve_seconds"] = min(seconds, result[by].get("solve_seconds", seconds))
    for by, each in orders.items():
        result[by]["reference_step_seconds"] = reference_step(comm, each)
    return result


def reference_step(comm, graph):
    batch = GraphBatch(comm, [row_block(graph, 0, 1)])
    scorer = PolicyScorer(load_policy("mvc-s2v", "mvc").policy())
    moments = []

    def on_step(step, left):
        moments.append(time.process_time())
        if step > STEPS:
            raise EnoughError

    with contextlib.suppress(EnoughError):
        search(batch, MinimumVertexCover(), scorer, ONE, on_step=on_step)
    return float(np.min(np.diff(moments)))


if __name__ == "__main__":
    main()
