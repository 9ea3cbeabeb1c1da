import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.graphs.generators import GENERATORS, erdos_renyi
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.shards import write_shards, write_store
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.random import hash64, stream
from ogg_hpc.training.graphs import whole_graphs
from ogg_hpc.training.rows import training_rows
from ogg_hpc.training.settings import GraphSource


class OneOf(Communicator):
    """One rank of several, for work that communicates nothing."""

    def __init__(self, rank, size):
        super().__init__()
        self.rank, self.size = rank, size


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graphs")
    generator = np.random.default_rng(3)
    graphs = []
    for n in (9, 1, 14):
        edges = np.argwhere(np.triu(generator.random((n, n)) < 0.4, 1))
        graph = Graph.from_edges(n, edges[:, 0], edges[:, 1], generator.random(len(edges)))
        graphs.append(graph.with_node_weights(np.arange(n) + 1))
    write_store(folder / "store.h5", graphs)
    write_shards(folder / "shards", graphs, graphs_per_shard=2)
    u, v, w = graphs[2].edges()
    lines = [f"{a} {b} {c!r}\n" for a, b, c in zip(u.tolist(), v.tolist(), w.tolist(), strict=True)]
    (folder / "one.edges").write_text("".join(lines))
    return {
        "generator": GraphSource(family="er", nodes=(6, 13), p=0.3, count=4),
        "store": GraphSource(path=str(folder / "store.h5")),
        "shards": GraphSource(path=str(folder / "shards")),
        "file": GraphSource(path=str(folder / "one.edges")),
    }


@pytest.mark.parametrize("cache", [0, math.inf])
@pytest.mark.parametrize("balance", ["rows", "edges"])
@pytest.mark.parametrize("kind", ["generator", "store", "shards", "file"])
def test_rows_are_those_of_the_whole_graphs(sources, kind, balance, cache):
    source = sources[kind]
    ranks = [training_rows(OneOf(rank, 3), [source], balance, cache=cache) for rank in range(3)]
    ranks = [[rows[graph] for graph in range(len(rows))] for rows in ranks]
    graphs = list(whole_graphs(source))
    assert len(graphs) == len(ranks[0]) > 0
    for graph, blocks in zip(graphs, zip(*ranks, strict=True), strict=True):
        assert all(block.n == graph.n for block in blocks)
        assert all(block.entries == len(graph.columns) for block in blocks)
        columns = np.concatenate([block.columns for block in blocks])
        np.testing.assert_array_equal(columns, graph.columns)
        degrees = np.concatenate([np.diff(block.row_offsets) for block in blocks])
        np.testing.assert_array_equal(degrees, graph.degrees)
        assert (graph.weights is None) == (kind == "generator")
        assert (graph.node_weights is None) == (kind in ("generator", "file"))
        for block in blocks:
            np.testing.assert_array_equal(block.node_weights, graph.node_weights)
        if graph.weights is not None:
            weights = np.concatenate([block.weights for block in blocks])
            np.testing.assert_array_equal(weights, graph.weights)


def test_nodes_of_generated_graphs_get_weights_where_these_are_asked_for():
    source = GraphSource(family="er", nodes=200, p=0.1, count=2, lightest=3, heaviest=5)
    one, other = whole_graphs(source)
    assert np.unique(one.node_weights).tolist() == [3, 4, 5]
    assert one.node_weights.tolist() != other.node_weights.tolist()
    with pytest.raises(SettingsError, match="lightest"):
        list(whole_graphs(GraphSource(family="er", nodes=9, lightest=0, heaviest=5)))


def test_generated_graph_is_a_function_of_seed_and_number():
    many = list(whole_graphs(GraphSource(family="er", nodes=20, p=0.2, count=5, seed=3)))
    few = list(whole_graphs(GraphSource(family="er", nodes=20, p=0.2, count=2, seed=3)))
    expected = erdos_renyi(20, 0.2, int(hash64(3, stream("graph"), 1)))
    for graph in (many[1], few[1]):
        np.testing.assert_array_equal(graph.columns, expected.columns)
    other = next(whole_graphs(GraphSource(family="er", nodes=20, p=0.2, count=1, seed=4)))
    assert not np.array_equal(other.columns, many[0].columns)


def test_sizes_fill_their_range():
    source = GraphSource(family="ba", nodes=(5, 8), d=2, count=60)
    sizes = [graph.n for graph in whole_graphs(source)]
    assert set(sizes) == {5, 6, 7, 8}


