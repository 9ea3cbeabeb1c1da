from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.embedding.evaluation.auc import auc
from ogg_hpc.embedding.evaluation.link import LinkSettings, evaluate_links
from ogg_hpc.embedding.evaluation.non_edges import are_edges, draw_non_edges, reversed_non_arcs
from ogg_hpc.embedding.evaluation.ranking import Pool, ranks
from ogg_hpc.embedding.evaluation.scores import BASELINE, Score, scores_of
from ogg_hpc.embedding.evaluation.split import split_edges
from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.graph import Graph

few_scores = st.lists(st.integers(0, 5), min_size=2, max_size=12)


def random_graph(seed, directed, n=40, m=150):
    rng = np.random.default_rng(seed)
    return Graph.from_edges(n, rng.integers(n, size=m), rng.integers(n, size=m), directed=directed)


def adjacency_score(graph):
    """The score that is 1 for arcs and 0 for all other pairs."""
    return Score("perfect", graph.unweighted().to_scipy().toarray(), np.eye(graph.n))


class TestAUC:
    @given(positives=few_scores, negatives=few_scores)
    def test_is_the_share_of_pairs_in_order_with_ties_as_one_half(self, positives, negatives):
        pairs = [(p > q) + (p == q) / 2 for p, q in product(positives, negatives)]
        assert auc(np.array(positives), np.array(negatives)).value == pytest.approx(np.mean(pairs))

    @given(positives=few_scores, negatives=few_scores)
    def test_of_negated_scores_is_the_complement(self, positives, negatives):
        p, q = np.array(positives), np.array(negatives)
        assert auc(-p, -q).value == pytest.approx(1 - auc(p, q).value)
        assert auc(-p, -q).error == pytest.approx(auc(p, q).error)

    def test_of_perfect_and_of_constant_scores(self):
        assert auc(np.array([2, 3]), np.array([0, 1])) == (1, 0)
        assert auc(np.ones(4), np.ones(7)) == (0.5, 0)

    def test_the_error_is_the_deviation_over_samples(self):
        rng = np.random.default_rng(0)
        estimates = [auc(rng.normal(1, 1, 200), rng.normal(0, 1, 100)) for _ in range(400)]
        spread = np.std([each.value for each in estimates])
        assert np.mean([each.error for each in estimates]) == pytest.approx(spread, rel=0.1)

    def test_the_interval_stays_between_0_and_1(self):
        record = auc(np.array([5, 6, 1]), np.array([0, 2])).record()
        assert 0 <= record["interval_95"][0] < record["auc"] < record["interval_95"][1] == 1


class TestNonEdges:
    @given(seed=st.integers(0, 100), directed=st.booleans())
    def test_edges_are_found_as_in_the_matrix(self, seed, directed):
        graph = random_graph(seed, directed)
        u, v = (each.ravel() for each in np.indices((graph.n, graph.n)))
        found = are_edges(graph, u, v).reshape(graph.n, graph.n)
        np.testing.assert_array_equal(found, graph.to_scipy().toarray() != 0)

    @pytest.mark.parametrize("draw", ["uniform", "degree"])
    def test_pairs_are_no_edges_and_no_loops(self, draw):
        known = random_graph(0, directed=True, n=15)
        u, v = draw_non_edges(known, known, draw, 2000, seed=3)
        assert len(u) == len(v) == 2000
        assert not are_edges(known, u, v).any()
        assert (u != v).all()

    def test_a_complete_graph_has_none(self):
        complete = Graph.from_edges(4, *np.triu_indices(4, 1))
        assert len(draw_non_edges(complete, complete, "uniform", 10, 0)[0]) == 0

    def test_ends_are_drawn_alike_or_by_degree(self):
        # Arcs from 0 to 1 … 9 and from 1 to 10; all other pairs may be drawn.
        graph = Graph.from_edges(30, [0] * 9 + [1], list(range(1, 11)), directed=True)
        empty = Graph.from_edges(30, [], [], directed=True)
        u, v = draw_non_edges(graph, empty, "degree", 20_000, 1)
        # 0 to 1 … 10 and 1 to 2 … 10, as 1 to 1 is refused.
        assert np.mean(u == 0) == pytest.approx(0.9 / 0.99, abs=0.01)
        assert np.mean(v[u == 0] == 5) == pytest.approx(0.1, abs=0.01)
        u, v = draw_non_edges(graph, empty, "uniform", 20_000, 1)
        np.testing.assert_allclose(np.bincount(u, minlength=30) / 20_000, 1 / 30, atol=0.006)
        np.testing.assert_allclose(np.bincount(v, minlength=30) / 20_000, 1 / 30, atol=0.006)

    def test_reversed_arcs_leave_out_those_that_exist(self):
        known = Graph.from_edges(4, [0, 1, 1, 2], [1, 0, 2, 3], directed=True)
        held_out = Graph.from_edges(4, [0, 1, 2], [1, 2, 3], directed=True)
        u, v = reversed_non_arcs(held_out, known)
        assert list(zip(u.tolist(), v.tolist(), strict=True)) == [(2, 1), (3, 2)]


