"""How good covers are: the shipped policies beside the greedy heuristics.

Ratio of the cover to the best known one: on random graphs the least that all methods here find,
among them CP-SAT where graphs are small, else KaMIS and a polish; on Facebook graphs, where their
files are given, the one in best_known.csv. What `ogg-hpc evaluate` does, on the same graphs
every time; under mpiexec, P graphs at a time.

Use: mpiexec -n 2 python benchmarks/quality.py [--policy FILE] [--facebook FOLDER] [--output FILE]
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
from ogg_hpc.search.settings import SolveSettings

HERE = Path(__file__).parent
RANDOM = {
    "ER-20": lambda seed: erdos_renyi(20, 0.15, seed),
    "BA-20": lambda seed: barabasi_albert(20, 4, seed),
    "ER-250": lambda seed: erdos_renyi(250, 0.15, seed),
    "BA-250": lambda seed: barabasi_albert(250, 4, seed),
    "BA-1000": lambda seed: barabasi_albert(1000, 4, seed),
}
SMALL = ("ER-20", "BA-20")  # solved exactly at once


class Random(Listed):
    """A random graph of the benchmark's own seeds, which no training uses."""

    def read(self, *options):
        """Make the graph."""
        return RANDOM[self.family](10_000 + self.index)


def methods_with(policy):
    alone = {
        "policy, one node a step": (policy, "one"),
        "policy, adaptive": (policy, "adaptive"),
        "policy, as in the paper": (policy, "paper"),
        "structure2vec": ("mvc-s2v", "adaptive"),
        "maximum degree": ("max-degree", "one"),
        "minimum degree": ("min-degree", "one"),
        **{f"inverse degree {a}": (f"inverse-degree:{a}", "one") for a in (1, 1.25, 1.5, 2, 3)},
    }
    methods = [
        Search(name, SolveSettings(policy=policy, select=select, reduce=False))
        for name, (policy, select) in alone.items()
    ]
    eight = SolveSettings(policy=policy, select="one", reduce=False, samples=8)
    reduced = SolveSettings(policy=policy)
    return [*methods, Search("policy, 8 samples", eight), Search("solve", reduced)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policy", default="mvc")
    parser.add_argument("--facebook", type=Path)
    parser.add_argument("--graphs", type=int, default=100, help="of a family; 2 times that of 20")
    parser.add_argument(
        "--limit", type=float, default=2, help="seconds of KaMIS, and of the polish"
    )
    parser.add_argument("--output", type=Path, default=HERE / "quality.json")
    args = parser.parse_args()

    comm, methods = start("cpu"), methods_with(args.policy)
    rows = []
    polished = Search("solve, polished", SolveSettings(policy=args.policy, polish=args.limit))
    for name in RANDOM:
        if name in SMALL:
            count, references = 2 * args.graphs, [exact_method("mvc", 60)]
        else:
            count, references = args.graphs, [polished, exact_method("mvc", args.limit, "kamis")]
        graphs = [Random(name, f"{name}:{i}", i) for i in range(count)]
        rows += evaluate(comm, Evaluation("mvc", graphs, [*methods, *references]))
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
    results |= means
    if comm.rank == 0:
        print(json.dumps(means, indent=1))
        commit = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=HERE, capture_output=True, text=True, check=True
        ).stdout.strip()
        record = {
            "commit": commit, "policy": args.policy, "graphs": args.graphs,
            "limit": args.limit, "versions": versions(), "results": results,
        }  # fmt: skip
        args.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
