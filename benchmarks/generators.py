"""Random graphs of 10^8 edges straight to stores, beside generators of whole graphs and NetworkX.

Graphs have a mean degree of about 20. The largest are made by `data generate` under mpiexec with
--memory, and as blocks of edges alone by one process, without a store. Smaller ones are also made
whole, by the generator in memory and `write_store` in one process. The smallest are made by the
same generator and by NetworkX, which has no R-MAT, without a file. Each runs in a process of its
own; seconds are wall time without the start of it, peak memory is that of the largest rank.

Use: python benchmarks/generators.py [--edges M] [--whole-edges M] [--networkx-edges M]
         [--families KIND …] [--ranks P …] [--memory SIZE] [--folder FOLDER] [--output FILE]
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import networkx as nx
from common import write_record

from ogg_hpc.graphs.generators import EDGES, GENERATORS
from ogg_hpc.graphs.shards import write_store
from ogg_hpc.runtime.device import host_peak_memory_bytes
from ogg_hpc.runtime.files import sha256_of_file

NETWORKX = {
    "er": lambda n, p: nx.fast_gnp_random_graph(n, p, seed=1),
    "ba": lambda n, d: nx.barabasi_albert_graph(n, d, seed=1),
    "ws": lambda n, d, p: nx.watts_strogatz_graph(n, d, p, seed=1),
    "geometric": lambda n, d: nx.random_geometric_graph(n, math.sqrt(d / (math.pi * n)), seed=1),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edges", type=int, default=100_000_000)
    parser.add_argument("--whole-edges", type=int, default=10_000_000)
    parser.add_argument("--networkx-edges", type=int, default=1_000_000)
    parser.add_argument("--families", nargs="*", choices=list(EDGES), default=list(EDGES))
    parser.add_argument("--ranks", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--memory", default="2G")
    parser.add_argument("--folder", type=Path, help="where stores go (default: a temporary one)")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".json"))
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)  # in a process of its own
    args = parser.parse_args()
    if args.one:
        print(json.dumps(ONE[args.one[0]](args.one[1], int(args.one[2]), args.folder)))
        return
    results = {}
    for family in args.families:
        found = results[family] = {}
        for size in (args.edges, args.whole_edges):
            found[f"{size} edges"] = {"parameters": parameters(family, size)}
            with tempfile.TemporaryDirectory(dir=args.folder) as folder:
                found[f"{size} edges"] |= stores(family, size, args, Path(folder))
        found[f"{args.edges} edges"]["blocks alone"] = apart("blocks", family, args.edges)
        with tempfile.TemporaryDirectory(dir=args.folder) as folder:
            whole = apart("whole", family, args.whole_edges, folder)
        found[f"{args.whole_edges} edges"]["whole"] = whole
        found[f"{args.networkx_edges} edges"] = {
            "parameters": parameters(family, args.networkx_edges),
            "in memory": apart("memory", family, args.networkx_edges),
        }
        if family in NETWORKX:
            theirs = apart("networkx", family, args.networkx_edges)
            found[f"{args.networkx_edges} edges"]["NetworkX"] = theirs
        print(family, json.dumps(found, indent=1), flush=True)
        write_record(args.output, results)


def parameters(family, edges):
    """Return the parameters of a graph of about so many edges."""
    n = edges // 10
    if family == "rmat":
        n = 1 << round(math.log2(edges / 12))
        return {"n": n, "d": round(edges / n)}
    return {
        "er": {"n": n, "p": 20 / n},
        "ba": {"n": n, "d": 10},
        "ws": {"n": n, "d": 20, "p": 0.1},
        "geometric": {"n": n, "d": 20},
    }[family]


def stores(family, edges, args, folder):
    """Make a store on each number of ranks; all have to be the same."""
    found, digests = {}, set()
    given = parameters(family, edges)
    options = ["--nodes", given.pop("n"), "--seed", 1, "--memory", args.memory, "--json"]
    for name, value in given.items():
        options += [f"--{name}", value]
    for ranks in args.ranks:
        launcher = [Path(sys.executable).with_name("mpiexec"), "-n", ranks, sys.executable]
        store = folder / f"{ranks}.h5"
        command = ["-m", "ogg_hpc", "data", "generate", family, *options, "--output", store]
        record = run([*launcher, *command])
        found[f"store, {ranks} ranks"] = {
            name: record[name]
            for name in ("edges", "self_loops", "duplicates", "seconds", "peak_memory_bytes")
        } | {"store_bytes": store.stat().st_size}
        digests.add(sha256_of_file(store))
        store.unlink()
    if len(digests) > 1:
        raise SystemExit(f"{family}: the stores differ")
    return found


def apart(what, family, edges, folder="."):
    """Return what a process of its own says of one way to make a graph."""
    return run([sys.executable, __file__, "--one", what, family, edges, "--folder", folder])


def run(command):
    words = [str(word) for word in command]
    return json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)


def measured(warm, make):
    """Return seconds and memory of a function that returns a number of edges, once compiled."""
    warm()
    start = time.perf_counter()
    edges = make()
    return {
        "edges": edges,
        "seconds": time.perf_counter() - start,
        "peak_memory_bytes": host_peak_memory_bytes(),
    }


def blocks(family, edges, folder):
    """Make all blocks, one after the other."""

    def make(size):
        graph = EDGES[family](**parameters(family, size), seed=1)
        return sum(len(graph.read(block).sources) for block in range(graph.count))

    return measured(lambda: make(1000), lambda: make(edges))


def whole(family, edges, folder):
    """Make a graph in memory and write it."""

    def make(size):
        graph = GENERATORS[family](**parameters(family, size), seed=1)
        write_store(folder / "whole.h5", [graph])
        return graph.m

    return measured(lambda: make(1000), lambda: make(edges))


def memory(family, edges, folder):
    """Make a graph in memory."""

    def make(size):
        return GENERATORS[family](**parameters(family, size), seed=1).m

    return measured(lambda: make(1000), lambda: make(edges))


def networkx(family, edges, folder):
    """Make a graph by NetworkX."""

    def make(size):
        return NETWORKX[family](**parameters(family, size)).number_of_edges()

    return measured(lambda: make(1000), lambda: make(edges))


ONE = {"blocks": blocks, "whole": whole, "memory": memory, "networkx": networkx}

if __name__ == "__main__":
    main()
