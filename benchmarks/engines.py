"""Step times of the engines, side by side on the same graphs, on one rank.

For each graph, one node a step: the median of the first 100 steps (fewer where they take long) of
the reference engine and of the scalar engine with the shipped structure2vec policy, and their
ratio; of the scalar engine with one message (inverse degree) and with two; and whole solves by the
scalar engine. At last `ogg-hpc solve` by that policy on a store of the largest graph, with its own
record of seconds and memory.

Use: python benchmarks/engines.py [--graphs NAME …] [--facebook FOLDER] [--output engines.json]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from common import first_steps, write_record

from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.graphs.generators import barabasi_albert, erdos_renyi
from ogg_hpc.graphs.readers import read_graph
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.policies.degree_messages import TWO_MESSAGES, two_messages
from ogg_hpc.policies.file import load_policy
from ogg_hpc.policies.scalar_form import inverse_degree_form, scalar_form
from ogg_hpc.policies.scorer import PolicyScorer
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.runtime.device import host_peak_memory_bytes
from ogg_hpc.runtime.launch import start
from ogg_hpc.search.policy_search import search
from ogg_hpc.search.scalar_search import scalar_search
from ogg_hpc.search.schedule import ONE, PAPER

GRAPHS = {
    "ER 750, p = 0.15": lambda: erdos_renyi(750, 0.15, 1),
    "ER 1,500, p = 0.15": lambda: erdos_renyi(1_500, 0.15, 1),
    "ER 3,000, p = 0.15": lambda: erdos_renyi(3_000, 0.15, 1),
    "ER 15,000, p = 0.15": lambda: erdos_renyi(15_000, 0.15, 1),
    "ER 21,000, p = 0.15": lambda: erdos_renyi(21_000, 0.15, 1),
    "BA 100,000, d = 4": lambda: barabasi_albert(100_000, 4, 1),
    "BA 1,000,000, d = 4": lambda: barabasi_albert(1_000_000, 4, 1),
}
FROM_STORE = "BA 1,000,000, d = 4, ogg-hpc solve from HDF5"
# On larger graphs policies of tables of messages are timed by their first steps alone.
WHOLE_SOLVES = 2_000_000  # edges
NONE = np.empty(0, np.int64)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", nargs="*", default=[*GRAPHS, FROM_STORE])
    parser.add_argument("--facebook", type=Path, help="folder with socfb-Vanderbilt48.mtx")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".json"))
    args = parser.parse_args()
    comm = start("cpu")
    measure(comm, barabasi_albert(100, 4, 0))  # compiles
    graphs = {name: GRAPHS[name] for name in args.graphs if name in GRAPHS}
    if args.facebook:
        path = args.facebook / "socfb-Vanderbilt48.mtx"
        graphs["Vanderbilt48"] = lambda: read_graph(path)
    results = {}
    for name, make in graphs.items():
        results[name] = measure(comm, make())
        print(name, json.dumps(results[name]), flush=True)
    if FROM_STORE in args.graphs:
        results[FROM_STORE] = solve_from_store()
        print(FROM_STORE, json.dumps(results[FROM_STORE]), flush=True)
    write_record(args.output, results)


def measure(comm, graph):
    block = row_block(graph, 0, 1)
    stored = load_policy("mvc-s2v", "mvc")
    forms = {
        "policy": scalar_form(stored, block.entries / block.n),
        "one message": inverse_degree_form(graph.n, 1.25),
        "two messages": two_messages(graph.n, 0.05, **TWO_MESSAGES),
    }
    result = {
        "nodes": graph.n,
        "edges": graph.m,
        "reference_step_seconds": first_steps(
            lambda on_step: search(
                GraphBatch(comm, [block]),
                MinimumVertexCover(),
                PolicyScorer(stored.policy()),
                ONE,
                on_step=on_step,
            )
        ),
    }
    for name, form in forms.items():
        result[name] = {
            "step_seconds": first_steps(
                lambda on_step, form=form: scalar_search(comm, block, form, ONE, NONE, on_step)
            )
        }
        if name != "policy" and graph.m > WHOLE_SOLVES and graph.n < graph.m / 100:
            continue
        for schedule in (ONE, PAPER):
            begin = time.perf_counter()
            found = scalar_search(comm, block, form, schedule, NONE)
            seconds = time.perf_counter() - begin
            cover = MinimumVertexCover().improve(graph, found.solutions[0])
            result[name][schedule.name] = {
                "seconds": seconds,
                "steps": len(found.step_seconds),
                "cover": len(cover),
            }
    result["ratio"] = result["reference_step_seconds"] / result["policy"]["step_seconds"]
    result["peak_memory_bytes"] = host_peak_memory_bytes()
    return result


def solve_from_store():
    """Return what matters of the record of ``ogg-hpc solve`` on a store of a million nodes."""
    command = [sys.executable, "-m", "ogg_hpc"]
    with tempfile.TemporaryDirectory() as folder:
        graph = ["ba", "--nodes", "1000000", "--d", "4", "--seed", "1"]
        generate = ["data", "generate", *graph, "--output", f"{folder}/graphs"]
        subprocess.run([*command, *generate], check=True, capture_output=True)
        solve = [
            "solve",
            f"{folder}/graphs",
            "--output",
            f"{folder}/cover.json",
            "--json",
            "--policy",
            "mvc-s2v",
            "--no-reduce",
        ]
        run = subprocess.run([*command, *solve], check=True, capture_output=True, text=True)
    record = json.loads(run.stdout)
    names = ("objective", "bound", "seconds", "adjacency_bytes", "peak_memory_bytes")
    return {name: record[name] for name in names}


if __name__ == "__main__":
    main()
