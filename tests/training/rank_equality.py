"""Run under four ranks: small trainings on parts of them, side by side.

Usage: rank_equality.py FOLDER. Prints one JSON object: what each part found, by its name.
"""

import json
import sys
from pathlib import Path

import numpy as np

from ogg_hpc.graphs.generators import erdos_renyi
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.policies.registry import make_policy
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.runtime.launch import start
from ogg_hpc.runtime.run_folder import resume_settings
from ogg_hpc.settings import build
from ogg_hpc.training.engine import make_engine
from ogg_hpc.training.rows import HeldRows, TrainingRows
from ogg_hpc.training.run import train
from ogg_hpc.training.settings import LearningSettings, TrainSettings
from ogg_hpc.training.trainer import Trainer

# Each line is a way to part four ranks: for each rank the name of its part, and R.
PARTS = (
    [("P1", 0), ("P3", 0), ("P3", 0), ("P3", 0)],
    [("P2", 0), ("P2", 0), ("P2R1", 1), ("P2R1", 1)],
    [("P4R2", 2)] * 4,
    [("P4R2 resumed", 2)] * 4,
)


def fixed_losses(comm, name, network="s2v", **learning):
    """Losses of 50 updates on tuples that no policy had a say in."""
    graphs = [erdos_renyi(n, 0.3, seed=n) for n in (8, 11, 13)]
    blocks = [row_block(graph, comm.rank, comm.size) for graph in graphs]
    policy = make_policy(network, {"width": 8} if network == "s2v" else {}, seed=1)
    random = LearningSettings(
        batch=8, epsilon_start=1.0, epsilon_end=1.0, learning_rate=5e-3, **learning
    )
    rows = TrainingRows([HeldRows(blocks)])
    engine = make_engine(name, comm, rows, MinimumVertexCover(), policy, "allgather")
    trainer = Trainer(comm, comm, 0, 1, engine, policy, random, 5)
    for step in range(40):
        trainer.act(step)
    return [trainer.learn(step, 0) for step in range(50)]


def run(comm, folder, ranks_per_graph, interrupted):
    """Actions, parameters and ratios of a run, which may be interrupted and resumed."""
    document = {
        "model": {"width": 8},
        "train": [{"family": "er", "nodes": [8, 14], "p": 0.3, "count": 8}],
        "validation": [{"family": "er", "nodes": 12, "p": 0.3, "count": 3, "seed": 9}],
        "learning": {
            "steps": 24, "batch": 8, "tau": 2, "epsilon_steps": 12, "target_refresh": 5,
            "averaging": 0.9,
        },
        "parallel": {"ranks_per_graph": ranks_per_graph},
        "output": {"checkpoint_every": 24, "evaluate_every": 12, "tensorboard": False},
    }  # fmt: skip
    if interrupted:
        learning = {**document["learning"], "steps": 12}
        output = {**document["output"], "checkpoint_every": 12}
        train(
            comm, build(TrainSettings, {**document, "learning": learning, "output": output}), folder
        )
        again = comm.on_root(lambda: resume_settings(TrainSettings, folder, ["learning.steps=24"]))
        train(comm, again, folder, resume=True)
    else:
        train(comm, build(TrainSettings, document), folder)
    if comm.rank != 0:
        return None
    with np.load(folder / "checkpoints" / "step-00000024" / "state.npz") as archive:
        arrays = dict(archive)
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return {
        "groups": sum(name.endswith("/actions") for name in arrays),
        "actions": [
            arrays[f"group/{group}/actions"][:24].tolist()
            for group in range(2)
            if f"group/{group}/actions" in arrays
        ],
        "parameters": np.concatenate(
            [
                v.ravel()
                for name, v in sorted(arrays.items())
                if name.startswith(("policy/", "averaged/"))
            ]
        ).tolist(),
        "ratios": [row["ratio"] for row in rows if "ratio" in row],
    }


def main(folder):
    world = start("cpu")
    found = {}
    for parts in PARTS:
        name, ranks_per_graph = parts[world.rank]
        comm = world.split(sorted({part for part, _ in parts}).index(name))
        result = run(comm, folder / name, ranks_per_graph, name.endswith("resumed"))
        losses = {}
        if ranks_per_graph == 0:
            losses = {engine: fixed_losses(comm, engine) for engine in ("reference", "scalar")}
            losses["messages"] = fixed_losses(
                comm, "auto", "degree-messages", double=True, reward="count"
            )
        for part, value in world.gather_objects((name, result and {**result, "fixed": losses})):
            if value is not None:
                found[part] = value
    if world.rank == 0:
        print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