class TestRanks:
    def plain_rank(self, scores, u, v, out):
        others = [w for w in range(len(scores)) if w not in (u, v) and w not in out]
        better = sum(scores[w] > scores[v] for w in others)
        equal = sum(scores[w] == scores[v] for w in others)
        return 1 + better + equal / 2

    @given(seed=st.integers(0, 200), directed=st.booleans())
    def test_among_all_nodes_are_those_of_a_plain_count(self, seed, directed):
        rng = np.random.default_rng(seed)
        known = random_graph(seed, directed, n=25, m=60)
        score = Score("s", rng.integers(-2, 3, (25, 3)), rng.integers(-2, 3, (25, 3)))
        u, v, _ = known.edges()
        got = ranks(score, known, u, v, Pool(known, "uniform", 25, 0))
        matrix = score.left @ score.right.T
        for i, (a, b) in enumerate(zip(u.tolist(), v.tolist(), strict=True)):
            assert got.raw[i] == self.plain_rank(matrix[a], a, b, ())
            assert got.filtered[i] == self.plain_rank(matrix[a], a, b, known.neighbours(a).tolist())

    def test_drawn_candidates_count_as_often_as_they_are_drawn(self):
        known = random_graph(1, directed=True, n=60)
        score = Score("s", np.ones((60, 1)), np.arange(60.0)[:, np.newaxis])
        u, v, _ = known.edges()
        pool = Pool(known, "degree", 30, 0)
        got = ranks(score, known, u, v, pool)
        drawn = pool.candidates(0)
        for i, (a, b) in enumerate(zip(u.tolist(), v.tolist(), strict=True)):
            better = [w for w in drawn if w > b and w != a]
            assert got.raw[i] == 1 + len(better)
            new = [w for w in better if w not in known.neighbours(a)]
            assert got.filtered[i] == 1 + len(new)

    def test_blocks_do_not_change_ranks_among_all_nodes(self, monkeypatch):
        known = random_graph(2, directed=False)
        rng = np.random.default_rng(0)
        vectors = rng.normal(size=(40, 8))
        score, (u, v, _) = Score("s", vectors, vectors), known.edges()
        pool = Pool(known, "uniform", 40, 0)
        whole = ranks(score, known, u, v, pool)
        monkeypatch.setattr("ogg_hpc.embedding.evaluation.ranking._SCORES", 120)
        parts = ranks(score, known, u, v, pool)
        np.testing.assert_array_equal(whole.raw, parts.raw)
        np.testing.assert_array_equal(whole.filtered, parts.filtered)

    def test_equal_vectors_are_ties_however_they_are_multiplied(self):
        rng = np.random.default_rng(0)
        vectors = np.repeat(rng.normal(size=(1, 128)).astype(np.float32), 50, axis=0)
        vectors[0] = rng.normal(size=128)
        graph = Graph.from_edges(50, [0], [1], directed=True)
        got = ranks(
            Score("s", vectors, vectors), graph, *map(np.array, ([0], [1])),
            Pool(graph, "uniform", 50, 0),
        )  # fmt: skip
        assert got.raw[0] == 1 + 48 / 2


def test_scores_are_the_products_that_their_names_say():
    rng = np.random.default_rng(0)
    graph = random_graph(0, directed=True)
    X, Y = rng.normal(size=(2, 40, 6))
    X[7] = 0
    u, v, _ = graph.edges()
    by_name = {score.name: score.of_pairs(u, v) for score in scores_of(X, Y, graph)}
    out_degrees, in_degrees = np.diff(graph.row_offsets), np.bincount(graph.columns, minlength=40)
    lengths = np.maximum(np.linalg.norm(X, axis=1), 1e-300)
    expected = {
        "dot": (X @ X.T)[u, v],
        "cosine": (X / lengths[:, np.newaxis] @ (X / lengths[:, np.newaxis]).T)[u, v],
        "source-target": (X @ Y.T)[u, v],
        BASELINE: out_degrees[u] * in_degrees[v],
    }
    assert by_name.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(by_name[name], values, rtol=1e-5, atol=1e-6)


