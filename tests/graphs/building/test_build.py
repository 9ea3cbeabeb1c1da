"""Built stores against `Graph.from_edges` and `write_store`, the plain reference."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from edge_blocks import ArrayBlocks, build, digest, random_edges, small_pieces
from hypothesis import given, settings
from hypothesis import strategies as st

from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.graphs.building import ranges
from ogg_hpc.graphs.building.build import build_store
from ogg_hpc.graphs.building.edges import ConflictingEdgesError, Edges
from ogg_hpc.graphs.building.keys import MOST_NODES
from ogg_hpc.graphs.graph import ConflictingWeightsError, Graph
from ogg_hpc.graphs.names import Names
from ogg_hpc.graphs.readers.build import build_from_matrix
from ogg_hpc.graphs.shards import GraphStore, check_store
from ogg_hpc.graphs.statistics import graph_statistics
from ogg_hpc.graphs.store_output import write_store
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.parts import Parts

ALONE = Communicator()


@pytest.fixture(autouse=True, scope="module")
def _small_pieces():
    with small_pieces():
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder that all examples share."""
    return tmp_path_factory.mktemp("stores")


@st.composite
def edge_lists(draw, weights):
    """Draw a number of nodes and some edges; repetitions and self loops are likely."""
    n = draw(st.integers(0, 9))
    node = st.integers(0, max(0, n - 1))
    pairs = draw(st.lists(st.tuples(node, node), max_size=40 if n else 0))
    ends = np.array(pairs, dtype=draw(st.sampled_from([np.int32, np.int64]))).reshape(-1, 2)
    values = None
    if weights:
        numbers = st.sampled_from([-1.5, -0.0, 0.0, 2.0])
        # Mostly one for each pair of nodes, so that conflicts are rare.
        of_pair = draw(st.lists(numbers, min_size=100, max_size=100))
        lo, hi = ends.min(axis=1), ends.max(axis=1)
        values = np.array(of_pair)[lo * 10 + hi] if len(ends) else np.empty(0)
        for place in draw(st.lists(st.integers(0, 99), max_size=1)):
            values[place : place + 1] = 3.0
    return n, Edges(ends[:, 0], ends[:, 1], values)


def outcome(make):
    """Return what a function gives, or else its error about conflicting weights."""
    try:
        return make(), None
    except (ConflictingWeightsError, InputError) as error:
        return None, error


def assert_equal_stores(path, expected):
    """Compare all datasets and attributes of two stores."""
    with h5py.File(path) as one, h5py.File(expected) as other:
        assert set(one) == set(other)
        for name in one:
            assert one[name].dtype == other[name].dtype, name
            assert one[name].chunks == other[name].chunks, name
            np.testing.assert_array_equal(one[name][:], other[name][:], err_msg=name)
        assert dict(one.attrs) == dict(other.attrs)


def assert_is_the_store_of(path, built, graph):
    """Compare a store that was built, and what is said of it, with a graph."""
    write_store(path.with_name("expected.h5"), [graph])
    assert_equal_stores(path, path.with_name("expected.h5"))
    assert check_store(path) == []
    assert (built.nodes, built.edges, built.entries) == (graph.n, graph.m, len(graph.columns))
    assert (built.directed, built.weighted) == (graph.directed, graph.weights is not None)
    assert (built.self_loops, built.duplicates) == (graph.self_loops, graph.duplicates)
    assert (built.reversed_pairs, built.looped) == (graph.reversed_pairs, len(graph.looped))
    assert built.isolated == graph_statistics(graph).isolated


@settings(max_examples=40)
@given(edge_lists(weights=False), st.integers(1, 20), st.booleans())
def test_a_store_holds_what_the_graph_in_memory_does(folder, edge_list, block, directed):
    n, edges = edge_list
    built = build(ALONE, folder / "a.h5", n, edges, block=block, directed=directed)
    graph = Graph.from_edges(n, edges.sources, edges.targets, directed=directed)
    assert_is_the_store_of(folder / "a.h5", built, graph)


@settings(max_examples=40)
@given(edge_lists(weights=True), st.integers(1, 20), st.booleans())
def test_weights_are_kept_and_conflicts_are_named(folder, edge_list, block, directed):
    n, edges = edge_list
    options = {"block": block, "directed": directed}
    graph, conflict = outcome(lambda: Graph.from_edges(n, *edges, directed=directed))
    if graph is not None:
        assert_is_the_store_of(
            folder / "a.h5", build(ALONE, folder / "a.h5", n, edges, **options), graph
        )
        return
    with pytest.raises(ConflictingEdgesError, match=r"edge .* appears with two weights") as found:
        build(ALONE, folder / "a.h5", n, edges, **options)
    u, v, *_ = conflict.args
    same = (edges.sources == u) & (edges.targets == v)
    if not directed:
        same |= (edges.targets == u) & (edges.sources == v)
    assert (found.value.source, found.value.target) == (u, v)
    assert found.value.weights == (edges.weights[same].min(), edges.weights[same].max())


