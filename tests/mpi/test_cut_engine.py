"""Tentative sides: the engine cuts as the plain reference does, on any ranks and weights."""

from pathlib import Path

import numpy as np
import pytest
from small_graphs import GRAPHS

from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.policies.cut_messages import CutMessageScorer, cut_message_form
from ogg_hpc.policies.file import StoredPolicy
from ogg_hpc.problems.maximum_cut import MaximumCut
from ogg_hpc.search.cut_engine import cut_search
from ogg_hpc.search.policy_search import search

CUT = MaximumCut()
POLICIES = {
    "usual": ([-0.3, 0.6, -1.2], [0.8, 0.7], [0.3]),
    "greedy": ([-20, 0.5, 0.0], [0, 0], [0.0]),
    "beyond bounds": ([1e8, -1e8, 1e8], [-1e8, 1e8], [1e8]),
}
WEIGHTS = {
    "none": lambda generator, count: None,
    "signs": lambda generator, count: generator.choice([-1.0, 1.0], count),
    "whole": lambda generator, count: generator.integers(-7, 9, count),
    "real": lambda generator, count: generator.normal(size=count) * 1e-3,
    "tiny": lambda generator, count: generator.normal(size=count) * 1e-290,
    "zero": lambda generator, count: np.zeros(count),
}


def form_of(policy, refresh_above):
    field, memory, score = map(np.array, POLICIES[policy])
    arrays = {"field": field, "memory": memory, "score": score}
    stored = StoredPolicy(Path(), "cut-messages", {}, arrays, "maxcut", {})
    return cut_message_form(stored, refresh_above)


def weighted(name, weights):
    graph = GRAPHS[name]
    u, v, _ = graph.edges()
    return Graph.from_edges(graph.n, u, v, WEIGHTS[weights](np.random.default_rng(1), len(u)))


def reference(comm, graph, form, copies=1):
    batch = GraphBatch(comm, [row_block(graph, comm.rank, comm.size)], copies)
    return search(batch, CUT, CutMessageScorer(form))


def sides(result):
    return [nodes.tolist() for nodes in result.solutions]


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize(
    ("weights", "refresh_above"), [("none", 0.05), ("signs", 0.02), ("whole", 0.3), ("real", 0.0)]
)
def test_cuts_are_those_of_the_reference(comm, alone, name, weights, refresh_above):
    graph, form = weighted(name, weights), form_of("usual", refresh_above)
    expected = reference(alone, graph, form)
    found = cut_search(comm, row_block(graph, comm.rank, comm.size), form)
    assert sides(found) == sides(expected)
    assert len(found.step_seconds) == len(expected.step_seconds)
    assert len(found.step_seconds) == np.count_nonzero(graph.degrees)


@pytest.mark.parametrize("weights", ["none", "real"])
def test_the_reference_does_not_depend_on_the_ranks(comm, alone, weights):
    graph, form = weighted("er-2", weights), form_of("usual", 0.02)
    assert sides(reference(comm, graph, form)) == sides(reference(alone, graph, form))


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("weights", ["tiny", "zero", "whole"])
def test_no_weights_and_no_parameters_are_beyond_the_engine(comm, alone, policy, weights):
    graph, form = weighted("ba-2", weights), form_of(policy, 0.05)
    expected = reference(alone, graph, form)
    found = cut_search(comm, row_block(graph, comm.rank, comm.size, "edges"), form)
    assert sides(found) == sides(expected)


def test_graphs_in_a_batch_are_cut_as_if_alone(alone):
    form = form_of("usual", 0.02)
    graphs = [weighted("er-2", "real"), weighted("star", "none"), weighted("ws-2", "signs")]
    batch = GraphBatch(alone, [row_block(graph, 0, 1) for graph in graphs])
    together = sides(search(batch, CUT, CutMessageScorer(form)))
    assert together == [side for graph in graphs for side in sides(reference(alone, graph, form))]
    assert sides(reference(alone, graphs[0], form, copies=2)) == together[:1] * 2


def test_a_step_is_one_collective_as_long_as_few_messages_move(comm):
    if comm.size == 1:
        pytest.skip("nothing is sent on one rank")
    graph = weighted("er-2", "signs")
    comm.counts.clear()
    block = row_block(graph, comm.rank, comm.size)
    result = cut_search(comm, block, form_of("usual", np.inf))
    assert comm.counts["allgatherv"].calls == len(result.step_seconds)
