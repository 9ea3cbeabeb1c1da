"""What holds for all samplers."""

import os
import subprocess
import sys

import numpy as np
import pytest

from ogg_hpc.embedding.graph_input import open_walk_graph
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.runtime.communicator import Communicator

METHODS = {
    "deepwalk": {"walk_length": 12, "walks": 2},
    "node2vec": {"walk_length": 12, "walks": 2, "p": 0.5, "q": 2.0},
    "line": {"samples": 500},
    "app": {"walks": 5},
}


def same(one, other):
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("sources", "contexts", "counts")
    )


@pytest.mark.parametrize("method", METHODS)
def test_an_item_yields_the_same_pairs_whatever_is_asked_for_with_it(karate, sampler_of, method):
    sampler = sampler_of(karate, method, **METHODS[method])
    whole = sampler.sample(1, np.arange(sampler.items))
    ends = np.cumsum(whole.counts)
    for item in (0, 17, sampler.items - 1):
        alone = sampler.sample(1, np.array([item]))
        part = slice(ends[item] - whole.counts[item], ends[item])
        assert np.array_equal(alone.sources, whole.sources[part])
        assert np.array_equal(alone.contexts, whole.contexts[part])
    assert len(sampler.sample(1, np.arange(0))) == 0


@pytest.mark.parametrize("method", METHODS)
def test_seed_and_epoch_alone_decide_which_pairs_are_drawn(karate, pairs_of, method):
    first = pairs_of(karate, method, **METHODS[method])
    assert same(first, pairs_of(karate, method, **METHODS[method]))
    assert not same(first, pairs_of(karate, method, epoch=1, **METHODS[method]))
    assert not same(first, pairs_of(karate, method, seed=1, **METHODS[method]))


@pytest.mark.parametrize("method", METHODS)
def test_the_number_of_pairs_is_as_expected(karate, sampler_of, method):
    sampler = sampler_of(karate, method, **METHODS[method] | {"samples": 9000, "walks": 300})
    pairs = sampler.sample(0, np.arange(sampler.items))
    assert len(pairs) / sampler.items == pytest.approx(sampler.pairs_per_item, rel=0.02)


@pytest.mark.parametrize("method", METHODS)
def test_dead_ends_are_expected(arcs, sampler_of, method):
    # Node 3 has no arcs of its own: walks are far shorter than their settings allow.
    long = METHODS[method] | {"walk_length": 200, "samples": 9000, "walks": 300}
    sampler = sampler_of(arcs, method, **long)
    pairs = sampler.sample(0, np.arange(sampler.items))
    assert len(pairs) / sampler.items == pytest.approx(sampler.pairs_per_item, rel=0.2)


def test_few_walks_that_move_are_expected_though_none_was_tried(sampler_of):
    graph = Graph.from_edges(100_000, [5], [6], directed=True)
    assert sampler_of(graph, "deepwalk", walks=1).pairs_per_item >= 2 / graph.n


def test_methods_choose_how_many_items_make_an_epoch(karate, sampler_of):
    items = {method: sampler_of(karate, method).items for method in METHODS}
    assert items == {"deepwalk": 340, "node2vec": 340, "line": 34 * 3000, "app": 34 * 400}
    assert sampler_of(karate, "app", walks=3).items == 3 * 34


@pytest.mark.parametrize("method", METHODS)
def test_isolated_nodes_are_in_no_pair(pairs_of, method):
    # Nodes 0 and 4 are isolated: nothing may take them for the end of a walk, or for padding.
    graph = Graph.from_edges(5, [1, 2], [2, 3])
    pairs = pairs_of(graph, method, **METHODS[method])
    assert set(pairs.sources.tolist()) == set(pairs.contexts.tolist()) == {1, 2, 3}


@pytest.mark.parametrize("method", METHODS)
def test_walks_follow_arcs_and_never_go_on_at_node_0_behind_a_dead_end(pairs_of, method):
    graph = Graph.from_edges(5, [1, 2, 3], [2, 3, 4], directed=True)
    pairs = pairs_of(graph, method, **METHODS[method])
    assert 0 not in pairs.sources
    assert 0 not in pairs.contexts
    if method in ("line", "app"):
        assert (pairs.sources < pairs.contexts).all()


@pytest.mark.parametrize("method", METHODS)
def test_a_hash_seed_of_python_changes_nothing(method):
    code = (
        "import hashlib, numpy as np\n"
        "from ogg_hpc.embedding.graph_input import open_walk_graph\n"
        "from ogg_hpc.embedding.sampling import make_sampler\n"
        "from ogg_hpc.embedding.settings import EmbedSettings\n"
        "from ogg_hpc.runtime.communicator import Communicator\n"
        f"settings = EmbedSettings(method={method!r}, **{METHODS[method]!r})\n"
        "graph = open_walk_graph(Communicator(), 'ba:n=30,d=4', settings).graph\n"
        "pairs = make_sampler(graph, settings).sample(0, np.arange(20))\n"
        "print(hashlib.sha256(pairs.contexts.tobytes()).hexdigest())\n"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("0", "123")
    }
    assert len(digests) == 1


@pytest.mark.parametrize("method", METHODS)
def test_self_loops_are_dropped_on_the_way_in(tmp_path, method):
    path = tmp_path / "loops.txt"
    path.write_text("a a\na b\nb b\nb c\n")
    settings = EmbedSettings(method=method, directed=True, **METHODS[method])
    opened = open_walk_graph(Communicator(), str(path), settings)
    assert (opened.self_loops, opened.m, opened.graph.n) == (2, 2, 3)
    assert opened.labels.tolist() == ["a", "b", "c"]
    assert opened.graph.degrees.tolist() == [1, 1, 0]


@pytest.mark.parametrize("weighted", [True, False])
def test_weights_count_unless_they_are_left_out_by_a_setting(tmp_path, weighted):
    path = tmp_path / "weighted.txt"
    path.write_text("a b 1\na c 9\n")
    opened = open_walk_graph(Communicator(), str(path), EmbedSettings(weighted=weighted))
    assert opened.graph.weighted == weighted
    assert opened.graph.strengths.tolist() == ([10, 1, 9] if weighted else [2, 1, 1])


def test_negatives_are_weighed_by_degrees_in_and_out(arcs, sampler_of):
    weights = sampler_of(arcs, "app").negative_weights()
    matrix = arcs.to_scipy().toarray()
    assert weights == pytest.approx(matrix.sum(axis=0) + matrix.sum(axis=1))
    edges = arcs.unweighted().to_undirected()
    assert np.array_equal(sampler_of(edges, "line").negative_weights(), edges.degrees)


def test_walks_of_one_node_are_refused(karate, sampler_of):
    with pytest.raises(SettingsError, match="walk_length must be at least 2"):
        sampler_of(karate, "deepwalk", walk_length=1)


def test_biases_that_hardly_any_step_passes_are_refused(karate, sampler_of):
    with pytest.raises(SettingsError, match="within a factor of 1,000"):
        sampler_of(karate, "node2vec", p=1e-9)