def test_parameters_are_drawn_from_their_ranges():
    source = GraphSource(family="ba", nodes=12, d=(1, 3), count=40)
    assert {graph.m for graph in whole_graphs(source)} == {(12 - d) * d for d in (1, 2, 3)}
    source = GraphSource(family="er", nodes=60, p=(0.1, 0.5), count=60)
    densities = np.array([graph.m / (60 * 59 / 2) for graph in whole_graphs(source)])
    assert 0.05 < densities.min() < 0.15
    assert 0.45 < densities.max() < 0.55
    assert 0.25 < densities.mean() < 0.35


@pytest.mark.parametrize("family", GENERATORS)
def test_every_family_takes_its_parameters(family):
    [graph] = whole_graphs(GraphSource(family=family, nodes=16, p=0.5, d=2, count=1))
    assert graph.n == 16
    assert graph.m > 0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "either `family` or `path`"),
        ({"family": "er", "path": "x.h5"}, "either `family` or `path`"),
        ({"family": "er", "nodes": (5,)}, r"a number or \[least, most\]"),
        ({"family": "er", "nodes": (5, 4)}, r"a number or \[least, most\]"),
        ({"family": "er", "nodes": (0, 4)}, r"a number or \[least, most\]"),
        ({"family": "er", "p": (0.5, 0.1)}, r"`p` is a number or \[least, most\]"),
        ({"family": "ba", "d": (1, 2, 3)}, r"`d` is a number or \[least, most\]"),
        ({"family": "er", "count": 0}, "`count` must be at least 1"),
    ],
)
def test_bad_source_is_refused(values, message):
    with pytest.raises(SettingsError, match=message):
        GraphSource(**values)


def test_unknown_family_and_missing_file_are_refused():
    with pytest.raises(SettingsError, match="family 'tree' is unknown; use er, ba"):
        next(whole_graphs(GraphSource(family="tree")))
    with pytest.raises(InputError, match=r"none\.h5"):
        next(whole_graphs(GraphSource(path="none.h5")))


def test_names_of_sources():
    assert GraphSource(family="er", nodes=20).name == "er20"
    assert GraphSource(family="ba", nodes=(5, 9)).name == "ba5-9"
    assert GraphSource(path="some/where/real.mtx").name == "real"


@pytest.mark.parametrize(
    ("graphs", "message"),
    [
        ([], "holds no graph"),
        ([Graph.from_edges(2, [0], [1], directed=True)], "data convert --undirected"),
    ],
)
def test_stores_that_cannot_be_learned_on_are_refused(tmp_path, graphs, message):
    write_store(tmp_path / "store.h5", graphs)
    source = GraphSource(path=str(tmp_path / "store.h5"))
    for read in (whole_graphs, lambda source: training_rows(Communicator(), [source], "rows")):
        with pytest.raises(InputError, match=message):
            list(read(source))


def test_directed_files_are_refused_unless_arcs_count_as_edges(tmp_path):
    path = tmp_path / "arcs.net"
    path.write_text("*Vertices 3\n*Arcs\n1 2\n2 3\n")
    with pytest.raises(SettingsError, match="the graph is directed"):
        list(whole_graphs(GraphSource(path=str(path))))
    [graph] = whole_graphs(GraphSource(path=str(path), undirected=True))
    assert (graph.n, graph.m) == (3, 2)


GRAPHS = st.integers(0, 10)  # of the store, the shards, the generator and the file together


@given(
    order=st.lists(st.one_of(GRAPHS, st.lists(GRAPHS, max_size=5)), max_size=30),
    cache=st.sampled_from([0, 0.001, 0.003, 100]),
)
def test_rows_are_the_same_in_any_order_and_cache(sources, order, cache):
    named = sources.values()
    expected = training_rows(Communicator(), named, "rows")
    rows = training_rows(Communicator(), named, "rows", cache=cache)
    assert rows.stored == (cache < 100)
    np.testing.assert_array_equal(rows.sizes, expected.sizes)
    np.testing.assert_array_equal(rows.entries, expected.entries)
    assert len(rows) == 11
    for step in order:
        if isinstance(step, int):
            found, block = rows[step], expected[step]
            for name in ("row_offsets", "columns", "weights", "node_weights"):
                np.testing.assert_array_equal(getattr(found, name), getattr(block, name))
            assert found.entries == block.entries
            assert not found.partition.offsets[0]
        else:
            rows.expect(step)


def test_weights_of_edges_are_left_out_where_they_do_not_count(sources):
    for cache in (0, math.inf):
        rows = training_rows(
            Communicator(), [sources["store"]], "rows", weighted=False, cache=cache
        )
        assert not rows.weighted
        assert rows[2].weights is None
        assert rows[2].node_weights is not None
