"""A search finds the same solution on every number of ranks."""

import hashlib

import numpy as np
import pytest

from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.search.policy_search import search
from ogg_hpc.search.schedule import ONE, PAPER


class ByDegree:
    """Many ties: the order of ids decides."""

    residual = False

    def __call__(self, batch, solution):
        degrees = batch.degrees(solution.active)
        return degrees, degrees


def by_structure2vec():
    from ogg_hpc.policies.scorer import PolicyScorer
    from ogg_hpc.policies.structure2vec import Structure2Vec
    from ogg_hpc.policies.structure2vec_settings import Structure2VecSettings

    return PolicyScorer(Structure2Vec(Structure2VecSettings(width=8), seed=1))


SCORERS = {"degree": ByDegree, "structure2vec": by_structure2vec}


def solve(
    comm,
    graphs,
    scorer=None,
    schedule=ONE,
    copies=1,
    balance="rows",
    collective="allgather",
    **options,
):
    blocks = [row_block(graph, comm.rank, comm.size, balance) for graph in graphs]
    batch = GraphBatch(comm, blocks, copies, collective)
    return search(batch, MinimumVertexCover(), scorer or ByDegree(), schedule, **options)


def digest(result):
    return hashlib.sha256(b"|".join(s.tobytes() for s in result.solutions)).hexdigest()


@pytest.mark.parametrize("balance", ["rows", "edges"])
@pytest.mark.parametrize("schedule", [ONE, PAPER], ids=lambda schedule: schedule.name)
@pytest.mark.parametrize("name", SCORERS)
def test_solution_is_that_of_one_rank(comm, alone, random_graph, name, schedule, balance):
    graphs = [random_graph(n, seed=n) for n in (30, 3, 19)]
    serial = solve(alone, graphs, SCORERS[name](), schedule)
    parallel = solve(comm, graphs, SCORERS[name](), schedule, balance=balance)
    assert comm.gather_objects(digest(parallel)) == [digest(serial)] * comm.size
    assert len(parallel.step_seconds) == len(serial.step_seconds)
    for graph, solution in zip(graphs, parallel.solutions, strict=True):
        assert MinimumVertexCover().violation(graph, solution) is None


@pytest.mark.parametrize("collective", ["allgather", "allreduce"])
def test_both_strategies_choose_the_same_nodes(comm, alone, random_graph, collective):
    graphs = [random_graph(25, seed=8)]
    serial = solve(alone, graphs, by_structure2vec())
    parallel = solve(comm, graphs, by_structure2vec(), collective=collective)
    assert digest(parallel) == digest(serial)


@pytest.mark.parametrize("copies", [1, 3])
@pytest.mark.parametrize("name", SCORERS)
def test_dropping_settled_nodes_changes_nothing(comm, random_graph, name, copies):
    graphs = [random_graph(n, seed=n) for n in (24, 1, 9)]
    whole, dropping = SCORERS[name](), SCORERS[name]()
    whole.residual, dropping.residual = False, True
    expected = solve(comm, graphs, whole, copies=copies)
    assert digest(solve(comm, graphs, dropping, copies=copies)) == digest(expected)


def test_batch_finds_what_each_graph_alone_does(comm, random_graph):
    graphs = [random_graph(n, seed=n) for n in (12, 2, 20, 1)]
    together = solve(comm, graphs, schedule=PAPER)
    for graph, solution in zip(graphs, together.solutions, strict=True):
        single = solve(comm, [graph], schedule=PAPER)
        np.testing.assert_array_equal(single.solutions[0], solution)


def test_ties_go_to_the_lowest_id(comm):
    n = 9
    ring = np.arange(n)
    columns = np.sort(np.stack([(ring - 1) % n, (ring + 1) % n], axis=1), axis=1).reshape(-1)
    cycle = Graph(np.arange(0, 2 * n + 1, 2), columns.astype(np.int32))
    assert solve(comm, [cycle]).solutions[0].tolist() == [0, 2, 4, 6, 7]


def test_scores_that_differ_by_rounding_alone_tie(comm, random_graph):
    class Noisy(ByDegree):
        def __call__(self, batch, solution):
            degrees, scores = super().__call__(batch, solution)
            noise = np.random.default_rng(comm.rank).random(degrees.shape)
            return degrees, scores * (1 + 1e-12 * noise)

    graph = random_graph(20, seed=1)
    assert digest(solve(comm, [graph], Noisy())) == digest(solve(comm, [graph]))


def test_forced_nodes_come_first(comm, random_graph):
    graph = random_graph(15, seed=3)
    result = solve(comm, [graph], copies=2, forced=np.array([14, 0]))
    assert len(result.solutions) == 2
    for solution in result.solutions:
        assert solution[:2].tolist() == [14, 0]
        assert MinimumVertexCover().violation(graph, solution) is None


def test_steps_are_reported_with_the_candidates_left(comm, random_graph):
    steps = []
    graph = random_graph(12, seed=6)
    result = solve(comm, [graph], on_step=lambda *step: steps.append(step))
    assert [number for number, _ in steps] == list(range(1, len(result.solutions[0]) + 1))
    assert steps[0][1].tolist() == [np.count_nonzero(graph.degrees)]
    lefts = [int(left[0]) for _, left in steps]
    assert lefts == sorted(lefts, reverse=True)


def test_graphs_without_edges_end_at_once(comm):
    result = solve(comm, [Graph(np.zeros(4, np.int64), np.empty(0, np.int32))])
    assert result.solutions[0].shape == (0,)
    assert result.step_seconds == []
