"""Graphs to walk on: all forms, on any number of ranks, give what one rank alone gets."""

from dataclasses import replace

import numpy as np
import pytest

from ogg_hpc.embedding.graph_input import open_walk_graph, place_graph
from ogg_hpc.embedding.row_block_graph import RowBlockGraph
from ogg_hpc.embedding.sampling import Pairs, make_sampler
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.embedding.shared_graph import SharedGraph
from ogg_hpc.errors import OggError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.shards import write_store
from ogg_hpc.runtime import shared_memory

METHODS = {
    "deepwalk": EmbedSettings(walk_length=9, window=3, walks=3),
    "node2vec": EmbedSettings(method="node2vec", p=0.3, q=2.5, walk_length=9, window=3, walks=3),
    "outward": EmbedSettings(method="node2vec", p=4.0, q=0.2, walk_length=9, window=3, walks=3),
    "line": EmbedSettings(method="line", samples=200),
    "app": EmbedSettings(method="app", walks=6),
}
FORMS = ("shared", "rows")


def some_graph(n: int, directed: bool, weighted: bool) -> Graph:
    """A graph with isolated nodes, and dead ends if it is directed."""
    generator = np.random.default_rng([n, directed, weighted])
    edges = generator.integers(0, max(n - n // 4, 1), (3 * n, 2))
    keys = np.unique(np.sort(edges, axis=1) if not directed else edges, axis=0)
    weights = generator.uniform(0.1, 5.0, len(keys)) if weighted else None
    return Graph.from_edges(n, *keys.T, weights, directed=directed)


def all_items(comm, sampler, epoch: int) -> Pairs:
    """Draw all items, each rank a share of them in two calls, and bring them into order."""
    lo, hi = (sampler.items * rank // comm.size for rank in (comm.rank, comm.rank + 1))
    middle = (lo + hi) // 2
    parts = [sampler.sample(epoch, np.arange(a, b)) for a, b in ((lo, middle), (middle, hi))]
    everyone = [part for of_rank in comm.gather_objects(parts) for part in of_rank]
    return Pairs(
        *(
            np.concatenate([getattr(part, name) for part in everyone])
            for name in ("sources", "contexts", "counts")
        )
    )


@pytest.mark.parametrize("n", [2, 30])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_pairs_do_not_depend_on_ranks_or_on_where_the_graph_lies(
    comm, alone, method, directed, weighted, n
):
    graph = some_graph(n, directed, weighted) if n > 2 else Graph.from_edges(2, [0], [1])
    settings = METHODS[method]
    expected = all_items(alone, make_sampler(SharedGraph(alone, graph), settings), 1)
    assert len(expected)
    for form in FORMS:
        opened = place_graph(
            comm, graph if comm.rank == 0 else None, replace(settings, graph_memory=form)
        )
        found = all_items(comm, make_sampler(opened.graph, settings), 1)
        assert np.array_equal(found.sources, expected.sources)
        assert np.array_equal(found.contexts, expected.contexts)
        assert np.array_equal(found.counts, expected.counts)
        assert found.sources.dtype == expected.sources.dtype == np.int32
        opened.graph.free()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_sums_of_weights_are_those_of_the_whole_graph_bit_for_bit(
    comm, alone, form, directed, weighted
):
    graph = some_graph(40, directed, weighted)
    expected = SharedGraph(alone, graph)
    settings = EmbedSettings(graph_memory=form)
    found = place_graph(comm, graph if comm.rank == 0 else None, settings).graph
    for name in ("degrees", "strengths", "in_strengths"):
        assert np.array_equal(getattr(found, name), getattr(expected, name))
    matrix = graph.to_scipy()
    assert found.strengths == pytest.approx(np.asarray(matrix.sum(axis=1)).ravel())
    assert found.in_strengths == pytest.approx(np.asarray(matrix.sum(axis=0)).ravel())
    assert (found.directed, found.weighted, found.n) == (directed, weighted, 40)
    found.free()


def test_a_walker_asks_for_walks_where_others_ask_for_none(comm, alone):
    graph = some_graph(20, False, True)
    rows = place_graph(
        comm, graph if comm.rank == 0 else None, EmbedSettings(graph_memory="rows")
    ).graph
    last = comm.rank == comm.size - 1
    starts = np.arange(5 if last else 0)
    walks = rows.walks(starts, starts.astype(np.uint64), 7, p=0.5, q=2.0)
    expected = SharedGraph(alone, graph).walks(starts, starts.astype(np.uint64), 7, p=0.5, q=2.0)
    assert np.array_equal(walks, expected)


@pytest.fixture
def store(comm, tmp_path_factory):
    """A store of two graphs, a directed one and another, on a path all ranks know."""

    def write():
        folder = tmp_path_factory.mktemp("store")
        graphs = [some_graph(30, True, True), some_graph(12, True, True)]
        labels = np.array([f"node {i}" for i in range(30)])
        graphs[0] = replace(graphs[0], labels=labels, self_loops=3, duplicates=2)
        equal = np.full_like(graphs[1].weights, 2.0)
        graphs[1] = replace(graphs[1], labels=labels[:12], weights=equal)
        write_store(folder / "two.h5", graphs)
        return str(folder / "two.h5")

    return comm.on_root(write)


@pytest.mark.parametrize("form", FORMS)
def test_a_stored_graph_is_opened_in_either_form(comm, alone, store, form):
    settings = EmbedSettings(method="app", walks=2, graph_memory=form)
    opened = open_walk_graph(comm, f"{store}:0", settings)
    assert isinstance(opened.graph, RowBlockGraph) == (form == "rows")
    graph = some_graph(30, True, True)
    assert (opened.m, opened.self_loops, opened.duplicates) == (graph.m, 3, 2)
    if comm.rank == 0:
        assert opened.labels[7] == "node 7"
    else:
        assert opened.labels is None
    expected = all_items(alone, make_sampler(SharedGraph(alone, graph), settings), 0)
    found = all_items(comm, make_sampler(opened.graph, settings), 0)
    assert np.array_equal(found.contexts, expected.contexts)
    opened.graph.free()


@pytest.mark.parametrize("form", FORMS)
def test_a_stored_graph_may_be_made_undirected_and_unweighted(comm, store, form):
    settings = EmbedSettings(weighted=False, graph_memory=form)
    arcs = open_walk_graph(comm, f"{store}:1", settings).graph
    edges = open_walk_graph(comm, f"{store}:1", replace(settings, undirected=True)).graph
    assert arcs.directed
    assert not edges.directed
    for graph in (arcs, edges):
        assert not graph.weighted
        assert np.array_equal(graph.strengths, graph.degrees)
    assert np.all(edges.degrees >= np.maximum(arcs.degrees, arcs.in_strengths))


@pytest.mark.parametrize("form", FORMS)
def test_a_generated_graph_is_opened_in_either_form(comm, form):
    opened = open_walk_graph(comm, "ba:n=50,d=4,seed=3", EmbedSettings(graph_memory=form))
    assert opened.graph.n == 50
    assert opened.graph.degrees.sum() == 2 * opened.m


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weight", [-1.0, 0.0])
def test_weights_that_are_not_positive_are_refused_on_all_ranks(comm, form, weight):
    graph = Graph.from_edges(
        4, [0, 1, 2], [1, 2, 3], [1.0, 2.0, weight], labels=np.array(["a", "b", "c", "d"])
    )
    settings = EmbedSettings(graph_memory=form)
    with pytest.raises(OggError, match=r"edge \(c, d\) has weight .*--unweighted"):
        place_graph(comm, graph if comm.rank == 0 else None, settings)
    place_graph(comm, graph if comm.rank == 0 else None, replace(settings, weighted=False))


def test_memory_decides_where_a_graph_lies(comm, monkeypatch):
    graph = some_graph(30, False, False) if comm.rank == 0 else None
    settings = EmbedSettings()
    roomy = place_graph(comm, graph, settings).graph
    assert isinstance(roomy, SharedGraph)
    if comm.rank == comm.size - 1:  # one node with too little makes all ranks share by rows
        monkeypatch.setattr("ogg_hpc.embedding.graph_input.free_shared_bytes", lambda: 1000)
    tight = place_graph(comm, graph, settings).graph
    assert isinstance(tight, RowBlockGraph) == (comm.size > 1)
    roomy.free()


def test_too_little_shared_memory_is_an_error_with_a_remedy(comm, monkeypatch):
    monkeypatch.setattr(shared_memory, "free_shared_bytes", lambda: 1000)
    graph = some_graph(30, False, False) if comm.rank == 0 else None
    if comm.size == 1:
        place_graph(comm, graph, EmbedSettings(graph_memory="shared"))
        return
    with pytest.raises(OggError, match=r"/dev/shm of .* has .* MiB left.*--graph-memory rows"):
        place_graph(comm, graph, EmbedSettings(graph_memory="shared"))
