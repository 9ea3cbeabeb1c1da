"""Training on graphs that are read when they are needed, against graphs in memory.

Steps of deep Q-learning (Alg. 5) on one rank and a folder of some 10,000 graphs, each case in a
process of its own: all graphs held, and caches of fewer and fewer megabytes. The replay buffer is
full from the start, as after many episodes on random graphs of the set. Some steps warm up. Then,
for each case: seconds of a step (median), seconds of processors in it (mean, of all threads),
graphs that were not there when they were asked for, seconds waited for them, and peak memory beside
that of the same on a single graph. All cases must end with the same parameters.

Use: python benchmarks/streaming.py [--graphs N] [--steps N] [--output streaming.json]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from common import write_record

from ogg_hpc.graphs.shards import GraphStore
from ogg_hpc.policies.registry import make_policy
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.runtime.device import host_peak_memory_bytes
from ogg_hpc.runtime.launch import start
from ogg_hpc.runtime.random import integers, permutation
from ogg_hpc.settings import build
from ogg_hpc.training.engine import make_engine
from ogg_hpc.training.rows import training_rows
from ogg_hpc.training.set_settings import TrainingSetSettings
from ogg_hpc.training.settings import GraphSource, LearningSettings
from ogg_hpc.training.trainer import Trainer
from ogg_hpc.training.training_set import make_training_set

HERE = Path(__file__).parent
HELD = 1e9  # megabytes
CACHES = {"all": HELD, "64 MB": 64.0, "16 MB": 16.0, "4 MB": 4.0}
LEARNING = LearningSettings()
WARM = 5


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--output", type=Path, default=HERE / "streaming.json")
    parser.add_argument("--measure", nargs=2, metavar=("PATH", "CACHE"), help="one case alone")
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(measure(args.measure[0], float(args.measure[1]), args.steps)))
        return
    with tempfile.TemporaryDirectory() as folder:
        results = compare(Path(folder), args.graphs, args.steps)
    write_record(args.output, results)


def compare(folder, count, steps):
    """Return what each case took."""
    make(folder / "one", 1)
    make(folder / "set", count)
    with GraphStore(folder / "set") as store:
        results = {
            "graphs": len(store),
            "nodes": int(store.nodes.sum()),
            "edges": int(store.nnz.sum()) // 2,
            "file_bytes": sum(shard.bytes for shard in store.shards),
        }
    base = in_own_process(folder / "one", HELD, steps)["peak_memory_bytes"]
    results["base_memory_bytes"] = base
    digests = set()
    for name, cache in CACHES.items():
        found = in_own_process(folder / "set", cache, steps)
        found["memory_beside_base_bytes"] = found.pop("peak_memory_bytes") - base
        digests.add(found.pop("parameters"))
        results[name] = found
        print(name, json.dumps(found), flush=True)
    assert len(digests) == 1, "what is learned depends on the cache"
    return results


def make(folder, count):
    family = {"family": "er", "nodes": [100, 200], "p": 0.3, "count": count}
    settings = build(TrainingSetSettings, {"graphs": [family], "graphs_per_shard": 200})
    make_training_set(start("cpu"), settings, folder)


def in_own_process(path, cache, steps):
    case = ["--measure", str(path), str(cache), "--steps", str(steps)]
    done = subprocess.run([sys.executable, __file__, *case], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def measure(path, cache, steps):
    """Return what some steps take."""
    comm = start("cpu")
    rows = training_rows(comm, [GraphSource(path=path)], "rows", weighted=False, cache=cache)
    policy = make_policy("s2v", {"width": 32, "layers": 2}, seed=0)
    engine = make_engine("scalar", comm, rows, MinimumVertexCover(), policy, "allgather")
    trainer = Trainer(comm, comm, 0, 1, engine, policy, LEARNING, seed=0)
    episodes = fill(trainer.replay, engine.sizes)
    trainer.resume(episodes, trainer.replay.state())
    seconds = []
    for step in range(WARM + steps):
        if step == WARM:
            before, busy = rows.reading, time.process_time()
        begin = time.perf_counter()
        trainer.act(step)
        for iteration in range(LEARNING.tau):
            trainer.learn(step, iteration)
        trainer.q.refresh_target(step, step + 1)
        seconds.append(time.perf_counter() - begin)
    parameters = b"".join(p.detach().numpy().tobytes() for p in policy.parameters())
    return {
        "step_seconds": float(np.median(seconds[WARM:])),
        "processor_seconds": (time.process_time() - busy) / steps,
        "graphs_waited_for": rows.reading["reads"] - before["reads"],
        "waited_seconds": rows.reading["seconds"] - before["seconds"],
        "graphs_in_replay": episodes,
        "peak_memory_bytes": host_peak_memory_bytes(),
        "parameters": hashlib.sha256(parameters).hexdigest(),
    }


def fill(replay, sizes):
    """Fill a buffer with episodes on random graphs; return their number."""
    steps = episodes = 0
    while steps < LEARNING.replay:
        graph = int(integers(len(sizes), 7, episodes))
        nodes = permutation(int(sizes[graph]), 8, episodes)[: int(sizes[graph]) * 4 // 5]
        replay.start_episode(graph)
        for node in nodes.tolist():
            replay.append(node, -1 / len(nodes))
        steps, episodes = steps + len(nodes), episodes + 1
    replay.start_episode(0)
    return episodes


if __name__ == "__main__":
    main()
