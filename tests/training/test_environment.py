import numpy as np
import pytest

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.problems.registry import problem_by_name
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.training.environment import Environment


class ByDegree:
    residual = True

    def __call__(self, batch, solution):
        degrees = batch.degrees(solution.active)
        return degrees, degrees


def environment(graph, chosen=(), problem=None):
    return Environment(
        Communicator(),
        row_block(graph, 0, 1),
        problem or MinimumVertexCover(),
        "allgather",
        np.array(chosen, np.int64),
    )


PATH = Graph.from_edges(6, [0, 1, 2, 3], [1, 2, 3, 4])


def episode(env):
    steps = []
    while (outcome := env.step(ByDegree())) is not None:
        steps.append(outcome)
    return steps


def test_each_node_of_a_cover_costs_one():
    env = environment(PATH)
    assert episode(env) == [(1, -1.0), (3, -1.0)]
    assert env.step(ByDegree()) is None
    assert np.flatnonzero(env.solution.selected[:, 0]).tolist() == [1, 3]


@pytest.mark.parametrize("taken", [0, 1, 2])
def test_episode_is_taken_up_where_it_was(taken):
    whole = episode(environment(PATH))
    assert episode(environment(PATH, [node for node, _ in whole[:taken]])) == whole[taken:]


def test_own_problem_rewards_what_it_says(tmp_path):
    own = tmp_path / "own.py"
    own.write_text(
        "from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover\n"
        "class Edges(MinimumVertexCover):\n"
        "    name = 'edges'\n"
        "    def reward(self, solution, chosen, batch):\n"
        "        # Edges that are still open at the chosen nodes, before they leave.\n"
        "        return (batch.degrees(solution.active) * chosen).sum(axis=0, keepdims=True)\n"
    )
    assert episode(environment(PATH, problem=problem_by_name(f"{own}:Edges"))) == [
        (1, 2.0),
        (3, 2.0),
    ]
