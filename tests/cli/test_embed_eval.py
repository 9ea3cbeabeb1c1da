import json
import sys

import networkx as nx
import numpy as np
import pytest

from ogg_hpc.embedding.embedding import MATRICES, EmbeddingHeader
from ogg_hpc.embedding.store import open_writer
from ogg_hpc.graphs.readers import read_graph


def write_embedding(path, vectors, context, labels, *, directed=False, graph=None):
    header = EmbeddingHeader(
        *vectors.shape,
        directed=directed,
        provenance={} if graph is None else {"graph": {"path": str(graph)}},
    )
    matrices = dict(zip(MATRICES, (vectors, context), strict=True))
    with open_writer(path, header, labels) as writer:
        for matrix in writer.matrices:
            writer.append(matrix, matrices[matrix])
    return path


@pytest.fixture
def karate(tmp_path):
    """Karate as an edge list with labels 101 …, its factions, and vectors that know them."""
    club = nx.karate_club_graph()
    edges, factions = tmp_path / "karate.edges", tmp_path / "factions.txt"
    edges.write_text("".join(f"{u + 101} {v + 101}\n" for u, v in club.edges))
    of_nodes = [club.nodes[v]["club"] for v in range(34)]
    factions.write_text(
        "".join(f"{v + 101} {club_of.replace(' ', '')}\n" for v, club_of in enumerate(of_nodes))
    )
    rng = np.random.default_rng(0)
    vectors = rng.normal(0, 0.1, (34, 8)).astype(np.float32)
    vectors[:, 0] += np.where(np.array(of_nodes) == "Officer", 1, -1)
    labels = np.arange(34) + 101
    embedding = write_embedding(tmp_path / "EMB.h5", vectors, vectors, labels, graph=edges)
    return edges, factions, embedding


def test_split_and_link(ogg, karate, tmp_path):
    edges, _, embedding = karate
    code, out, _ = ogg(
        "embed-eval", "split", edges, "--fraction", 0.25, "--connected", "--seed", 3,
        "--output", tmp_path / "split", "--json",
    )  # fmt: skip
    assert code == 0
    record = json.loads(out)
    assert (record["training_edges"], record["held_out_edges"]) == (58, 20)
    train, held_out = read_graph(record["train"]), read_graph(record["held_out"])
    assert train.labels.tolist() == held_out.labels.tolist() == list(range(101, 135))
    assert (train.m, held_out.m) == (58, 20)

    command = ("embed-eval", "link", embedding, "--held-out", record["held_out"])
    code, out, _ = ogg(*command, "--graph", record["train"], "--hits", 5, "--json")
    assert code == 0
    links = json.loads(out)
    assert list(links["scores"]) == ["dot", "cosine", "source-target", "preferential-attachment"]
    assert links["candidates"]["uniform"] == "all nodes"
    dot = links["scores"]["dot"]
    assert list(dot) == ["uniform", "degree"]
    assert dot["uniform"]["auc"] > 0.6  # edges are within factions
    assert 0 < dot["uniform"]["filtered"]["hits@5"] <= 1
    assert dot["uniform"]["filtered"]["mrr"] > dot["uniform"]["raw"]["mrr"]

    code, out, _ = ogg(*command, "--graph", record["train"])
    assert code == 0
    assert out.splitlines()[0].startswith("score\tnegatives\tAUC\t95 %\traw mrr")
    assert len(out.splitlines()) == 1 + 4 * 2


def test_link_refuses_edges_that_were_embedded(ogg, karate, tmp_path):
    edges, _, embedding = karate
    ogg("embed-eval", "split", edges, "--output", tmp_path)
    code, _, err = ogg("embed-eval", "link", embedding, "--held-out", tmp_path / "held-out.h5")
    assert code == 2
    assert "held-out edges are in the training graph" in err


def test_link_refuses_an_embedding_of_the_whole_graph(ogg, karate, tmp_path):
    edges, *_ = karate
    train, held_out = tmp_path / "train.h5", tmp_path / "held-out.h5"
    ogg("embed-eval", "split", edges, "--fraction", 0.25, "--output", tmp_path)
    for graph in (edges, train):
        small = ("--dim", 4, "--walks", 1, "--walk-length", 5)
        assert ogg("embed", graph, *small, "--output", tmp_path / f"{graph.stem}.emb.h5")[0] == 0
    link = ("--held-out", held_out, "--graph", train)
    code, out, err = ogg("embed-eval", "link", tmp_path / "karate.emb.h5", *link)
    assert (code, out) == (2, "")
    assert f"{train} has 58 edges, but what was embedded is {edges} with 78" in err
    assert ogg("embed-eval", "link", tmp_path / "train.emb.h5", *link)[0] == 0