class TestEvaluation:
    @pytest.mark.parametrize("directed", [False, True])
    def test_a_perfect_score_ranks_all_held_out_edges_first(self, directed):
        graph = random_graph(3, directed)
        train, held_out = split_edges(graph, 0.3, 0)
        perfect = adjacency_score(graph)
        record = evaluate_links([perfect], train, held_out, LinkSettings())
        assert set(record["negatives"]) == {"uniform", "degree"} | (
            {"reversed"} & {directed and "reversed"}
        )
        for metrics in record["scores"]["perfect"].values():
            assert metrics["auc"] == 1
        filtered = record["scores"]["perfect"]["uniform"]["filtered"]
        assert filtered["mrr"] == filtered["hits@1"] == 1
        worst = Score("worst", -perfect.left, perfect.right)
        record = evaluate_links([worst], train, held_out, LinkSettings())
        for metrics in record["scores"]["worst"].values():
            assert metrics["auc"] == 0

    def test_random_vectors_predict_nothing(self):
        graph = random_graph(4, directed=True, n=300, m=4000)
        train, held_out = split_edges(graph, 0.3, 0)
        rng = np.random.default_rng(1)
        X, Y = rng.normal(size=(2, 300, 16)).astype(np.float32)
        record = evaluate_links(scores_of(X, Y, train)[:3], train, held_out, LinkSettings())
        for by_negatives in record["scores"].values():
            for metrics in by_negatives.values():
                assert metrics["auc"] == pytest.approx(0.5, abs=4 * max(metrics["error"], 0.005))

    def test_symmetric_scores_cannot_tell_an_arc_from_its_reverse(self):
        graph = random_graph(5, directed=True, n=100, m=900)
        u, v, _ = graph.edges()
        # Of many arcs the reverse is an arc as well, which may have been trained on.
        both = np.concatenate([u, v[:400]]), np.concatenate([v, u[:400]])
        graph = Graph.from_edges(100, *both, directed=True)
        train, held_out = split_edges(graph, 0.3, 0)
        adjacent = train.unweighted().to_scipy().toarray()
        score = Score("symmetric", np.maximum(adjacent, adjacent.T), np.eye(100))
        record = evaluate_links([score], train, held_out, LinkSettings())
        assert 0 < record["negatives"]["reversed"] < held_out.m
        assert record["scores"]["symmetric"]["reversed"]["auc"] == 0.5
        assert record["scores"]["symmetric"]["uniform"]["auc"] > 0.6

    def test_the_baseline_knows_degrees_alone(self):
        rng = np.random.default_rng(0)
        weights = rng.pareto(1.0, 400)
        u, v = rng.choice(400, (2, 3000), p=weights / weights.sum())
        train, held_out = split_edges(Graph.from_edges(400, u, v), 0.2, 0)
        record = evaluate_links(
            scores_of(np.eye(400), None, train), train, held_out, LinkSettings()
        )
        baseline = record["scores"][BASELINE]
        assert baseline["uniform"]["auc"] > 0.8
        assert baseline["degree"]["auc"] < baseline["uniform"]["auc"] - 0.2

    def test_of_both_ends_each_is_replaced(self):
        # 0 is the best source of all targets, and node 3 the worst target of all sources.
        train = Graph.from_edges(4, [0], [1], directed=True)
        held_out = Graph.from_edges(4, [0], [3], directed=True)
        left = np.array([[3.0], [2], [1], [0]])
        right = np.array([[4.0], [3], [2], [1]])
        record = evaluate_links([Score("s", left, right)], train, held_out, LinkSettings())
        metrics = record["scores"]["s"]["uniform"]
        assert metrics["raw"]["mrr"] == pytest.approx((1 / 3 + 1) / 2)
        assert metrics["filtered"]["mrr"] == pytest.approx((1 / 2 + 1) / 2)

    def test_edges_that_were_trained_on_are_refused(self):
        graph = random_graph(6, directed=False)
        train, held_out = split_edges(graph, 0.3, 0)
        with pytest.raises(SettingsError, match=f"{held_out.m} of {held_out.m} held-out edges"):
            evaluate_links([], graph, held_out, LinkSettings())
        with pytest.raises(SettingsError, match="no edges are held out"):
            evaluate_links([], graph, Graph.from_edges(40, [], []), LinkSettings())
        arcs = Graph.from_edges(40, *train.edges()[:2], directed=True)
        with pytest.raises(SettingsError, match="is directed, the held-out edges are undirected"):
            evaluate_links([], arcs, held_out, LinkSettings())
