import numpy as np
import pytest


@pytest.mark.parametrize("weighted", [True, False])
def test_arcs_are_drawn_in_proportion_to_their_weights(arcs, pair_counts, fits, weighted):
    graph = arcs if weighted else arcs.unweighted()
    counts = pair_counts(graph, "line", samples=50_000)
    weights = graph.to_scipy().toarray()
    assert fits(counts.ravel(), (weights / weights.sum()).ravel())


def test_edges_are_drawn_in_both_directions(arcs, pair_counts, fits):
    graph = arcs.unweighted().to_undirected()
    counts = pair_counts(graph, "line", samples=50_000)
    weights = graph.to_scipy().toarray()
    assert np.array_equal(weights, weights.T)
    assert fits(counts.ravel(), (weights / weights.sum()).ravel())


def test_an_item_is_one_edge(karate, pairs_of):
    pairs = pairs_of(karate, "line", samples=7)
    assert pairs.counts.tolist() == [1] * 7
    edges = set(zip(karate.rows.tolist(), karate.columns.tolist(), strict=True))
    assert set(zip(pairs.sources.tolist(), pairs.contexts.tolist(), strict=True)) <= edges
