import numpy as np
import pytest

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.problems.registry import problem_by_name
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.training.engine import make_engine
from ogg_hpc.training.rows import HeldRows, TrainingRows

PATH = Graph.from_edges(6, [0, 1, 2, 3], [1, 2, 3, 4])


ENGINES = pytest.mark.parametrize("engine", ["reference", "scalar"])


@pytest.fixture
def environment(degree_policy):
    def make(graph, engine, chosen=(), problem=None):
        rows = TrainingRows([HeldRows([row_block(graph, 0, 1)])])
        problem = problem or MinimumVertexCover()
        engine = make_engine(engine, Communicator(), rows, problem, degree_policy(), "allgather")
        return engine.environment(0, np.array(chosen, np.int64))

    return make


@pytest.fixture
def episode(degree_policy):
    def run(env):
        steps = []
        while (outcome := env.step(degree_policy())) is not None:
            steps.append(outcome)
        return steps

    return run


@ENGINES
def test_each_node_of_a_cover_costs_one(environment, episode, degree_policy, engine):
    env = environment(PATH, engine)
    assert episode(env) == [(1, -1.0), (3, -1.0)]
    assert env.step(degree_policy()) is None
    assert env.random_step(1) is None
    assert env.value(degree_policy()) == 0.0


@ENGINES
@pytest.mark.parametrize("taken", [0, 1, 2])
def test_episode_is_taken_up_where_it_was(environment, episode, engine, taken):
    whole = episode(environment(PATH, engine))
    again = environment(PATH, engine, [node for node, _ in whole[:taken]])
    assert episode(again) == whole[taken:]


@pytest.mark.parametrize("taken", [0, 1, 3])
def test_nodes_of_a_cut_go_to_sides_and_earn_what_they_cut(environment, episode, taken):
    cut = problem_by_name("maxcut")
    # Actions are 2 * node + side: 1 and 3 to side 0 by their degrees, then the others to side 1.
    whole = [(2, 0.0), (6, 0.0), (1, 1.0), (5, 2.0), (9, 1.0)]
    env = environment(PATH, "auto", [action for action, _ in whole[:taken]], cut)
    assert episode(env) == whole[taken:]


def test_own_problem_rewards_what_it_says(environment, episode, tmp_path):
    own = tmp_path / "own.py"
    own.write_text(
        "from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover\n"
        "class Edges(MinimumVertexCover):\n"
        "    name = 'edges'\n"
        "    def reward(self, solution, chosen, batch):\n"
        "        # Edges that are still open at the chosen nodes, before they leave.\n"
        "        return (batch.degrees(solution.active) * chosen).sum(axis=0, keepdims=True)\n"
    )
    env = environment(PATH, "auto", problem=problem_by_name(f"{own}:Edges"))
    assert episode(env) == [(1, 2.0), (3, 2.0)]
