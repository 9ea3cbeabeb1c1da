"""How fast one core walks and makes pairs of what it visits.

For each graph and method the least processor time of some calls: steps of walks and pairs a second,
compiled code being there.

Use: python benchmarks/walks.py [--graphs FILE …] [--output walks.json]
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from common import write_record

from ogg_hpc.embedding.graph_input import open_walk_graph
from ogg_hpc.embedding.sampling import make_sampler
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.runtime.communicator import Communicator

REPEATS = 3
METHODS = {
    "deepwalk": {},
    "node2vec, p = 0.25, q = 4": {"method": "node2vec", "p": 0.25, "q": 4.0},
    "node2vec, p = 4, q = 0.25": {"method": "node2vec", "p": 4.0, "q": 0.25},
    "line": {"method": "line"},
    "app": {"method": "app"},
}
ITEMS = {"deepwalk": 20_000, "node2vec": 20_000, "line": 1_000_000, "app": 1_000_000}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", nargs="+", default=["rmat:n=1048576,d=6,seed=1"])
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".json"))
    args = parser.parse_args()
    results = {}
    for source in args.graphs:
        opened = open_walk_graph(Communicator(), source, EmbedSettings())
        found = {"nodes": opened.graph.n, "edges": opened.m}
        found |= {name: measure(opened.graph, values) for name, values in METHODS.items()}
        name = Path(source).stem if Path(source).exists() else source
        results[name] = found
        print(name, json.dumps(found, indent=1), flush=True)
        write_record(args.output, results)


def measure(graph, values):
    """Return rates of a method on a graph."""
    settings = EmbedSettings(**values)
    sampler = make_sampler(graph, settings)
    items = np.arange(min(sampler.items, ITEMS[settings.method]))
    seconds, pairs = least_time(lambda: sampler.sample(0, items))
    rates = {"pairs_per_second": len(pairs) / seconds}
    if hasattr(sampler, "walks"):
        seconds, walks = least_time(lambda: sampler.walks(0, items))
        rates["steps_per_second"] = int((walks[:, 1:] >= 0).sum()) / seconds
    return rates


def least_time(work):
    """Return the least processor time of a call, and its result."""
    work()  # compiles
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        result = work()
        times.append(time.process_time() - start)
    return min(times), result


if __name__ == "__main__":
    main()
