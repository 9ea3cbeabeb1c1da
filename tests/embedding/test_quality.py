"""What trained embeddings are worth, on graphs small enough for every test run.

`benchmarks/embedding_quality.py` measures whole graphs.
"""

import networkx as nx
import numpy as np
import pytest

from ogg_hpc.embedding.evaluation.classes import read_classes
from ogg_hpc.embedding.evaluation.classify import ClassifySettings, evaluate_classes
from ogg_hpc.embedding.evaluation.link import LinkSettings, evaluate_links
from ogg_hpc.embedding.evaluation.numbering import RowLabels
from ogg_hpc.embedding.evaluation.scores import scores_of
from ogg_hpc.embedding.evaluation.split import split_edges
from ogg_hpc.embedding.run import embed
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.embedding.store import read_embedding
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.shards import write_store
from ogg_hpc.runtime.communicator import Communicator


@pytest.fixture
def embedded(tmp_path):
    """Embed a graph, or the graph of a file; return the embedding."""

    def run(graph, **settings):
        path = graph
        if isinstance(graph, Graph):
            path = tmp_path / "graph.h5"
            write_store(path, [graph])
        embed(Communicator(), str(path), EmbedSettings(**settings), tmp_path / "EMB.h5")
        return read_embedding(tmp_path / "EMB.h5")

    return run


def karate():
    club = nx.karate_club_graph()
    nx.set_edge_attributes(club, 1, "weight")
    officers = np.array([club.nodes[node]["club"] == "Officer" for node in club])
    return Graph.from_networkx(club), officers


@pytest.mark.parametrize("method", ["deepwalk", "node2vec", "line"])
def test_the_factions_of_the_karate_club_are_told_apart(embedded, method):
    graph, officers = karate()
    extent = {"samples": 100_000} if method == "line" else {"walks": 50, "walk_length": 20}
    embedding = embedded(graph, method=method, dim=16, window=4, batch_pairs=500, **extent)
    members = np.stack([officers, ~officers], axis=1)
    settings = ClassifySettings((0.5,), shuffles=10)
    record = evaluate_classes(Communicator(), embedding.vectors, members, settings)
    assert record["results"][0]["micro_f1"] > 0.85


def test_the_factions_of_the_karate_club_are_clusters(embedded):
    cluster = pytest.importorskip("sklearn.cluster")
    graph, officers = karate()
    vectors = embedded(
        graph, dim=16, walks=50, walk_length=20, window=4, batch_pairs=500
    ).vectors.astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    found = cluster.KMeans(2, n_init=10, random_state=0).fit_predict(vectors) == 1
    assert max(np.mean(found == officers), np.mean(found != officers)) > 0.9


def test_source_and_target_vectors_of_app_tell_an_arc_from_its_reverse(embedded):
    # Nodes lie in layers, and arcs lead from each to the next, from the last to the first.
    rng = np.random.default_rng(0)
    layer = rng.integers(5, size=100)
    u, v = np.nonzero(((layer[:, np.newaxis] + 1) % 5 == layer) & (rng.random((100, 100)) < 0.4))
    train, held_out = split_edges(Graph.from_edges(100, u, v, directed=True), 0.2, 0)
    # Few dimensions leave no room to learn single arcs by heart.
    embedding = embedded(
        train, method="app", walks=2000, stop_rate=0.3, dim=4, negative=1, batch_pairs=500,
        learning_rate=0.1,
    )  # fmt: skip
    scores = scores_of(embedding.vectors, embedding.context, train)
    record = evaluate_links(scores, train, held_out, LinkSettings())["scores"]
    assert record["source-target"]["reversed"]["auc"] > 0.9
    for symmetric in ("dot", "cosine"):
        assert record[symmetric]["reversed"]["auc"] == pytest.approx(0.5, abs=0.03)


def test_classes_of_proteins_are_predicted_far_above_chance(embedded, shared_data):
    path = shared_data / "embed" / "PPI.mat"
    if not path.exists():
        pytest.skip("needs embed/PPI.mat among the real graphs")
    embedding = embedded(path, walks=2)
    members = read_classes(path, RowLabels(embedding.labels)).members
    settings = ClassifySettings((0.5,), shuffles=3)
    record = evaluate_classes(Communicator(), embedding.vectors, members, settings)
    shuffled = np.random.default_rng(0).permutation(embedding.vectors)
    chance = evaluate_classes(Communicator(), shuffled, members, settings)
    assert record["results"][0]["micro_f1"] > 2 * chance["results"][0]["micro_f1"]
