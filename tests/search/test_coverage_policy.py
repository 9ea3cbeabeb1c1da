"""The shipped policy for dominating set against greedy, both without their redundant nodes."""

import numpy as np
import pytest

import ogg_hpc
from ogg_hpc.graphs.generators import barabasi_albert
from ogg_hpc.problems.graph_input import read_undirected
from ogg_hpc.training.graphs import generate
from ogg_hpc.training.settings import GraphSource

# None of these seeds is trained or validated on.
HELD_OUT = [
    GraphSource("er", nodes=100, p=0.05, count=8, seed=77),
    GraphSource("ba", nodes=200, d=3, count=8, seed=77),
    GraphSource("ws", nodes=150, d=6, p=0.1, count=8, seed=77),
    GraphSource("regular", nodes=150, d=3, count=8, seed=77),
    GraphSource("plc", nodes=200, d=4, p=0.6, count=8, seed=77),
    GraphSource("girg", nodes=300, d=12, count=8, seed=77),
]


def size(graph, policy, select="one"):
    solved = ogg_hpc.solve(graph, "mds", policy=policy, select=select, reduce=False)
    return solved.record["objective"]


@pytest.mark.parametrize("source", HELD_OUT, ids=lambda source: source.name)
def test_sets_are_smaller_than_those_of_greedy_on_each_family(source):
    graphs = list(generate(source))
    greedy = np.mean([size(graph, "greedy") for graph in graphs])
    for select in ("one", "adaptive"):
        assert np.mean([size(graph, None, select) for graph in graphs]) < greedy


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("mvc/jazz.graph", 13),
        ("mvc/email.graph", 214),
        ("mvc/power.graph", 1500),
        ("socfb/socfb-Caltech36.mtx", 63),
        ("socfb/socfb-Reed98.mtx", 79),
        ("socfb/socfb-Simmons81.mtx", 110),
    ],
)
def test_sets_are_smaller_than_those_of_greedy_on_a_real_graph(shared_data, name, most):
    graph = read_undirected(str(shared_data / name), None, False)
    for select in ("one", "adaptive"):
        found = size(graph, None, select)
        assert found < size(graph, "greedy")
        assert found <= most


def test_one_node_a_step_is_the_default_and_more_are_on_demand():
    graph = barabasi_albert(2000, 2, seed=3)
    assert ogg_hpc.solve(graph, "mds").record["select"] == "one"
    adaptive = ogg_hpc.solve(graph, "mds", select="adaptive").record
    assert adaptive["select"] == "adaptive"
    assert adaptive["steps"] < adaptive["objective"]
