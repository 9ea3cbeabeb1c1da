"""Run under four ranks: stop a run of four groups and go on in other groups.

Usage: regrouped_ranks.py FOLDER. Prints one JSON object: by the way it goes on the number of
groups, how many steps each holds, whether the networks and the optimiser are the same, and the
last step of the run.
"""

import json
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from signal import SIGUSR1

import numpy as np

from ogg_hpc.errors import StoppedError
from ogg_hpc.runtime.launch import start
from ogg_hpc.settings import build
from ogg_hpc.training.run import train
from ogg_hpc.training.settings import TrainSettings

STOPPED, STEPS = 6, 12


def settings(ranks_per_graph):
    source = {"family": "er", "nodes": [8, 14], "p": 0.3, "count": 6}
    document = {
        "model": {"width": 4},
        "train": [source],
        "validation": [{**source, "count": 2, "seed": 9}],
        "learning": {"steps": STEPS, "batch": 4, "tau": 1, "averaging": 0.9, "n_step": 1},
        "parallel": {"ranks_per_graph": ranks_per_graph},
        "output": {"evaluate_every": 6, "tensorboard": False},
    }
    return build(TrainSettings, document)


def go(comm, folder, ranks_per_graph, stop_at=None):
    """Run, and stop before a step if asked to."""
    steps = iter(range(stop_at or 0, -1, -1))
    with suppress(StoppedError):
        train(
            comm,
            settings(ranks_per_graph),
            folder,
            resume=True,
            stop=lambda: SIGUSR1 if stop_at is not None and next(steps) == 0 else None,
        )


def state(folder):
    newest = sorted((folder / "checkpoints").iterdir())[-1]
    with np.load(newest / "state.npz") as archive:
        return dict(archive)


def main(folder):
    world = start("cpu")
    found = {}

    def told(name, run, origin):
        if world.rank == 0:
            now, before = state(run), state(origin)
            common = [key for key in before if not key.startswith("group/")]
            ends = [int(value) for key, value in now.items() if key.endswith("/end")]
            same = all(np.array_equal(now[key], before[key]) for key in common)
            found[name] = [len(ends), ends, same, None]
        world.barrier()

    def goes_on(name, ranks, ranks_per_graph, origin):
        run = folder / name
        world.on_root(lambda: shutil.copytree(origin, run))
        comm = world.split(int(world.rank < ranks))
        if world.rank < ranks:
            go(comm, run, ranks_per_graph, stop_at=0)
        told(name, run, origin)
        if world.rank < ranks:
            go(comm, run, ranks_per_graph)
        world.barrier()
        if world.rank == 0:
            found[name][3] = json.loads((run / "record.json").read_text())["steps"]
        return run

    origin = folder / "origin"
    go(world, origin, 1, stop_at=STOPPED)
    told("4 ranks, 4 groups", origin, origin)
    goes_on("4 ranks, 2 groups", 4, 2, origin)
    goes_on("4 ranks, 1 group", 4, 0, origin)
    goes_on("3 ranks, 3 groups", 3, 1, origin)
    goes_on("1 rank", 1, 0, origin)
    alone = folder / "alone"
    if world.rank == 0:
        shutil.copytree(origin, alone)
        go(world.alone(), alone, 0, stop_at=0)
    world.barrier()
    goes_on("from 1 rank to 4 groups", 4, 1, alone)
    if world.rank == 0:
        print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
