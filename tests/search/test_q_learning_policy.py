"""The shipped policy of deep Q-learning against the greedy heuristics, one node a step."""

import numpy as np
import pytest

import ogg_hpc
from ogg_hpc.training.graphs import generate
from ogg_hpc.training.settings import GraphSource

# None of these seeds is trained or validated on.
HELD_OUT = [
    GraphSource("er", nodes=150, p=0.15, count=16, seed=77),
    GraphSource("ba", nodes=300, d=4, count=16, seed=77),
    GraphSource("girg", nodes=300, d=30, count=16, seed=77),
]
HEURISTICS = [
    "max-degree",
    "min-degree",
    *(f"inverse-degree:{exponent}" for exponent in (1, 1.25, 1.5, 2, 3)),
]


@pytest.mark.parametrize("source", HELD_OUT, ids=lambda source: source.name)
def test_covers_are_no_larger_than_those_of_any_heuristic_on_each_family(source):
    graphs = list(generate(source))

    def mean_size(policy):
        solved = [ogg_hpc.solve(g, policy=policy, select="one", reduce=False) for g in graphs]
        return np.mean([each.record["objective"] for each in solved])

    learned = mean_size("mvc-dqn")
    assert all(learned <= mean_size(heuristic) for heuristic in HEURISTICS)
