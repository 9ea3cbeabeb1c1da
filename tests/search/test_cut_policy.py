"""The shipped policy for maximum cut against SG3 with single moves after it."""

import numpy as np
import pytest

import ogg_hpc
from ogg_hpc.graphs.readers import read_graph
from ogg_hpc.problems.maximum_cut import MaximumCut
from ogg_hpc.training.graphs import generate
from ogg_hpc.training.settings import GraphSource

CUT = MaximumCut()
# None of these seeds is trained or validated on.
HELD_OUT = [
    GraphSource("er", nodes=300, p=0.05, count=4, seed=77),
    GraphSource("er", nodes=301, p=0.15, count=4, seed=77),
    GraphSource("er", nodes=600, p=0.008, count=4, seed=77),
    GraphSource("torus", nodes=324, weights="signs", count=4, seed=77),
    GraphSource("planar", nodes=300, d=2, count=4, seed=77),
    GraphSource("planar", nodes=300, d=2, weights="signs", count=4, seed=77),
    GraphSource("ba", nodes=300, d=3, count=4, seed=77),
]
BEST_KNOWN = {
    "G1": 11624,
    "G14": 3064,
    "G22": 13359,
    "G32": 1410,
    "G39": 2408,
    "G43": 6660,
    "G55": 10299,
}


def cut(graph, policy):
    return ogg_hpc.solve(graph, "maxcut", policy=policy).record["objective"]


@pytest.mark.parametrize("source", HELD_OUT, ids=lambda source: source.name)
def test_policy_cuts_more_than_greedy_on_each_family(source):
    graphs = list(generate(source))
    ratios = [cut(graph, "maxcut") / cut(graph, "sg3") for graph in graphs]
    assert np.mean(ratios) > 1


@pytest.mark.parametrize("name", BEST_KNOWN)
def test_policy_cuts_more_than_greedy_on_a_real_graph(shared_data, name):
    graph = read_graph(shared_data / "gset" / f"{name}.txt")
    value = cut(graph, None)
    assert value > cut(graph, "sg3")
    assert value >= 0.975 * BEST_KNOWN[name]
