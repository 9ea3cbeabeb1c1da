"""Two-message policies that read weights of nodes: the engine and the plain reference agree."""

import numpy as np
import pytest
from small_graphs import GRAPHS

import ogg_hpc
from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.graphs.generators import with_random_node_weights
from ogg_hpc.graphs.row_block import row_block, scatter_rows
from ogg_hpc.policies.degree_messages import (
    TWO_MESSAGES,
    WEIGHTED_NETWORK,
    MessageScorer,
    two_messages,
)
from ogg_hpc.policies.file import save_parameters
from ogg_hpc.problems import problem_by_name
from ogg_hpc.search.networks import NETWORKS
from ogg_hpc.search.policy_search import search
from ogg_hpc.search.scalar_search import scalar_search
from ogg_hpc.search.schedule import ONE, PAPER

MWVC = problem_by_name("mwvc")
WEIGHTS = np.array([0.8, 0.4, -1.1])
NONE = np.empty(0, np.int64)


def weighted(name):
    return with_random_node_weights(GRAPHS[name], 1, 100, seed=3)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize(("schedule", "refresh_above"), [(ONE, 0.0), (PAPER, 0.05)])
def test_covers_are_those_of_the_reference(comm, alone, name, schedule, refresh_above):
    graph = weighted(name)
    form = two_messages(graph.n, refresh_above, **TWO_MESSAGES, weights=WEIGHTS)
    batch = GraphBatch(alone, [row_block(graph, 0, 1)])
    expected = search(batch, MWVC, MessageScorer(form), schedule)
    found = scalar_search(comm, row_block(graph, comm.rank, comm.size), form, schedule, NONE)
    assert found.solutions[0].tolist() == expected.solutions[0].tolist()
    assert MWVC.violation(graph, found.solutions[0]) is None


def test_reference_scores_each_graph_of_a_batch_by_its_own_weights(comm, alone):
    graphs = [weighted("er-2"), GRAPHS["star"], weighted("ba-2")]
    form = two_messages(100, 0.0, **TWO_MESSAGES, weights=WEIGHTS)
    together = GraphBatch(comm, [row_block(graph, comm.rank, comm.size) for graph in graphs])
    found = search(together, MWVC, MessageScorer(form), ONE).solutions
    for graph, nodes in zip(graphs, found, strict=True):
        batch = GraphBatch(alone, [row_block(graph, 0, 1)])
        assert nodes.tolist() == search(batch, MWVC, MessageScorer(form), ONE).solutions[0].tolist()


def by_the_formula(graph, numbers):
    """Choose by the score of inverse-degree greedy with weights, in plain loops."""
    weight = graph.node_weights / graph.node_weights.max()
    neighbours = {v: set(graph.neighbours(v).tolist()) for v in range(graph.n)}
    cover = []
    while any(neighbours.values()):
        degree = {v: len(of) for v, of in neighbours.items() if of}
        score = {
            v: sum(weight[u] * degree[u] ** numbers[0] for u in neighbours[v]) / weight[v]
            for v in degree
        }
        cover.append(max(score, key=lambda v: (round(score[v], 9), -v)))
        for u in neighbours.pop(cover[-1]):
            neighbours[u].discard(cover[-1])
    return cover


@pytest.mark.parametrize("name", ["er-2", "ba-2", "ws-2"])
def test_evolution_starts_from_inverse_degree_greedy_by_weight(comm, name):
    graph, network = weighted(name), NETWORKS[WEIGHTED_NETWORK]
    start = np.array(network.start)
    form = two_messages(graph.n, 0.0, **network.parameter_arrays(start))
    found = scalar_search(comm, row_block(graph, comm.rank, comm.size), form, ONE, NONE)
    assert found.solutions[0].tolist()[:8] == by_the_formula(graph, start)[:8]


def test_rows_and_batches_carry_the_weights(comm):
    graph = weighted("er-2")
    block = scatter_rows(comm, graph if comm.rank == 0 else None)
    assert block.node_weights.tolist() == graph.node_weights.tolist()
    mask = np.zeros((graph.n, 2), bool)
    mask[[3, 7], 0] = True
    assert scatter_rows(comm, GRAPHS["er-2"]).node_weights is None
    for weights, batch in (
        (graph.node_weights, GraphBatch(comm, [block], copies=2)),
        (np.ones(graph.n), GraphBatch(comm, [scatter_rows(comm, GRAPHS["er-2"])], copies=2)),
    ):
        assert batch.weight(mask).tolist() == [[weights[3] + weights[7], 0]]


@pytest.mark.parametrize("problem", ["mwvc", "mwis"])
@pytest.mark.parametrize("engine", ["scalar", "reference"])
def test_solve_is_the_same_on_any_number_of_ranks(comm, alone, tmp_path, problem, engine):
    network = NETWORKS[WEIGHTED_NETWORK]
    arrays = network.parameter_arrays(np.array(network.start))
    file = tmp_path / "weighted.npz"
    save_parameters(file, WEIGHTED_NETWORK, {}, arrays, "mwvc", {})
    graph = weighted("er-2")
    settings = {"policy": str(file), "engine": engine, "reduce": engine == "scalar"}
    one = ogg_hpc.solve(graph, problem, comm=alone, **settings)
    all_ranks = ogg_hpc.solve(graph, problem, comm=comm, **settings)
    assert all_ranks.nodes == one.nodes
    assert one.record["feasible"]
    nodes = graph.ids_of(one.nodes)
    assert one.record["objective"] == graph.node_weights[nodes].sum()
    sign = -1 if problem == "mwis" else 1
    assert sign * one.record["bound"] <= sign * one.record["objective"]
