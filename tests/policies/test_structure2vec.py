"""structure2vec on graphs so small that equations (1) and (2) are worked by hand."""

import numpy as np
import pytest
import torch

from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.policies.scorer import PolicyScorer
from ogg_hpc.policies.structure2vec import Structure2Vec
from ogg_hpc.policies.structure2vec_settings import Structure2VecSettings
from ogg_hpc.problems.problem import PartialSolution
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.search.policy_search import start_solution


def relu(x):
    return max(x, 0.0)


def make(layers, graph_term="sum", degree_unit="one", **thetas):
    policy = Structure2Vec(Structure2VecSettings(1, layers, graph_term, degree_unit))
    for name, value in thetas.items():
        parameter = getattr(policy, name)
        parameter.data = torch.tensor(value, dtype=torch.float64).reshape(parameter.shape)
    return policy


def batch_of(*graphs, copies=1):
    return GraphBatch(Communicator(), [row_block(graph, 0, 1) for graph in graphs], copies)


def column(values):
    return np.array(values, bool)[:, None]


def path(weights=None):
    """The path 0 - 1 - 2."""
    return Graph.from_edges(3, [0, 1], [1, 2], weights)


def scores(policy, batch, solution):
    with torch.no_grad():
        return policy(batch, solution).numpy()


def test_path_of_three_nodes():
    t1, t2, t3, t4, t5, t6, t7a, t7b = 0.7, 0.5, 1.5, -0.25, 0.3, 2.0, -1.0, 0.8
    policy = make(2, theta1=t1, theta2=t2, theta3=t3, theta4=t4, theta5=t5, theta6=t6,
                  theta7=[t7a, t7b])  # fmt: skip
    batch = batch_of(path())
    # Degrees 1, 2, 1; nothing is selected.
    end = relu(t3 * 1 * relu(t2))
    middle = relu(t3 * 2 * relu(t2))
    end, middle = (
        relu(t3 * 1 * relu(t2) + t4 * middle),
        relu(t3 * 2 * relu(t2) + t4 * 2 * end),
    )
    shared = t7a * relu(t5 * (2 * end + middle))
    expected = [shared + t7b * relu(t6 * end), shared + t7b * relu(t6 * middle)]
    found = scores(policy, batch, start_solution(batch))[:, 0]
    np.testing.assert_allclose(found, [expected[0], expected[1], expected[0]], rtol=1e-14)
    assert expected[0] != expected[1]

    # Node 0 is selected and leaves: its x counts, its edge does not.
    first = relu(t1)
    other = relu(t3 * relu(t2))
    first, other = relu(t1), relu(t3 * relu(t2) + t4 * other)
    shared = t7a * relu(t5 * (first + 2 * other))
    solution = PartialSolution(column([1, 0, 0]), column([0, 1, 1]))
    found = scores(policy, batch, solution)[:, 0]
    expected = [shared + t7b * relu(t6 * e) for e in (first, other, other)]
    np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize("theta2", [0.5, -0.5])
def test_negative_weights_pass_the_inner_relu(theta2):
    w01, w12 = 2.0, -3.0
    policy = make(1, theta2=theta2, theta3=1.0, theta5=0.0, theta6=1.0, theta7=[0.0, 1.0])
    batch = batch_of(path([w01, w12]))
    found = scores(policy, batch, start_solution(batch))[:, 0]
    left, right = relu(theta2 * w01), relu(theta2 * w12)
    np.testing.assert_allclose(found, [left, left + right, right], rtol=1e-14)
    assert sorted([left, right])[0] == 0 < sorted([left, right])[1]


@pytest.mark.parametrize(("graph_term", "divisor"), [("sum", 1), ("mean", 3)])
def test_graph_term(graph_term, divisor):
    policy = make(1, graph_term, theta2=1.0, theta3=1.0, theta5=1.0, theta6=0.0, theta7=[1.0, 0.0])
    batch = batch_of(path(), Graph.from_edges(2, [0], [1]))
    found = scores(policy, batch, start_solution(batch))[:, 0]
    of_pair = 2 / (1 if graph_term == "sum" else 2)
    np.testing.assert_allclose(found, [4 / divisor] * 3 + [of_pair] * 2, rtol=1e-14)


def test_mean_degree_as_unit_of_sums_over_neighbours():
    policy = make(2, degree_unit="mean", theta1=1.0, theta2=1.0, theta3=1.0, theta4=1.0)
    batch = batch_of(path(), Graph.from_edges(2, [0], [1]), Graph.from_edges(1, [], []))
    with torch.no_grad():
        embedding = policy.embed(batch, start_solution(batch)).numpy()[:, 0, 0]
    unit = 4 / 3  # of the path; that of the pair is 1
    end, middle = 1 / unit, 2 / unit
    expected = [end + middle / unit, middle + 2 * end / unit, end + middle / unit, 2, 2, 0]
    np.testing.assert_allclose(embedding, expected, rtol=1e-14)
    # The unit is that of the whole graph, whatever has left it; x has no unit.
    with torch.no_grad():
        left = PartialSolution(column([1, 0, 0, 0, 0, 0]), column([0, 1, 1, 1, 1, 1]))
        embedding = policy.embed(batch, left).numpy()[:3, 0, 0]
    np.testing.assert_allclose(embedding, [1, end + end / unit, end + end / unit], rtol=1e-14)


def test_preferences_differ_from_scores_by_one_number_a_graph():
    graphs = [path([1.0, -2.0]), Graph.from_edges(5, [0, 0, 2, 3], [1, 2, 3, 4], [1, 2, -1, 3])]
    batch = batch_of(*graphs, copies=2)
    policy = Structure2Vec(Structure2VecSettings(width=6, layers=3), seed=2)
    solution = start_solution(batch)
    chosen = batch.mask(np.array([0, 1, 1]), np.array([1, 2, 0]), np.array([0, 1, 0]))
    solution.selected |= chosen
    solution.active &= ~chosen
    degrees, preferences = PolicyScorer(policy)(batch, solution)
    np.testing.assert_array_equal(degrees, batch.degrees(solution.active))
    difference = scores(policy, batch, solution) - preferences
    constants = set()
    for graph in range(2):
        for copy in range(2):
            of_group = difference[batch.graph_of == graph, copy]
            np.testing.assert_allclose(of_group, of_group[0], rtol=0, atol=1e-14)
            constants.add(round(of_group[0], 12))
    assert len(constants) == 4


def test_isolated_node_has_no_embedding():
    policy = make(2, theta2=1.0, theta3=1.0, theta4=1.0)
    batch = batch_of(Graph.from_edges(3, [0], [1]))
    with torch.no_grad():
        embedding = policy.embed(batch, start_solution(batch)).numpy()
    assert embedding[:, 0, 0].tolist() == [2.0, 2.0, 0.0]
