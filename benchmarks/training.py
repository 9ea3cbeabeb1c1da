"""Time of a training step: an environment step, Tuples2Graphs and a gradient step.

For each graph: medians of whole steps and of their parts, K = 32, L = 2, B = 64, on one rank. The
replay buffer holds a whole episode and half of another, both in random order, so that tuples are
of all lengths. `default` computes targets when tuples are sampled, for states two nodes later;
`paper` stores them when a step is made. The reference engine runs on the smallest graph.
Where others use the machine too, `processor_seconds` (of all cores together) tell more than times.

Use: python benchmarks/training.py [--graphs NAME …] [--steps N] [--output training.json]
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch
from common import write_record

from ogg_hpc.graphs.generators import barabasi_albert, erdos_renyi
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.policies.registry import make_policy
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.runtime.device import host_peak_memory_bytes
from ogg_hpc.runtime.launch import start
from ogg_hpc.runtime.random import permutation
from ogg_hpc.training.engine import make_engine
from ogg_hpc.training.rows import HeldRows, TrainingRows
from ogg_hpc.training.settings import LearningSettings
from ogg_hpc.training.trainer import Trainer

HERE = Path(__file__).parent
GRAPHS = {
    "ER 3,000, p = 0.15": lambda: erdos_renyi(3_000, 0.15, 1),
    "ER 15,000, p = 0.15": lambda: erdos_renyi(15_000, 0.15, 1),
    "ER 21,000, p = 0.15": lambda: erdos_renyi(21_000, 0.15, 1),
}
REFERENCE = "ER 3,000, p = 0.15"
# Every action is the policy's: a random one needs no scores.
GREEDY = {"epsilon_start": 0.0, "epsilon_end": 0.0}
LEARNING = {
    "default": LearningSettings(**GREEDY),
    "paper": LearningSettings(targets="stored", n_step=1, target_refresh=0, gamma=0.9, **GREEDY),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", nargs="*", default=list(GRAPHS))
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--output", type=Path, default=HERE / "training.json")
    args = parser.parse_args()
    comm = start("cpu")
    for engine in ("scalar", "reference"):
        measure(comm, barabasi_albert(100, 4, 0), engine, LEARNING["default"], 2)  # compiles

    results = {}
    for name in args.graphs:
        graph = GRAPHS[name]()
        results[name] = {"nodes": graph.n, "edges": graph.m}
        for preset, learning in LEARNING.items():
            results[name][preset] = measure(comm, graph, "scalar", learning, args.steps)
        print(name, json.dumps(results[name]), flush=True)
    if REFERENCE in args.graphs:
        result = results[REFERENCE]
        for preset, learning in LEARNING.items():
            found = measure(comm, GRAPHS[REFERENCE](), "reference", learning, 3)
            del found["peak_memory_bytes"]  # that of the largest graph
            scalar = result[preset]["step_seconds"]
            result[f"{preset}, reference"] = {**found, "ratio": found["step_seconds"] / scalar}
        print(REFERENCE, json.dumps(result), flush=True)
    write_record(args.output, results)


def measure(comm, graph, name, learning, steps):
    """Return medians of the parts of a step, in seconds."""
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))  # the scalar engine takes one
    policy = make_policy("s2v", {"width": 32, "layers": 2}, seed=0)
    rows = TrainingRows([HeldRows([row_block(graph, 0, 1)])])
    problem = MinimumVertexCover()
    engine = _Timed(make_engine(name, comm, rows, problem, policy, "allgather"))
    trainer = Trainer(comm, comm, 0, 1, engine, policy, learning, seed=0)
    replay = trainer.replay
    fill(replay, permutation(graph.n, 1)[: graph.n * 99 // 100])
    replay.start_episode(0)
    fill(replay, permutation(graph.n, 2)[: graph.n // 2])
    trainer.resume(2, replay.state())
    seconds = defaultdict(list)
    for step in range(steps):
        engine.seconds.clear()
        begin, busy = time.perf_counter(), time.process_time()
        trainer.act(step)
        acted = time.perf_counter()
        trainer.learn(step, 0)
        end = time.perf_counter()
        seconds["step_seconds"].append(end - begin)
        seconds["processor_seconds"].append(time.process_time() - busy)
        seconds["act_seconds"].append(acted - begin)
        for part, spent in engine.seconds.items():
            seconds[part].append(spent)
        seconds["gradient_seconds"].append(end - acted - sum(engine.seconds.values()))
    return {
        **{part: float(np.median(values)) for part, values in seconds.items()},
        "adjacency_bytes": engine.adjacency_bytes,
        "peak_memory_bytes": host_peak_memory_bytes(),
    }


def fill(replay, nodes):
    for node in nodes.tolist():
        replay.append(node, -1 / len(nodes), value=0.0)


class _Timed:
    """An engine that notes the time of making states, and of valuing the states after them."""

    def __init__(self, engine):
        self._engine = engine
        self.seconds = {}

    def __getattr__(self, name):
        return getattr(self._engine, name)

    def states(self, graphs, prefixes):
        begin = time.perf_counter()
        states = self._engine.states(graphs, prefixes)
        self.seconds["states_seconds"] = time.perf_counter() - begin
        return _TimedStates(states, self.seconds)


class _TimedStates:
    def __init__(self, states, seconds):
        self._states, self._seconds = states, seconds

    def predicted(self, policy, actions):
        return self._states.predicted(policy, actions)

    def after(self, prefixes):
        self._begin = time.perf_counter()
        self._later = self._states.after(prefixes)
        return self

    def values(self, policy):
        values = self._later.values(policy)
        self._seconds["targets_seconds"] = time.perf_counter() - self._begin
        return values


if __name__ == "__main__":
    main()
