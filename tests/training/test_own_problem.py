from pathlib import Path

import numpy as np

import ogg_hpc
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.policies.file import load_policy
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.training.run import train

OWN = f"{Path(__file__).parents[2] / 'examples' / 'far_apart.py'}:FarApart"


def test_own_problem_is_learned_and_solved(small_settings, tmp_path):
    settings = small_settings(problem=OWN, seed=1, learning={"steps": 24})
    record = train(Communicator(), settings, tmp_path / "run")
    assert record["problem"] == "far-apart"
    assert record["references"] == {"ba14": "first policy"}
    assert record["first"]["score"] == 1.0  # by definition
    assert record["best"]["score"] <= 1.0

    path = tmp_path / "run" / "best.npz"
    assert load_policy(str(path), "far-apart").training["settings"]["problem"] == OWN
    leaves = np.arange(1, 7)
    graph = Graph.from_edges(9, [0] * 6 + [7], [*leaves, 8])  # a star and an edge
    solved = ogg_hpc.solve(graph, OWN, policy=str(path), select="one")
    assert len({7, 8} & set(solved.nodes)) == 1
    assert solved.record["objective"] == len(solved.nodes) == 2
    assert solved.record["bound"] == 2


def test_cuts_are_learned_by_a_network_that_rates_nodes(small_settings, tmp_path):
    record = train(Communicator(), small_settings(problem="maxcut"), tmp_path / "run")
    assert record["references"] == {"ba14": "optimum"}
    assert record["best"]["score"] < 1.5
    path = Graph.from_edges(5, range(4), range(1, 5))
    solved = ogg_hpc.solve(path, "maxcut", policy=str(tmp_path / "run" / "best.npz"))
    assert solved.record["objective"] == 4
    assert solved.record["steps"] == 5
