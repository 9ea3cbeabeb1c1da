"""Large edge lists to stores: `data convert` on 1 and 2 ranks beside a reader of the whole file.

An R-MAT graph of Graph500's parameters is written as SNAP writes its lists: comments, then a line
``u<tab>v`` for each edge, once with integers and once with names for labels. The conversion runs
under mpiexec with --memory. Beside it, in the same run, `read_graph` and `write_store` convert
the same file in one process. Seconds are wall time, peak memory is that of the largest rank.
The stores must be equal, byte for byte, on any number of ranks.

Use: python benchmarks/conversion.py [--edges M] [--ranks P …] [--memory SIZE] [--labels KIND …]
                                     [--folder FOLDER] [--output conversion.json]
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
from common import write_record

from ogg_hpc.graphs.generators.blocks import BLOCK
from ogg_hpc.graphs.generators.rmat import RecursiveMatrixEdges
from ogg_hpc.runtime.files import sha256_of_file

PREFIX = {"integers": b"", "names": b"user-"}
WHOLE = """
import json, sys, time
from ogg_hpc.graphs.readers import read_graph
from ogg_hpc.graphs.shards import write_store
from ogg_hpc.runtime.device import host_peak_memory_bytes
start = time.perf_counter()
graph = read_graph(sys.argv[1])
read = time.perf_counter()
write_store(sys.argv[2], [graph])
end = time.perf_counter()
seconds = {"read": read - start, "write": end - read, "total": end - start}
print(json.dumps({"seconds": seconds, "peak_memory_bytes": host_peak_memory_bytes()}))
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edges", type=int, default=20_000_000)
    parser.add_argument("--ranks", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--memory", default="1G")
    parser.add_argument("--labels", nargs="*", choices=list(PREFIX), default=list(PREFIX))
    parser.add_argument("--no-whole", action="store_true", help="leave the plain reader out")
    parser.add_argument("--folder", type=Path, help="where the files go (default: a temporary one)")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".json"))
    args = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        for kind in args.labels:
            path = Path(folder) / f"{kind}.txt"
            write_list(path, args.edges, PREFIX[kind])
            size = path.stat().st_size
            print(f"{kind}: {args.edges} edges, {size / 1e6:.0f} MB", flush=True)
            results[kind] = {"edges": args.edges, "bytes": size, "memory": args.memory}
            results[kind] |= measure(path, args)
            path.unlink()
            write_record(args.output, results)


def measure(path, args):
    """Convert one list on each number of ranks, and as a whole."""
    found, digests = {}, set()
    store = path.with_suffix(".h5")
    for ranks in args.ranks:
        launcher = [Path(sys.executable).with_name("mpiexec"), "-n", str(ranks), sys.executable]
        command = ["-m", "ogg_hpc", "data", "convert", path, store, "--json"]
        found[f"{ranks} ranks"] = timed([*launcher, *command, "--memory", args.memory])
        digests.add(sha256_of_file(store))
        print(f"  {ranks} ranks: {found[f'{ranks} ranks']}", flush=True)
    if len(digests) > 1:
        raise SystemExit("the stores differ")
    if not args.no_whole:
        found["whole"] = timed([sys.executable, "-c", WHOLE, path, store])
        print(f"  whole: {found['whole']}", flush=True)
    store.unlink()
    return found


def timed(command):
    """Return what a command says of itself, and how long it has taken."""
    start = time.perf_counter()
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, check=True)
    return {"wall_seconds": time.perf_counter() - start, **json.loads(done.stdout)}


def write_list(path, edges, prefix):
    """Write the first edges of an R-MAT graph of 16 edges a node."""
    nodes = 1 << max(1, (edges // 16 - 1).bit_length())
    graph = RecursiveMatrixEdges(nodes, 16, seed=1)
    with path.open("wb") as file:
        file.write(f"# Undirected graph: R-MAT\n# Nodes: {nodes} Edges: {edges}\n".encode())
        file.write(b"# FromNodeId\tToNodeId\n")
        for block in range(-(-edges // BLOCK)):
            sources, targets = (ends[: edges - block * BLOCK] for ends in graph.pairs(block))
            file.write(lines(sources, targets, prefix))


def lines(sources, targets, prefix):
    """Return the bytes of a line for each edge, made of whole columns of letters."""
    cells = []
    for ends, separator in ((sources, b"\t"), (targets, b"\n")):
        cells += [fixed(prefix, len(ends)), digits(ends), fixed(separator, len(ends))]
    table = np.concatenate(cells, axis=1)
    return table[table != 0].tobytes()


def fixed(text, rows):
    """Return the same letters for each row."""
    return np.tile(np.frombuffer(text, np.uint8), (rows, 1))


def digits(numbers):
    """Return the (e, width) decimal digits of numbers, 0 in place of leading zeros."""
    width = len(str(int(numbers.max())))
    powers = 10 ** np.arange(width - 1, -1, -1)
    quotients = numbers[:, None] // powers
    letters = (quotients % 10 + ord("0")).astype(np.uint8)
    letters[:, :-1][quotients[:, :-1] == 0] = 0
    return letters


if __name__ == "__main__":
    main()
