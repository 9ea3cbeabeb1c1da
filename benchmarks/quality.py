"""How good covers are: the shipped policy beside the greedy heuristics.

Ratio of the cover to the best known one on random graphs (CP-SAT with a time limit, or the best
that any method here found, if smaller) and on Facebook graphs where their files are given.

Use: python benchmarks/quality.py [--policy FILE] [--facebook FOLDER] [--output quality.json]
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
from pathlib import Path

import numpy as np

from ogg_hpc import solve
from ogg_hpc.graphs.generators import barabasi_albert, erdos_renyi
from ogg_hpc.problems.exact import solve_exactly
from ogg_hpc.runtime.environment import versions

HERE = Path(__file__).parent
METHODS = {
    "policy, one node a step": {"select": "one"},
    "policy, adaptive": {"select": "adaptive"},
    "maximum degree": {"policy": "max-degree"},
    "minimum degree": {"policy": "min-degree"},
    "inverse degree 1.25": {"policy": "inverse-degree", "select": "one"},
    "two messages": {"policy": "two-message", "select": "one"},
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policy", default="mvc")
    parser.add_argument("--facebook", type=Path)
    parser.add_argument("--graphs", type=int, default=20, help="random graphs a family")
    parser.add_argument("--limit", type=float, default=10, help="seconds of CP-SAT a graph")
    parser.add_argument("--output", type=Path, default=HERE / "quality.json")
    args = parser.parse_args()

    results = {}
    families = {
        "ER-250": lambda seed: erdos_renyi(250, 0.15, seed),
        "BA-250": lambda seed: barabasi_albert(250, 4, seed),
    }
    for family, make in families.items():
        graphs = [make(10_000 + i) for i in range(args.graphs)]
        found = {method: [size(graph, method, args) for graph in graphs] for method in METHODS}
        exact = [len(solve_exactly(graph, args.limit).nodes) for graph in graphs]
        best = np.min([exact, *found.values()], axis=0)
        results[family] = {
            method: {"mean": np.mean(sizes / best), "worst": np.max(sizes / best)}
            for method, sizes in found.items()
        }
        print(family, results[family], flush=True)
    if args.facebook:
        with open(HERE / "best_known.csv", encoding="utf-8") as stream:
            known = {row["graph"]: int(row["vertex_cover"]) for row in csv.DictReader(stream)}
        ratios = {method: [] for method in METHODS}
        for name, best in known.items():
            path = args.facebook / f"{name}.mtx"
            sizes = {method: size(path, method, args) for method in METHODS}
            results[name] = {"best known": best, **sizes}
            print(name, results[name], flush=True)
            for method, value in sizes.items():
                ratios[method].append(value / best)
        results["Facebook"] = {
            method: {"mean": np.mean(values), "worst": np.max(values)}
            for method, values in ratios.items()
        }
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=HERE, capture_output=True, text=True, check=True
    ).stdout.strip()
    record = {"commit": commit, "policy": args.policy, "versions": versions(), "results": results}
    args.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def size(graph, method, args):
    settings = {"policy": args.policy, "reduce": False, **METHODS[method]}
    return solve(graph, **settings).record["objective"]


if __name__ == "__main__":
    main()