@settings(max_examples=40)
@given(
    edge_lists(weights=True),
    st.integers(1, 20),
    st.sampled_from([None, False, True]),
    st.booleans(),
    st.booleans(),
)
def test_a_matrix_gives_the_graph_that_its_reader_gives(
    folder, edge_list, block, directed, weighted, symmetric
):
    n, (sources, targets, weights) = edge_list
    if symmetric:
        sources, targets = np.append(sources, targets), np.append(targets, sources)
        weights = np.append(weights, weights)
    # Its reader takes weights of 0 for no edges, and no weights for none but 1.
    values = np.where(weights == 0, 7.0, weights) if weighted and len(weights) else None
    edges = Edges(sources, targets, values)
    options = {"block": block, "directed": directed, "matrix": True}
    graph, conflict = outcome(
        lambda: build_from_matrix(Path("a.mtx"), n, sources, targets, values, directed)
    )
    if graph is not None:
        built = build(ALONE, folder / "a.h5", n, edges, **options)
        assert_is_the_store_of(folder / "a.h5", built, graph)
    else:
        assert "has two weights" in str(conflict)
        with pytest.raises(ConflictingEdgesError):
            build(ALONE, folder / "a.h5", n, edges, **options)


@settings(max_examples=15)
@given(edge_lists(weights=False), st.randoms(use_true_random=False))
def test_the_bytes_depend_on_the_edges_alone(folder, edge_list, random):
    n, edges = edge_list
    build(ALONE, folder / "a.h5", n, edges)
    order = list(range(len(edges.sources)))
    random.shuffle(order)
    shuffled = Edges(edges.sources[order], edges.targets[order])
    for block, memory in ((1, 1), (5, 1 << 40), (100, 1 << 20)):
        build(ALONE, folder / "b.h5", n, shuffled, block=block, memory=memory)
        assert digest(folder / "b.h5") == digest(folder / "a.h5")


@pytest.mark.parametrize(
    "labels",
    [
        None,
        np.arange(40) * 3 - 50,
        Names.from_strings(f"node {'é' * (i % 4)}{i}" for i in range(40)),
        Names.from_strings(["", *(f"{i}" for i in range(39))]),
    ],
    ids=["none", "integers", "names", "an empty name"],
)
@pytest.mark.parametrize("node_weighted", [False, True])
def test_labels_weights_of_nodes_and_provenance_are_stored(tmp_path, labels, node_weighted):
    edges = random_edges(40, 90, seed=1)
    node_weights = np.arange(1.0, 41.0) if node_weighted else None
    provenance = {"source": "a test", "seed": 7}
    options = {"labels": labels, "node_weights": node_weights, "attributes": provenance}
    build(ALONE, tmp_path / "a.h5", 40, edges, **options)
    strings = np.array(labels.to_strings()) if isinstance(labels, Names) else labels
    graph = Graph.from_edges(40, edges.sources, edges.targets, labels=strings)
    write_store(tmp_path / "b.h5", [graph.with_node_weights(node_weights)], provenance)
    assert_equal_stores(tmp_path / "a.h5", tmp_path / "b.h5")
    assert check_store(tmp_path / "a.h5") == []
    with GraphStore(tmp_path / "a.h5") as store:
        assert store.attributes == provenance


def test_the_row_of_a_hub_spans_ranges(tmp_path):
    n = 500
    sources, targets = np.zeros(n - 1, np.int64), np.arange(1, n)
    built = build(ALONE, tmp_path / "a.h5", n, Edges(sources, targets), block=50)
    assert_is_the_store_of(tmp_path / "a.h5", built, Graph.from_edges(n, sources, targets))


def test_an_edge_that_is_repeated_for_ever_is_one_edge(tmp_path):
    sources, targets = np.full(100_000, 2), np.full(100_000, 1)
    built = build(ALONE, tmp_path / "a.h5", 4, Edges(sources, targets), block=10_000)
    assert_is_the_store_of(tmp_path / "a.h5", built, Graph.from_edges(4, sources, targets))


@pytest.mark.parametrize("ordered", [False, True])
def test_no_order_of_the_edges_fills_the_memory(tmp_path, monkeypatch, ordered):
    read, held = ranges._read, []

    def watched(*arguments):
        pieces = read(*arguments)
        held.append(sum(len(keys) for piece in pieces for keys, _ in piece))
        return pieces

    monkeypatch.setattr(ranges, "_read", watched)
    edges = random_edges(60, 200, seed=8)
    if ordered:
        edges = Edges(*(np.sort(ends) for ends in edges[:2]))
    build(ALONE, tmp_path / "a.h5", 60, edges, block=40, memory=1)
    assert len(held) > 10
    # Ranges of 16 keys, give or take 3 for each of 5 runs.
    assert max(held) <= 16 + 5 * 3


