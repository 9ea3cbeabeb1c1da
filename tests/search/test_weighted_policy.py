"""The shipped policy for weighted covers against the plain methods."""

import networkx as nx
import numpy as np
import pytest

import ogg_hpc
from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.training.graphs import generate
from ogg_hpc.training.settings import GraphSource

# None of these seeds is trained or validated on.
HELD_OUT = [
    GraphSource("er", nodes=100, p=0.15, count=4, seed=77, heaviest=100),
    GraphSource("ba", nodes=300, d=4, count=4, seed=77, heaviest=100),
    GraphSource("ba", nodes=300, d=4, count=4, seed=77, lightest=20, heaviest=120),
    GraphSource("girg", nodes=300, d=20, count=4, seed=77, lightest=20, heaviest=120),
]


def solved(graph, problem, policy):
    return ogg_hpc.solve(graph, problem, policy=policy, reduce=False).record


@pytest.mark.parametrize("source", HELD_OUT, ids=lambda source: f"{source.name}{source.lightest}")
def test_policy_finds_lighter_covers_than_greedy_and_local_ratio(source):
    for plain in ("degree-weight", "local-ratio"):
        ratios = [
            solved(graph, "mwvc", None)["objective"] / solved(graph, "mwvc", plain)["objective"]
            for graph in generate(source)
        ]
        assert np.mean(ratios) < 1


@pytest.mark.parametrize("plain", ["gwmin", "degree-weight", "local-ratio"])
def test_policy_finds_heavier_sets_than_plain_methods(plain):
    ratios = []
    for graph in generate(HELD_OUT[1]):
        record = solved(graph, "mwis", None)
        assert record["policy"] == "mwvc"
        assert record["objective"] <= record["bound"]
        ratios.append(record["objective"] / solved(graph, "mwis", plain)["objective"])
    assert np.mean(ratios) > 1


def test_complements_are_solved_around_the_policy_too():
    path = Graph.from_networkx(nx.path_graph(6)).with_node_weights([1, 5, 2, 2, 5, 1])
    for problem, nodes, value in (("mwis", [1, 4], 10), ("mwvc", [0, 2, 3, 5], 6)):
        found = ogg_hpc.solve(path, problem)
        assert found.nodes == nodes
        assert (found.record["objective"], found.record["bound"]) == (value, value)
        assert found.record["optimal"]
        polished = ogg_hpc.solve(path, problem, reduce=False, polish=0.05)
        assert polished.record["objective"] == value


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("engine", ["scalar", "reference"])
@pytest.mark.parametrize("light", [1e-20, 1e-40, 1e-320])
def test_edges_between_nodes_of_hardly_any_weight_are_covered(light, engine):
    path = Graph.from_networkx(nx.path_graph(4)).with_node_weights([1e3, light, light, 1e3])
    found = ogg_hpc.solve(path, "mwvc", reduce=False, engine=engine)
    assert found.nodes == [1, 2]


def test_policy_without_weights_does_not_play_weighted_covers():
    with pytest.raises(SettingsError, match="reads no weights"):
        ogg_hpc.solve(nx.path_graph(4), "mwvc", policy="two-message")
