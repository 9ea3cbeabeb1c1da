"""Step times of the engines, side by side on the same graphs with the shipped policy.

For each graph: the median of the first 100 steps of the reference engine (fewer where it takes
long) and of the scalar engine, one node a step, on one rank; their ratio; and whole solves by the
scalar engine, one node a step and adaptive.

Use: python benchmarks/engines.py [--graphs NAME …] [--facebook FOLDER] [--output engines.json]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import resource
import subprocess
import time
from pathlib import Path

import numpy as np

from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.graphs.generators import barabasi_albert, erdos_renyi
from ogg_hpc.graphs.readers import read_graph
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.policies.file import load_policy
from ogg_hpc.policies.scalar_form import scalar_form
from ogg_hpc.policies.scorer import PolicyScorer
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.runtime.environment import versions
from ogg_hpc.runtime.launch import start
from ogg_hpc.search.policy_search import search
from ogg_hpc.search.scalar_search import scalar_search
from ogg_hpc.search.schedule import ADAPTIVE, ONE

HERE = Path(__file__).parent
GRAPHS = {
    "ER 3,000, p = 0.15": lambda: erdos_renyi(3_000, 0.15, 1),
    "ER 15,000, p = 0.15": lambda: erdos_renyi(15_000, 0.15, 1),
    "ER 21,000, p = 0.15": lambda: erdos_renyi(21_000, 0.15, 1),
    "BA 100,000, d = 4": lambda: barabasi_albert(100_000, 4, 1),
    "BA 1,000,000, d = 4": lambda: barabasi_albert(1_000_000, 4, 1),
}
PATIENCE = 30  # seconds for the first steps of an engine on one graph
NONE = np.empty(0, np.int64)


class EnoughError(Exception):
    """Ends a search that was only started to time its first steps."""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", nargs="*", default=list(GRAPHS))
    parser.add_argument("--facebook", type=Path, help="folder with socfb-Vanderbilt48.mtx")
    parser.add_argument("--output", type=Path, default=HERE / "engines.json")
    args = parser.parse_args()
    comm = start("cpu")
    stored = load_policy("mvc", "mvc")
    warm_up(comm, stored)

    graphs = {name: GRAPHS[name] for name in args.graphs}
    if args.facebook:
        path = args.facebook / "socfb-Vanderbilt48.mtx"
        graphs["Vanderbilt48"] = lambda: read_graph(path)
    results = {}
    for name, make in graphs.items():
        results[name] = measure(comm, stored, make())
        print(name, json.dumps(results[name]), flush=True)
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=HERE, capture_output=True, text=True, check=True
    ).stdout.strip()
    record = {
        "commit": commit,
        "machine": {"processor": processor(), "cores": len(os.sched_getaffinity(0))},
        "versions": versions(),
        "results": results,
    }
    args.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def measure(comm, stored, graph):
    block = row_block(graph, 0, 1)
    form = scalar_form(stored, block.entries / block.n)
    reference = first_steps(
        lambda on_step: search(
            GraphBatch(comm, [block]),
            MinimumVertexCover(),
            PolicyScorer(stored.policy()),
            ONE,
            on_step=on_step,
        )
    )
    scalar = first_steps(lambda on_step: scalar_search(comm, block, form, ONE, NONE, on_step))
    result = {
        "nodes": graph.n,
        "edges": graph.m,
        "reference_step_seconds": reference,
        "scalar_step_seconds": scalar,
        "ratio": reference / scalar,
    }
    for schedule in (ONE, ADAPTIVE):
        begin = time.perf_counter()
        found = scalar_search(comm, block, form, schedule, NONE)
        seconds = time.perf_counter() - begin
        cover = MinimumVertexCover().improve(graph, found.solutions[0])
        result[schedule.name] = {
            "seconds": seconds,
            "steps": len(found.step_seconds),
            "cover": len(cover),
        }
    result["peak_memory_bytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return result


def first_steps(run):
    """Return the median time of the first steps, at most 100 and at most for some seconds."""
    steps, moments = [0], [time.perf_counter()]

    def on_step(step, left):
        steps.append(step)
        moments.append(time.perf_counter())
        if step >= 100 or moments[-1] - moments[0] > PATIENCE:
            raise EnoughError

    with contextlib.suppress(EnoughError):
        run(on_step)
    return float(np.median(np.diff(moments) / np.diff(steps)))


def warm_up(comm, stored):
    graph = barabasi_albert(100, 4, 0)
    measure(comm, stored, graph)


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":")[1].strip() for line in lines if "model name" in line), "unknown")


if __name__ == "__main__":
    main()
