import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.complement import complement
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.greedy_clique import colouring_number, greedy_clique
from ogg_hpc.problems.greedy_cover import minimum_degree_greedy
from ogg_hpc.problems.maximum_clique import MaximumClique
from ogg_hpc.problems.maximum_independent_set import MaximumIndependentSet


def plain(graph, start):
    rows = [set(graph.neighbours(v).tolist()) for v in range(graph.n)]
    clique = list(start)
    candidates = {v for v in range(graph.n) if v not in clique and rows[v] >= set(clique)}
    while candidates:
        best = max(candidates, key=lambda v: (len(rows[v] & candidates), -v))
        clique.append(best)
        candidates &= rows[best]
    return clique


@given(st.integers(0, 2**32 - 1))
def test_greedy_equals_the_plain_reference(random_graph, seed):
    graph = complement(random_graph(seed, largest=25)) if seed % 2 else random_graph(seed, 25)
    full = plain(graph, [])
    assert greedy_clique(graph).tolist() == full
    start = np.random.default_rng(seed).permutation(full)[: len(full) // 2]
    assert greedy_clique(graph, start).tolist() == plain(graph, start.tolist())
    assert MaximumClique().violation(graph, np.array(full, int)) is None


@given(st.integers(0, 2**32 - 1))
def test_greedy_is_minimum_degree_greedy_of_the_complement(random_graph, seed):
    graph = random_graph(seed, largest=25)
    independent = np.setdiff1d(np.arange(graph.n), minimum_degree_greedy(complement(graph)))
    # The order among nodes without an edge left differs, the set does not.
    assert sorted(greedy_clique(graph)) == independent.tolist()


@given(st.integers(0, 2**32 - 1))
def test_no_clique_has_more_nodes_than_colours(random_graph, seed):
    graph = complement(random_graph(seed))
    assert MaximumClique().optimum(graph) <= colouring_number(graph) <= graph.n


@pytest.mark.parametrize(
    ("graph", "colours"),
    [
        (nx.empty_graph(0), 0),
        (nx.empty_graph(4), 1),
        (nx.random_labeled_tree(40, seed=1), 2),
        (nx.cycle_graph(9), 3),
        (nx.complete_graph(7), 7),
    ],
)
def test_colours_worked_by_hand(graph, colours):
    assert colouring_number(Graph.from_networkx(graph)) == colours


def test_complement_is_that_of_networkx(random_graph):
    for seed in range(10):
        graph = random_graph(seed, largest=20)
        dense = np.ones((graph.n, graph.n)) - np.eye(graph.n) - graph.to_scipy().toarray()
        assert (complement(graph).to_scipy().toarray() == dense).all()
        assert len(complement(graph).looped) == 0
    named = Graph.from_edges(3, [0], [1], labels=np.array([10, 20, 30]))
    assert complement(named).labels_of([0, 2]) == [10, 30]


def test_complement_too_large_says_what_it_takes():
    with pytest.raises(SettingsError, match=r"14\.9 GiB, more than the 1\.0 GiB .*63246 nodes"):
        complement(Graph.from_edges(63246, [0], [1]))
    with pytest.raises(SettingsError, match="--policy greedy"):
        MaximumClique().as_vertex_cover(Graph.from_edges(63246, [0], [1]))


@pytest.mark.parametrize(("name", "clique"), [("C125.9", 34), ("brock200_2", 12)])
def test_known_clique_lies_between_greedy_and_colours(shared_data, name, clique):
    from ogg_hpc.graphs.readers import read_graph

    graph = read_graph(shared_data / "mvc" / f"{name}.clq")
    problem = MaximumClique()
    assert 0.65 * clique <= len(problem.greedy(graph)) <= clique <= problem.bound(graph)
    opposite = complement(graph)
    assert MaximumIndependentSet().bound(opposite) >= clique
