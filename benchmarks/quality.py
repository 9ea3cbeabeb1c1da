"""How good covers are: the shipped policies beside the greedy heuristics.

Ratio of the cover to the best known one on random graphs (CP-SAT with a time limit, or the best
that any method here found, if smaller) and on Facebook graphs where their files are given. What
`ogg-hpc evaluate` does, on the same graphs every time; under mpiexec, P graphs at a time.

Use: python benchmarks/quality.py [--policy FILE] [--facebook FOLDER] [--output quality.json]
"""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path

from ogg_hpc.graphs.generators import barabasi_albert, erdos_renyi
from ogg_hpc.runtime.environment import versions
from ogg_hpc.runtime.launch import start
from ogg_hpc.search.collection import Listed
from ogg_hpc.search.evaluate import Evaluation, evaluate
from ogg_hpc.search.evaluation_tables import read_best_known, summarise
from ogg_hpc.search.methods import Search, exact_method
from ogg_hpc.search.solve import SolveSettings

HERE = Path(__file__).parent
RANDOM = {
    "ER-250": lambda seed: erdos_renyi(250, 0.15, seed),
    "BA-250": lambda seed: barabasi_albert(250, 4, seed),
}


class Random(Listed):
    """A random graph of the benchmark's own seeds."""

    def read(self, *options):
        """Make the graph."""
        return RANDOM[self.family](10_000 + self.index)


def methods_with(policy):
    chosen = {
        "policy, one node a step": (policy, "one"),
        "policy, adaptive": (policy, "adaptive"),
        "structure2vec": ("mvc-s2v", "adaptive"),
        "maximum degree": ("max-degree", "adaptive"),
        "minimum degree": ("min-degree", "adaptive"),
        "inverse degree 1.25": ("inverse-degree", "one"),
        "inverse degree 2": ("inverse-degree:2", "one"),
    }
    return [
        Search(name, SolveSettings(policy=policy, select=select, reduce=False))
        for name, (policy, select) in chosen.items()
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policy", default="mvc")
    parser.add_argument("--facebook", type=Path)
    parser.add_argument("--graphs", type=int, default=20, help="random graphs a family")
    parser.add_argument("--limit", type=float, default=10, help="seconds of CP-SAT a graph")
    parser.add_argument("--output", type=Path, default=HERE / "quality.json")
    args = parser.parse_args()

    comm, methods = start("cpu"), methods_with(args.policy)
    exact = exact_method("mvc", args.limit)
    graphs = [Random(name, f"{name}:{i}", i) for name in RANDOM for i in range(args.graphs)]
    rows = evaluate(comm, Evaluation("mvc", graphs, [*methods, exact]))
    rows = [row for row in rows if row.method != exact.name]
    results = {}
    if args.facebook:
        known = read_best_known(HERE / "best_known.csv", "vertex_cover")
        graphs = [Listed("Facebook", str(args.facebook / f"{name}.mtx")) for name in known]
        for row in evaluate(comm, Evaluation("mvc", graphs, methods, known)):
            rows.append(row)
            name = Path(row.graph).stem
            results.setdefault(name, {"best known": int(row.best)})[row.method] = row.objective
    means = {}
    for each in summarise(rows):
        means.setdefault(each.family, {})[each.method] = {"mean": each.mean, "worst": each.worst}
    results = {name: means[name] for name in RANDOM} | results | means
    if comm.rank == 0:
        print(json.dumps(results, indent=1))
        commit = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=HERE, capture_output=True, text=True, check=True
        ).stdout.strip()
        record = {
            "commit": commit, "policy": args.policy, "versions": versions(), "results": results
        }  # fmt: skip
        args.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
