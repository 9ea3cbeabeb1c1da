import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.embedding.evaluation.reconstruct import evaluate_reconstruction
from ogg_hpc.embedding.evaluation.scores import Score
from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.graph import Graph

sklearn_metrics = pytest.importorskip("sklearn.metrics")


def random_graph(seed, directed, n=25, m=60):
    rng = np.random.default_rng(seed)
    return Graph.from_edges(n, rng.integers(n, size=m), rng.integers(n, size=m), directed=directed)


def metrics_of(score, graph, at, **options):
    return evaluate_reconstruction([score], graph, at, **options)["scores"][score.name]


@given(seed=st.integers(0, 200), directed=st.booleans(), span=st.sampled_from([2, 50]))
def test_figures_are_those_of_a_plain_count(seed, directed, span):
    rng = np.random.default_rng(seed)
    graph = random_graph(seed, directed)
    score = Score("s", rng.integers(-span, span, (25, 3)), rng.integers(-span, span, (25, 3)))
    got = metrics_of(score, graph, (1, 10, 600))
    matrix = score.left @ score.right.T
    edges = graph.to_scipy().toarray() != 0
    others = ~np.eye(25, dtype=bool)
    plain = [
        sklearn_metrics.average_precision_score(edges[i][others[i]], matrix[i][others[i]])
        for i in range(25)
        if edges[i].any()
    ]
    assert got["map"] == pytest.approx(np.mean(plain))
    values, are_edges = matrix[others], edges[others]
    for k in (1, 10, 600):
        limit = np.sort(values)[::-1][k - 1]
        above = values > limit
        share = are_edges[values == limit].mean()
        hits = are_edges[above].sum() + (k - above.sum()) * share
        assert got[f"precision@{k}"] == pytest.approx(hits / k)


def test_blocks_do_not_change_figures(monkeypatch):
    rng = np.random.default_rng(0)
    graph = random_graph(1, directed=False)
    vectors = rng.normal(size=(25, 4))
    score = Score("s", vectors, vectors)
    whole = metrics_of(score, graph, (5, 50))
    monkeypatch.setattr("ogg_hpc.embedding.evaluation.reconstruct._SCORES", 60)
    monkeypatch.setattr("ogg_hpc.embedding.evaluation.reconstruct._COLUMNS", 7)
    assert metrics_of(score, graph, (5, 50)) == pytest.approx(whole)


def test_a_perfect_score_finds_all_edges():
    graph = random_graph(2, directed=True)
    perfect = Score("s", graph.to_scipy().toarray(), np.eye(25))
    assert metrics_of(perfect, graph, (graph.m,)) == {"map": 1, f"precision@{graph.m}": 1}


def test_equal_scores_give_chance():
    graph = random_graph(3, directed=True)
    record = evaluate_reconstruction([Score("s", np.ones((25, 1)), np.ones((25, 1)))], graph, (7,))
    assert record["precision_by_chance"] == graph.m / 600
    assert record["scores"]["s"]["precision@7"] == pytest.approx(graph.m / 600)


def test_sampled_nodes_estimate_the_figures_of_all():
    graph = random_graph(4, directed=False, n=400, m=4000)
    vectors = np.random.default_rng(0).normal(size=(400, 64)) + 2 * np.eye(400, 64)
    score = Score("s", graph.to_scipy().toarray() @ vectors, vectors)
    whole = evaluate_reconstruction([score], graph, (100,))
    part = evaluate_reconstruction([score], graph, (25,), nodes=100, seed=1)
    assert "all nodes u" in whole["protocol"]
    assert "of 100 of 400 nodes u" in part["protocol"]
    assert part["pairs"] == 100 * 399
    assert part["scores"]["s"]["map"] == pytest.approx(whole["scores"]["s"]["map"], abs=0.05)


def test_what_cannot_be_asked_is_refused():
    graph = random_graph(5, directed=True)
    score = Score("s", np.ones((25, 1)), np.ones((25, 1)))
    with pytest.raises(SettingsError, match="precision at 601 is asked for, of 600 pairs"):
        evaluate_reconstruction([score], graph, (601,))
    for nodes in (26, -1):
        with pytest.raises(SettingsError, match=f"{nodes} nodes are asked for, the graph has 25"):
            evaluate_reconstruction([score], graph, (1,), nodes=nodes)
    with pytest.raises(SettingsError, match="no edges"):
        evaluate_reconstruction([score], Graph.from_edges(3, [], []), (1,))
