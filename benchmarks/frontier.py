"""Whole episodes by the frontier engine and by the reference engine.

Vertex covers, one node a step, one rank, structure2vec of three layers and width 32 with random
parameters. The frontier engine runs each episode. On small graphs the reference engine runs it
too, several times in turn with the other; on the rest its step is measured at *stations* along
the frontier's episode, on the very same masks and batch, and integrated over the steps between.
There the two engines' scores are compared as well. Times are CPU seconds of one thread, so that
other work on the machine does not count.

Use: python benchmarks/frontier.py [--graphs NAME …] [--facebook FOLDER] [--push-cost COST]
                                   [--output frontier.json]
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
from common import write_record

from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.graphs.generators import barabasi_albert, erdos_renyi, watts_strogatz
from ogg_hpc.graphs.readers import read_graph
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.policies.scorer import PolicyScorer
from ogg_hpc.policies.structure2vec import Structure2Vec
from ogg_hpc.policies.structure2vec_settings import Structure2VecSettings
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.runtime.launch import start
from ogg_hpc.search import frontier_engine
from ogg_hpc.search.frontier_engine import FrontierScorer
from ogg_hpc.search.policy_search import search

GRAPHS = {
    "ER 20, p = 0.15": lambda: erdos_renyi(20, 0.15, 1),
    "ER 100, p = 0.15": lambda: erdos_renyi(100, 0.15, 1),
    "ER 250, p = 0.15": lambda: erdos_renyi(250, 0.15, 1),
    "ER 500, p = 0.15": lambda: erdos_renyi(500, 0.15, 1),
    "BA 100, d = 4": lambda: barabasi_albert(100, 4, 1),
    "BA 250, d = 4": lambda: barabasi_albert(250, 4, 1),
    "WS 100,000, k = 4, p = 0.1": lambda: watts_strogatz(100_000, 4, 0.1, 1),
    "BA 100,000, d = 4": lambda: barabasi_albert(100_000, 4, 1),
}
SMALL = 1_000  # nodes up to which the reference runs whole episodes
REPEATS = 7
STATIONS = 40  # if every node were chosen


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", nargs="*", default=list(GRAPHS))
    parser.add_argument("--facebook", type=Path, help="folder with socfb-Vanderbilt48.mtx")
    parser.add_argument("--push-cost", type=float, default=frontier_engine.PUSH_COST)
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".json"))
    args = parser.parse_args()
    frontier_engine.PUSH_COST = args.push_cost
    comm = start("cpu")
    torch.set_num_threads(1)
    policy = Structure2Vec(Structure2VecSettings(width=32, layers=3, degree_unit="mean"), seed=1)

    graphs = {name: GRAPHS[name] for name in args.graphs}
    if args.facebook:
        path = args.facebook / "socfb-Vanderbilt48.mtx"
        graphs["Vanderbilt48"] = lambda: read_graph(path)
    results = {}
    whole(comm, policy, erdos_renyi(20, 0.15, 1))  # warm up
    for name, make in graphs.items():
        graph = make()
        measure = whole if graph.n <= SMALL else at_stations
        results[name] = {"nodes": graph.n, "edges": graph.m, **measure(comm, policy, graph)}
        print(name, json.dumps(results[name]), flush=True)
    write_record(args.output, results)


def episode(comm, graph, scorer):
    batch = GraphBatch(comm, [row_block(graph, 0, 1)])
    begin = time.process_time()
    result = search(batch, MinimumVertexCover(), scorer)
    return time.process_time() - begin, result


def whole(comm, policy, graph):
    """Run whole episodes by both engines in turn; take the fastest of each."""
    seconds = {PolicyScorer: [], FrontierScorer: []}
    for _ in range(REPEATS):
        for kind, times in seconds.items():
            taken, result = episode(comm, graph, kind(policy))
            times.append(taken)
    return comparison(
        len(result.step_seconds), min(seconds[FrontierScorer]), min(seconds[PolicyScorer])
    )


def at_stations(comm, policy, graph):
    """Run an episode by the frontier engine; measure the reference's step at stations on it."""
    scorer = Stations(policy, max(1, graph.n // STATIONS))
    taken, result = episode(comm, graph, scorer)
    frontier = taken - scorer.aside
    steps = len(result.step_seconds)
    # A step of the reference is one of the search with another scorer.
    besides = frontier - scorer.seconds
    at, reference = np.array(scorer.stations).T
    reference = besides + np.trapezoid([*reference, reference[-1]], [*at, steps])
    return {
        **comparison(steps, frontier, reference),
        "stations": len(at),
        "largest_relative_difference_of_scores": scorer.difference,
    }


def comparison(steps, frontier, reference):
    return {
        "steps": steps,
        "frontier_seconds": frontier,
        "reference_seconds": reference,
        "ratio": reference / frontier,
    }


class Stations:
    """Scores by the frontier engine; each so many steps, the reference scores the same masks."""

    def __init__(self, policy, every):
        self.residual = policy.residual
        self._frontier, self._reference = FrontierScorer(policy), PolicyScorer(policy)
        self._every = every
        self._step = 0
        self.seconds = self.aside = self.difference = 0.0
        self.stations = []

    def __call__(self, batch, solution):
        """Return the frontier engine's degrees and scores."""
        begin = time.process_time()
        degrees, scores = self._frontier(batch, solution)
        end = time.process_time()
        self.seconds += end - begin
        if self._step % self._every == 0:
            times = []
            for _ in range(3):
                start = time.process_time()
                _, expected = self._reference(batch, solution)
                times.append(time.process_time() - start)
            self.stations.append((self._step, min(times)))
            difference = np.abs(scores - expected).max() / np.abs(expected).max()
            self.difference = max(self.difference, difference)
            self.aside += time.process_time() - end
        self._step += 1
        return degrees, scores


if __name__ == "__main__":
    main()