def test_a_split_does_not_write_over_its_graph(ogg, karate, tmp_path):
    edges, *_ = karate
    ogg("embed-eval", "split", edges, "--output", tmp_path)
    content = (tmp_path / "train.h5").read_bytes()
    code, out, err = ogg("embed-eval", "split", tmp_path / "train.h5", "--output", tmp_path)
    assert (code, out) == (2, "")
    assert err == f"ogg-hpc: {tmp_path}/train.h5 is the graph itself; choose another --output\n"
    assert (tmp_path / "train.h5").read_bytes() == content


def test_link_of_arcs_reports_reversed_ones(ogg, tmp_path):
    rng = np.random.default_rng(0)
    arcs = tmp_path / "arcs.txt"
    arcs.write_text("".join(f"{u} {v}\n" for u, v in rng.integers(40, size=(300, 2))))
    code, _, _ = ogg("embed-eval", "split", arcs, "--directed", "--output", tmp_path / "parts")
    assert code == 0
    train = tmp_path / "parts" / "train.h5"
    vectors = rng.normal(size=(40, 4)).astype(np.float32)
    embedding = write_embedding(
        tmp_path / "E.h5", vectors, vectors, np.arange(40), directed=True, graph=train
    )
    code, out, _ = ogg(
        "embed-eval", "link", embedding, "--held-out", tmp_path / "parts" / "held-out.h5", "--json"
    )
    assert code == 0
    assert "reversed" in json.loads(out)["scores"]["source-target"]


def test_classify(ogg, karate):
    _, factions, embedding = karate
    command = ("embed-eval", "classify", embedding, "--labels", factions, "--fractions", 0.5)
    code, out, _ = ogg(*command, "--json")
    assert code == 0
    record = json.loads(out)
    [result] = record["results"]
    assert (result["micro_f1"], result["macro_f1"]) == (1, 1)
    assert record["normalise"] == "l2"
    assert record["classes"] == 2
    code, out, _ = ogg(*command, "--normalise", "none")
    assert code == 0
    assert "the number k of classes of each test node is known" in out
    assert "normalise none, C 1, solver lbfgs; mean ± deviation of 10 splits" in out
    assert "50%\t100.00 ± 0.00\t100.00 ± 0.00" in out


def test_classify_tells_of_nodes_without_vectors(ogg, karate):
    _, factions, embedding = karate
    factions.write_text(factions.read_text() + "999 Officer\n")
    code, out, err = ogg("embed-eval", "classify", embedding, "--labels", factions, "--json")
    assert code == 0
    assert json.loads(out)["without_vector"] == 1
    assert "1 labelled nodes have no vector" in err


def test_classify_without_scikit_learn(ogg, karate, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    _, factions, embedding = karate
    code, _, err = ogg("embed-eval", "classify", embedding, "--labels", factions)
    assert code == 2
    assert "pip install 'ogg-hpc[evaluation]'" in err


def test_reconstruct(ogg, karate):
    edges, _, embedding = karate
    code, out, _ = ogg("embed-eval", "reconstruct", embedding, "--at", 10, 156, "--json")
    assert code == 0
    record = json.loads(out)
    assert record["pairs"] == 34 * 33
    assert record["pairs_that_are_edges"] == 156
    assert record["scores"]["dot"]["precision@156"] > record["precision_by_chance"]
    code, out, _ = ogg("embed-eval", "reconstruct", embedding, edges, "--nodes", 5)
    assert code == 0
    assert "5 of 34 nodes u" in out


def test_an_embedding_that_does_not_name_its_graph_asks_for_it(ogg, karate, tmp_path):
    edges, *_ = karate
    vectors = np.ones((34, 2), np.float32)
    embedding = write_embedding(tmp_path / "vectors.txt", vectors, vectors, np.arange(34) + 101)
    code, _, err = ogg("embed-eval", "reconstruct", embedding)
    assert code == 2
    assert "name the graph" in err
    assert ogg("embed-eval", "reconstruct", embedding, edges)[0] == 0


def test_a_graph_of_other_nodes_is_refused(ogg, karate, tmp_path):
    _, _, embedding = karate
    other = tmp_path / "other.edges"
    other.write_text("1 2\n2 3\n")
    code, _, err = ogg("embed-eval", "reconstruct", embedding, other)
    assert code == 2
    assert "node 1 has no vector" in err
