"""Run under four ranks: one and three of them learn by evolution, and take up each other's runs.

Usage: evolution_equality.py FOLDER. Prints one JSON object: parameters and curves by part.
"""

import json
import sys
from pathlib import Path

from ogg_hpc.policies.file import load_policy
from ogg_hpc.runtime.launch import start
from ogg_hpc.runtime.run_folder import resume_settings
from ogg_hpc.settings import build
from ogg_hpc.training.run import train
from ogg_hpc.training.settings import TrainSettings

DOCUMENT = {
    "policy": "degree-messages",
    "method": "evolution",
    "train": [{"family": "er", "nodes": [20, 30], "p": 0.2, "count": 5}],
    "validation": [{"family": "er", "nodes": 30, "p": 0.2, "count": 4, "seed": 9}],
    "evolution": {"generations": 2, "population": 4, "graphs": "fresh"},
    "output": {"evaluate_every": 1, "checkpoint_every": 2, "tensorboard": False},
}


def main(folder):
    world = start("cpu")
    alone = world.rank == 0
    comm = world.split(0 if alone else 1)
    own, other = (folder / name for name in (("P1", "P3") if alone else ("P3", "P1")))
    train(comm, build(TrainSettings, DOCUMENT), own)
    world.barrier()
    longer = comm.on_root(
        lambda: resume_settings(TrainSettings, other, ["evolution.generations=4"])
    )
    train(comm, longer, other, resume=True)
    world.barrier()
    if alone:
        print(json.dumps({run.name: found(run) for run in (own, other)}))


def found(run):
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    arrays = load_policy(str(run / "last.npz"), "mvc").arrays
    return {
        "parameters": {name: array.tolist() for name, array in arrays.items()},
        "curves": [{k: v for k, v in row.items() if k != "seconds"} for row in rows],
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
