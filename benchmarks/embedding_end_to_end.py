"""DeepWalk from the graph file to the vectors: `ogg-hpc embed` against PecanPy.

Both take 10 walks of 80 nodes from each node, a window of 10, 128 dimensions, 5 negatives and one
epoch, on two cores: two ranks of ours, two workers of PecanPy (Liu and Krishnan, Bioinformatics
2021), whose training is gensim's. Compared are the seconds of our whole command, start, reading
and writing included, with those that PecanPy says its walks and its training took. Both embeddings
then classify the nodes (embed-eval classify; the graph file has the classes, too).

Runs of both are repeated in turns, for other work on the machine slows both.

Use: python benchmarks/embedding_end_to_end.py blogcatalog.mat --pecanpy VENV/bin/pecanpy
     [--mode FirstOrderUnweighted] [--strategies rotate partitioned ...] [--repeats N]
     [--output embedding_end_to_end.json]

PecanPy wants an older NumPy: install it in an environment of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.io
from common import write_record

HERE = Path(__file__).parent
CORES = 2
WALKS, LENGTH, WINDOW, DIM = 10, 80, 10, 128
LEARNING_RATE = 0.05  # of ours: more than word2vec's 0.025 tells classes better
OGG = [sys.executable, "-m", "ogg_hpc"]
TOOK = re.compile(r"Took (\d+):(\d+):(\d+\.\d+) to ([a-z -]*)")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pecanpy", required=True, help="its command")
    parser.add_argument("--mode", default="SparseOTF", help="PecanPy's; or FirstOrderUnweighted")
    parser.add_argument("graph", type=Path, help="a .mat file with network and group")
    parser.add_argument("--strategies", nargs="+", default=["rotate"])
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--output", type=Path, default=HERE / "embedding_end_to_end.json")
    args = parser.parse_args()
    runs = {"pecanpy": lambda folder: pecanpy(args.pecanpy, args.mode, args.graph, folder)}
    for strategy in args.strategies:
        runs[strategy] = lambda folder, strategy=strategy: ours(strategy, args.graph, folder)
    results = {name: [] for name in runs}
    with tempfile.TemporaryDirectory() as temporary:
        for repeat in range(args.repeats):
            for name, run in runs.items():
                folder = Path(temporary) / f"{name}-{repeat}"
                folder.mkdir()
                result, embedding = run(folder)
                results[name].append(result | classify(embedding, args.graph))
                print(name, json.dumps(results[name][-1]), flush=True)
    summary = {
        name: {"median_seconds": float(np.median([run["seconds"] for run in of_name]))}
        for name, of_name in results.items()
    }
    for values in summary.values():
        values["of_pecanpy"] = values["median_seconds"] / summary["pecanpy"]["median_seconds"]
    print(json.dumps(summary))
    write_record(
        args.output,
        {"graph": args.graph.name, "mode": args.mode, "runs": results, "summary": summary},
    )


def pecanpy(command, mode, graph, folder):
    """Return what PecanPy took, and its embedding."""
    network = scipy.io.loadmat(graph)["network"].tocoo()
    once = network.row < network.col
    edges, embedding = folder / "graph.edg", folder / "pecanpy.txt"
    np.savetxt(edges, np.c_[network.row[once], network.col[once]], fmt="%d", delimiter="\t")
    options = {
        "--input": edges, "--output": embedding, "--mode": mode, "--workers": CORES,
        "--num-walks": WALKS, "--walk-length": LENGTH, "--window-size": WINDOW,
        "--dimensions": DIM,
    }  # fmt: skip
    words = [str(word) for option in options.items() for word in option]
    seconds, text = timed([command, *words])
    phases = {
        name.strip(): 3600 * int(hours) + 60 * int(minutes) + float(rest)
        for hours, minutes, rest, name in TOOK.findall(text)
    }
    own = phases["generate walks"] + phases["train embeddings"]
    return {"seconds": own, "command_seconds": seconds, "phases": phases}, embedding


def ours(strategy, graph, folder):
    """Return what our command took, and its embedding."""
    beside = Path(sys.executable).with_name("mpiexec")
    launcher = str(beside) if beside.exists() else shutil.which("mpiexec")
    embedding = folder / "ours.h5"
    options = {
        "--strategy": strategy, "--walks": WALKS, "--walk-length": LENGTH, "--window": WINDOW,
        "--dim": DIM, "--negative": 5, "--learning-rate": LEARNING_RATE, "--output": embedding,
    }  # fmt: skip
    words = [str(word) for option in options.items() for word in option]
    command = [launcher, "-n", str(CORES), *OGG, "embed", str(graph), *words, "--json"]
    seconds, text = timed(command)
    record = json.loads(text)
    phases = {name: of_ranks["max"] for name, of_ranks in record["phases"].items()}
    return {
        "seconds": seconds,
        "phases": phases,
        "pairs": record["pairs"],
        "pairs_per_second": record["pairs_per_second"],
        "losses": [epoch["loss"] for epoch in record["losses"]],
    }, embedding


def classify(embedding, graph):
    """Return how well the vectors tell the classes of nodes."""
    options = ["--labels", graph, "--fractions", "0.5", "0.9", "--shuffles", "3", "--json"]
    command = [*OGG, "embed-eval", "classify", embedding, *options]
    record = json.loads(timed([str(word) for word in command])[1])
    return {
        f"{mean}_f1_at_{result['fraction']}": round(100 * result[f"{mean}_f1"], 2)
        for result in record["results"]
        for mean in ("micro", "macro")
    }


def timed(command):
    """Run a command; return its seconds and its output."""
    start = time.perf_counter()
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, env=environment)
    return time.perf_counter() - start, done.stdout


if __name__ == "__main__":
    main()