def test_ids_beyond_32_bits_are_kept(tmp_path, monkeypatch):
    n = MOST_NODES
    sources, targets = np.array([n - 1, 5, n - 2]), np.array([2**31, n - 1, n - 2])
    # The offsets of three thousand million rows are left out.
    columns = {}
    monkeypatch.setattr(
        "ogg_hpc.graphs.building.build.compress_columns",
        lambda comm, found, parts, report: columns.update(
            {
                name: column.read(0, column.length)
                for name, column in found.items()
                if name != "row_offsets"
            }
        ),
    )
    monkeypatch.setattr("ogg_hpc.graphs.building.build.assemble", lambda *_: None)
    built = build(ALONE, tmp_path / "a.h5", n, Edges(sources, targets))
    assert columns["columns"].tolist() == [n - 1, n - 1, 5, 2**31]
    assert columns["columns"].dtype == np.int64
    assert columns["looped"].tolist() == [n - 2]
    assert (built.edges, built.isolated) == (2, n - 3)


def test_more_nodes_than_keys_can_tell_apart_are_refused(tmp_path):
    with pytest.raises(SettingsError, match="nodes are too many"):
        build(ALONE, tmp_path / "a.h5", MOST_NODES + 1, random_edges(5, 5, seed=0))


def test_progress_rises_to_all_of_the_work(tmp_path):
    told = []
    edges = random_edges(30, 200, seed=2)
    build(ALONE, tmp_path / "a.h5", 30, edges, report=lambda *numbers: told.append(numbers))
    assert told == sorted(told)
    assert told[0][0] > 0
    assert told[-1] == (300, 300)


class _InterruptedError(Exception):
    """Stands for all that can end a job between two parts."""


@pytest.fixture
def interrupt(monkeypatch):
    """Let the write of parts fail after some; return the list of those that were written."""
    write = Parts.write

    def after(count):
        written = []

        def limited(self, name, **arrays):
            if len(written) == count:
                raise _InterruptedError
            write(self, name, **arrays)
            written.append(name)

        monkeypatch.setattr(Parts, "write", limited)
        return written

    return after


@pytest.mark.parametrize("weighted", [False, True])
def test_a_job_goes_on_wherever_it_was_interrupted(tmp_path, interrupt, weighted):
    edges = random_edges(12, 40, seed=3, weighted=weighted)
    options = {"block": 8, "labels": np.arange(12) + 1}
    names = interrupt(-1)
    build(ALONE, tmp_path / "a.h5", 12, edges, **options)
    assert {name.split("-")[0] for name in names} == {"run", "ranges", "range", "chunks"}
    for count in range(len(names)):
        before = interrupt(count)
        with pytest.raises(_InterruptedError):
            build(ALONE, tmp_path / "b.h5", 12, edges, **options)
        assert not (tmp_path / "b.h5").exists()
        after = interrupt(-1)
        build(ALONE, tmp_path / "b.h5", 12, edges, **options)
        assert before + after == names
        assert digest(tmp_path / "b.h5") == digest(tmp_path / "a.h5")
        (tmp_path / "b.h5").unlink()


def test_damaged_parts_are_made_again(tmp_path, interrupt):
    edges = random_edges(12, 40, seed=3)
    names = interrupt(-1)
    build(ALONE, tmp_path / "a.h5", 12, edges)
    for count in range(1, len(names), 3):
        interrupt(count)
        with pytest.raises(_InterruptedError):
            build(ALONE, tmp_path / "b.h5", 12, edges)
        for path in sorted((tmp_path / ".b.h5.parts").glob("*.npz"))[count % 2 :: 2]:
            content = bytearray(path.read_bytes())
            content[len(content) // 2] ^= 1
            path.write_bytes(content)
        interrupt(-1)
        build(ALONE, tmp_path / "b.h5", 12, edges)
        assert digest(tmp_path / "b.h5") == digest(tmp_path / "a.h5")


def test_finished_blocks_are_not_read_again(tmp_path, interrupt):
    edges, path = random_edges(12, 40, seed=3), tmp_path / "a.h5"
    interrupt(3)
    blocks = ArrayBlocks(edges, 8)
    with pytest.raises(_InterruptedError):
        build_store(ALONE, path, 12, blocks, parts=Parts.open(ALONE, path, {}), memory=1)
    assert blocks.read_blocks == [0, 1, 2, 3]
    interrupt(-1)
    blocks = ArrayBlocks(edges, 8)
    build_store(ALONE, path, 12, blocks, parts=Parts.open(ALONE, path, {}), memory=1)
    assert blocks.read_blocks == [3, 4]
