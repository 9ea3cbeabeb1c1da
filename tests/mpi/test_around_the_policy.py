"""Reductions before the policy and polish after it, on every number of ranks."""

import networkx as nx
import numpy as np
import pytest

import ogg_hpc
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.search.polish import polish

MVC = MinimumVertexCover()
HARD = Graph.from_networkx(nx.random_regular_graph(7, 100, seed=2))  # no reduction applies


def test_reduced_graph_is_solved_alike(comm, alone):
    easy = nx.barabasi_albert_graph(300, 2, seed=1)
    graph = Graph.from_networkx(nx.disjoint_union(nx.random_regular_graph(7, 100, seed=2), easy))
    mine = ogg_hpc.solve(graph, comm=comm)
    serial = ogg_hpc.solve(graph, comm=alone)
    assert mine.nodes == serial.nodes
    reduced = mine.record["reduced"]
    assert (reduced["nodes"], reduced["edges"]) == (100, 350)
    assert reduced["seconds"] == mine.record["seconds"]["reduce"]
    # The kernel's bound is the tighter one.
    assert MVC.bound(graph) <= mine.record["bound"] <= mine.record["objective"]
    whole = ogg_hpc.solve(graph, reduce=False, comm=comm).record
    assert (whole["reduced"]["nodes"], whole["bound"]) == (400, MVC.bound(graph))


def test_clique_is_that_of_the_kernel_on_every_number_of_ranks(comm, alone):
    # The complement would take 1.5 GiB; no search gets through the dense part.
    hard, sparse = nx.gnp_random_graph(300, 0.9, seed=1), nx.cycle_graph(20_000)
    graph = Graph.from_networkx(nx.disjoint_union(hard, sparse))
    mine = ogg_hpc.solve(graph, "clique", comm=comm)
    assert mine.nodes == ogg_hpc.solve(graph, "clique", comm=alone).nodes
    assert mine.record["reduced"]["nodes"] == 300
    assert 40 < mine.record["objective"] <= mine.record["bound"] < 300


def test_graph_that_reductions_solve_is_proven_optimal(comm):
    solved = ogg_hpc.solve(nx.karate_club_graph(), comm=comm)
    record = solved.record
    assert (record["objective"], record["bound"], record["gap"]) == (14, 14, 0)
    assert record["optimal"] is True
    assert (record["reduced"]["nodes"], record["steps"]) == (0, 0)


@pytest.mark.parametrize("reduce", [True, False])
def test_polish_gives_all_ranks_one_answer_no_worse(comm, reduce):
    plain = ogg_hpc.solve(HARD, comm=comm, policy="max-degree", reduce=reduce).record
    solved = ogg_hpc.solve(HARD, comm=comm, policy="max-degree", reduce=reduce, polish=0.2)
    assert MVC.violation(HARD, np.array(solved.nodes)) is None
    assert solved.record["objective"] < plain["objective"]
    assert solved.record["seconds"]["polish"] >= 0.2
    assert comm.gather_objects(solved.nodes) == [solved.nodes] * comm.size


class OneAnswer(MinimumVertexCover):
    """Answers once, and only rank 1's answer, or the only rank's, is better."""

    def __init__(self, comm):
        self.better = comm.rank == min(1, comm.size - 1)
        self.seeds = []

    def polish(self, graph, nodes, seed):
        self.seeds.append(seed)
        yield nodes[:-1] if self.better else nodes


def test_best_answer_of_all_ranks_is_kept_and_seeds_differ(comm):
    problem, nodes = OneAnswer(comm), np.arange(HARD.n)
    graph, bound = HARD if comm.rank == 0 else None, problem.bound(HARD)
    found = polish(comm, problem, graph, nodes, bound, 5.0, seed=3)
    assert found.tolist() == nodes[:-1].tolist()
    assert len(set(comm.gather_objects(tuple(problem.seeds)))) == comm.size


def test_polish_ends_at_once_where_the_bound_is_met(comm):
    star = Graph.from_networkx(nx.star_graph(5))
    problem = OneAnswer(comm)
    found = polish(comm, problem, star, np.array([0]), problem.bound(star), 60.0, seed=0)
    assert (found.tolist(), problem.seeds) == ([0], [])


def test_polish_ends_on_all_ranks_when_one_is_asked_to_stop(comm):
    asked = []

    def stop():
        asked.append(len(asked) == 2)
        return comm.rank == comm.size - 1 and len(asked) > 2

    start = np.arange(HARD.n)
    found = polish(comm, MVC, HARD, start, 0.0, 600.0, seed=3, stop=stop)
    assert len(asked) == 3
    assert MVC.violation(HARD, found) is None
    assert len(found) < HARD.n
    assert comm.gather_objects(found.tolist()) == [found.tolist()] * comm.size


class Ended(MinimumVertexCover):
    """On rank 0 the search ends by itself."""

    def __init__(self, comm):
        self.rank, self.answers = comm.rank, 0

    def polish(self, graph, nodes, seed):
        while self.rank > 0:
            self.answers += 1
            yield nodes


def test_polish_goes_on_while_any_rank_searches(comm):
    problem = Ended(comm)
    polish(comm, problem, HARD, np.arange(HARD.n), 0.0, 0.3, seed=3)
    assert comm.rank == 0 or problem.answers > 2


def test_any_number_of_graphs_is_solved_by_samples(comm, monkeypatch):
    monkeypatch.setattr(type(comm), "split", None)  # as MPI has so many communicators and no more
    record = ogg_hpc.solve(nx.path_graph(9), comm=comm, samples=3, reduce=False).record
    assert (record["objective"], record["samples"]) == (4, 3)


def test_samples_are_the_same_on_every_number_of_ranks(comm, alone):
    settings = {"samples": 5, "reduce": False, "seed": 2}
    mine = ogg_hpc.solve(HARD, comm=comm, **settings)
    serial = ogg_hpc.solve(HARD, comm=alone, **settings)
    assert mine.nodes == serial.nodes
    assert mine.record["steps"] == serial.record["steps"]
