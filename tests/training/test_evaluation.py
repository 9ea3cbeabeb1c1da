import numpy as np
import pytest

from ogg_hpc.graphs.generators import erdos_renyi
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.shards import write_store
from ogg_hpc.policies.registry import make_policy
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.training import evaluation as evaluation_module
from ogg_hpc.training.evaluation import Evaluation
from ogg_hpc.training.settings import GraphSource


class Unknown(MinimumVertexCover):
    """Nothing to compare with but the first policy."""

    def optimum(self, graph):
        return None

    def greedy(self, graph):
        return None


class Uncovered(Unknown):
    """Maximise the nodes left out of a cover."""

    maximize = True

    def objective(self, graph, nodes):
        return float(graph.n - len(nodes))


@pytest.fixture
def evaluation(tmp_path):
    def make(*sets, problem=None, group=0, groups=1):
        sources = []
        for number, graphs in enumerate(sets):
            path = tmp_path / f"set{number}.h5"
            if not path.exists():
                write_store(path, graphs)
            sources.append(GraphSource(path=str(path)))
        comm = Communicator()
        problem = problem or MinimumVertexCover()
        return Evaluation(comm, comm, group, groups, problem, sources, "allgather", "rows")

    return make


def test_ratio_is_one_for_optima_and_known_for_bad_covers(evaluation, star, degree_policy):
    held_out = evaluation([star(3), star(5)], [star(4)])
    assert held_out.kinds() == {"set0": "optimum", "set1": "optimum"}
    assert held_out.ratios(degree_policy()) == {"set0": 1.0, "set1": 1.0}
    # Leaves first: all of them are taken, and no leaf is redundant.
    assert held_out.ratios(degree_policy(-1)) == {"set0": 4.0, "set1": 4.0}


@pytest.mark.parametrize("degree_unit", ["one", "mean"])
def test_large_graphs_have_the_same_ratios_one_by_one(evaluation, monkeypatch, degree_unit):
    policy = make_policy("s2v", {"width": 8, "degree_unit": degree_unit}, seed=5)
    graphs = [erdos_renyi(n, 0.2, seed=n) for n in (30, 45, 60)]
    looped = Graph.from_edges(30, [*range(29), 3, 7], [*range(1, 30), 3, 7])
    held_out = evaluation([*graphs, looped, *(Graph.from_edges(n, [], []) for n in (0, 1))])
    together = held_out.ratios(policy)
    monkeypatch.setattr(evaluation_module, "_LARGE", 1)
    assert held_out.ratios(policy) == together


def test_graph_without_edges_counts_as_solved(evaluation, star, degree_policy):
    held_out = evaluation([star(3), Graph.from_edges(2, [], [])])
    assert held_out.ratios(degree_policy(-1)) == {"set0": (3 + 1) / 2}


def test_large_graphs_are_compared_with_greedy(evaluation, degree_policy):
    graphs = [erdos_renyi(60, 0.1, seed) for seed in range(3)]
    held_out = evaluation(graphs)
    assert held_out.kinds() == {"set0": "greedy"}
    assert held_out.ratios(degree_policy()) == {"set0": 1.0}


def test_self_loops_are_covered_as_the_optimum_covers_them(evaluation, degree_policy):
    looped = Graph.from_edges(4, [0, 0, 0, 1], [0, 1, 2, 1])
    assert evaluation([looped]).ratios(degree_policy()) == {"set0": 1.0}


@pytest.mark.parametrize(("problem", "expected"), [(Unknown(), 3.0), (Uncovered(), 3.0)])
def test_first_policy_is_the_reference_where_there_is_no_other(
    evaluation, star, degree_policy, problem, expected
):
    held_out = evaluation([star(3)], problem=problem)
    assert held_out.kinds() == {"set0": "first policy"}
    assert held_out.ratios(degree_policy()) == {"set0": 1.0}
    assert held_out.ratios(degree_policy(-1)) == {"set0": expected}
    resumed = evaluation([star(3)], problem=problem)
    resumed.restore(held_out.first_objectives())
    assert resumed.ratios(degree_policy(-1)) == {"set0": expected}


def test_sets_of_one_name_stay_apart(evaluation, star, degree_policy):
    held_out = evaluation([star(3)])
    source = GraphSource(family="er", nodes=8, count=2)
    twice = Evaluation(
        held_out.comm, held_out.comm, 0, 1, held_out.problem, [source] * 2, "allgather", "rows"
    )
    assert list(twice.ratios(degree_policy())) == ["er8", "er8'"]


def test_groups_share_the_graphs(evaluation, star, degree_policy):
    graphs = [star(3), star(4)]
    parts = [
        # Objectives of the other groups' graphs are zero until they are summed.
        evaluation(graphs, group=group, groups=3).ratios(degree_policy(-1))["set0"]
        for group in range(3)
    ]
    assert parts == [3 / 2, 4 / 2, 0.0]
    assert np.isclose(sum(parts), evaluation(graphs).ratios(degree_policy(-1))["set0"])
