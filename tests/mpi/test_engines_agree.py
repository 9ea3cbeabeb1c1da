"""Every engine finds the reference engine's solutions, node by node, on 200 random graphs."""

import dataclasses

import networkx as nx
import numpy as np
import pytest

from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.graphs.generators import barabasi_albert, erdos_renyi, watts_strogatz
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.policies.degree_messages import TWO_MESSAGES, MessageScorer, two_messages
from ogg_hpc.policies.file import StoredPolicy
from ogg_hpc.policies.scalar_form import scalar_form
from ogg_hpc.policies.scorer import PolicyScorer
from ogg_hpc.policies.structure2vec import Structure2Vec
from ogg_hpc.policies.structure2vec_settings import Structure2VecSettings
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.search import frontier_engine
from ogg_hpc.search.frontier_engine import FrontierScorer
from ogg_hpc.search.policy_search import search
from ogg_hpc.search.scalar_search import scalar_search
from ogg_hpc.search.schedule import ONE, PAPER

NONE = np.empty(0, np.int64)


def weighted(seed):
    graph = erdos_renyi(8 + seed, 0.3, seed)
    rows, columns = np.minimum(graph.rows, graph.columns), np.maximum(graph.rows, graph.columns)
    # The same value in both directions, of either sign.
    weights = np.sin(1.0 + rows * 17 + columns * 3 + seed)
    return dataclasses.replace(graph, weights=weights)


def disconnected(seed):
    parts = [nx.gnp_random_graph(4 + seed % 9, 0.5, seed), nx.empty_graph(3), nx.cycle_graph(5)]
    return Graph.from_networkx(nx.disjoint_union_all(parts))


FAMILIES = {
    "erdos-renyi": [erdos_renyi(6 + seed % 24, 0.15, seed) for seed in range(50)],
    "barabasi-albert": [barabasi_albert(8 + seed % 20, 1 + seed % 4, seed) for seed in range(40)],
    "watts-strogatz": [watts_strogatz(8 + seed % 20, 4, 0.3, seed) for seed in range(40)],
    "star": [Graph.from_networkx(nx.star_graph(2 + k)) for k in range(10)],
    "path": [Graph.from_networkx(nx.path_graph(2 + k)) for k in range(10)],
    "disconnected": [disconnected(seed) for seed in range(30)],
    "weighted": [weighted(seed) for seed in range(20)],
}


def test_there_are_200_graphs():
    assert sum(map(len, FAMILIES.values())) == 200


def solution(comm, graph, scorer, schedule):
    batch = GraphBatch(comm, [row_block(graph, comm.rank, comm.size)])
    return search(batch, MinimumVertexCover(), scorer, schedule).solutions[0].tolist()


def structure2vec(seed, layers):
    settings = Structure2VecSettings(width=4, layers=layers, degree_unit=("one", "mean")[seed % 2])
    return Structure2Vec(settings, seed)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_scalar_engine_agrees(comm, alone, family):
    for seed, graph in enumerate(FAMILIES[family]):
        graph, schedule = graph.unweighted(), (ONE, PAPER)[seed % 2]
        policy = structure2vec(seed, 1 + seed % 2)
        arrays = {name: value.numpy() for name, value in policy.state_dict().items()}
        stored = StoredPolicy(None, "s2v", policy.describe(), arrays, "mvc", {})
        form = scalar_form(stored, 2 * graph.m / graph.n)
        block = row_block(graph, comm.rank, comm.size)
        found = scalar_search(comm, block, form, schedule, NONE).solutions[0].tolist()
        assert found == solution(alone, graph, PolicyScorer(policy), schedule)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_two_message_engine_agrees(comm, alone, family):
    for seed, graph in enumerate(FAMILIES[family]):
        graph, schedule = graph.unweighted(), (ONE, PAPER)[seed % 2]
        form = two_messages(graph.n, (0.0, 0.05)[seed // 2 % 2], **TWO_MESSAGES)
        block = row_block(graph, comm.rank, comm.size)
        found = scalar_search(comm, block, form, schedule, NONE).solutions[0].tolist()
        assert found == solution(alone, graph, MessageScorer(form), schedule)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_frontier_engine_agrees(comm, alone, family, monkeypatch):
    monkeypatch.setattr(frontier_engine, "SMALLEST_PRODUCT", 0)
    for seed, graph in enumerate(FAMILIES[family]):
        policy, schedule = structure2vec(seed, 2 + seed % 2), (ONE, PAPER)[seed % 2]
        found = solution(comm, graph, FrontierScorer(policy), schedule)
        assert found == solution(alone, graph, PolicyScorer(policy), schedule)
