"""Vertex cover learned from actors beside the trainer of ranks, in as many environment steps.

For each seed, `ogg-hpc train default` and `ogg-hpc actors run mvc-dqn`: the same graphs, network,
gradient steps and held-out graphs. A ratio is the mean of objective over optimum on the held-out
graphs, the best of a run as in its `best.npz`.

Usage: python benchmarks/actors_mvc.py [--seeds 3] [--set KEY=VALUE] [--output FILE.json]
"""

import argparse
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from common import write_record

from ogg_hpc.actors.run import run
from ogg_hpc.actors.settings import load_actors_settings
from ogg_hpc.runtime.launch import start
from ogg_hpc.training.run import train
from ogg_hpc.training.settings import load_train_settings


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=3, help="runs of each (default: 3)")
    parser.add_argument(
        "--set", action="append", default=[], help="settings of the actors, such as dqn.ahead=16"
    )
    parser.add_argument("--output", default=Path(__file__).with_suffix(".json"), type=Path)
    args = parser.parse_args()
    comm = start("cpu")
    results = {"settings": args.set, "train": [], "actors": []}
    for seed in range(args.seeds):
        with TemporaryDirectory() as folder:
            quiet = [f"seed={seed}", "output.tensorboard=false"]
            settings = load_train_settings("default", quiet)
            record = train(comm, settings, Path(folder) / "train")
            results["train"].append(summary(seed, record, Path(folder) / "train"))
            settings = load_actors_settings("mvc-dqn", [*quiet, *args.set])
            record = run(comm, settings, Path(folder) / "actors", device="cpu")
            found = summary(seed, record, Path(folder) / "actors")
            found["staleness"] = record["collection"]["staleness"]
            found["bytes_per_step"] = record["collection"]["bytes_per_step"]
            results["actors"].append(found)
        for kind in ("train", "actors"):
            print(kind, json.dumps({**results[kind][-1], "scores": None}), flush=True)
    for kind in ("train", "actors"):
        best = [one["best"]["score"] for one in results[kind]]
        results[f"{kind}, mean best"] = float(np.mean(best))
    write_record(args.output, results)


def summary(seed, record, folder):
    """Return what the two are compared by."""
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return {
        "seed": seed,
        "steps": record["steps"],
        "best": record["best"],
        "scores": {str(row["step"]): row["score"] for row in rows if "score" in row},
        "seconds": record["seconds"],
    }


if __name__ == "__main__":
    main()
