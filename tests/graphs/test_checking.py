"""Checks of stores find what a plain check in memory finds, however finely they cut the work."""

from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import h5py
import numpy as np
import pytest
from graph_faults import graph_faults
from hypothesis import given, settings
from hypothesis import strategies as st

from ogg_hpc.graphs.checking import labels, offsets, rows, symmetry, values
from ogg_hpc.graphs.generators import barabasi_albert, erdos_renyi
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.shards import Objective, SolvedGraph, check_store, write_store


@pytest.fixture(autouse=True, scope="module", params=["at once", "in small parts"])
def parts(request: pytest.FixtureRequest) -> Iterator[None]:
    """Limits of memory, and such that each small graph takes several parts."""
    limits = [
        (offsets, "_BLOCK", 3),
        (rows, "_ROWS", 3),
        (rows, "_ENTRIES", 4),
        (rows, "_MOST_SUMS", 4),
        (symmetry, "_CANDIDATES", 3),
        (labels, "_HASHES", 2),
        (labels, "_TEXT", 5),
        (values, "_LOOPS", 1),
    ]
    if request.param == "at once":
        yield
        return
    for module, name, small in limits:
        mock.patch.object(module, name, small).start()
    yield
    mock.patch.stopall()


@st.composite
def damaged_graphs(draw: st.DrawFn, kind: tuple[bool, bool, bool, str]) -> Graph:
    """A graph of which a few entries, weights or labels are not as they should be."""
    directed, weighted, node_weighted, labelled = kind
    n = draw(st.integers(0, 9))
    edges = draw(st.sets(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=20))
    pairs = [(u, v) for u, v in edges if u < v < n]
    graph = Graph.from_edges(
        n,
        [u for u, _ in pairs],
        [v for _, v in pairs],
        [u - v + 0.5 for u, v in pairs] if weighted else None,
        directed=directed,
    )
    columns, looped = graph.columns.copy(), draw(st.lists(st.integers(0, n - 1))) if n else []
    weights = None if graph.weights is None else graph.weights.copy()
    for _ in range(draw(st.integers(0, 2)) if len(columns) else 0):
        columns[draw(st.integers(0, len(columns) - 1))] = draw(st.integers(-1 if n > 5 else 0, n))
    if weights is not None and len(weights):
        for _ in range(draw(st.integers(0, 2))):
            at = draw(st.integers(0, len(weights) - 1))
            weights[at] = draw(st.sampled_from([0.5, -0.0, 0.0, np.inf, np.nan]))
    looped += draw(st.sampled_from([[], [], [], [-1], [n]]))
    node_weights = np.array(draw(st.lists(st.sampled_from([1, 2, 0, np.nan]), min_size=n)))[:n]
    names = draw(st.lists(st.integers(0, 40), min_size=n, max_size=n, unique=draw(st.booleans())))
    if draw(st.booleans()):
        names.sort()
    return Graph(
        graph.row_offsets,
        columns,
        weights,
        {
            "none": None,
            "integer": np.array(names, np.int64),
            "text": np.array(["é" * (name % 3) + str(name) for name in names], np.str_),
        }[labelled],
        directed,
        np.array(looped, np.int64),
        node_weights=node_weights.astype(float) if node_weighted else None,
    )


@st.composite
def stores(draw: st.DrawFn) -> list[Graph]:
    booleans = tuple(draw(st.booleans()) for _ in range(3))
    kind = (*booleans, draw(st.sampled_from(["none", "integer", "text"])))
    return draw(st.lists(damaged_graphs(kind), max_size=6))


@settings(max_examples=80)
@given(stores())
def test_the_same_faults_are_found_as_in_memory(
    tmp_path_factory: pytest.TempPathFactory, graphs: list[Graph]
) -> None:
    path = tmp_path_factory.mktemp("store") / "graphs.h5"
    write_store(path, graphs)
    assert check_store(path) == [
        f"{path}: graph {number}: {fault}"
        for number, graph in enumerate(graphs)
        for fault in graph_faults(graph)
    ]


def test_one_of_many_entries_without_a_reverse_is_named(tmp_path: Path) -> None:
    path = tmp_path / "graph.h5"
    graph = barabasi_albert(200, 4, 0)
    for i, j in [(0, 5), (100, 3), (199, int(graph.neighbours(199)[0]))]:
        # The entry is moved away from a node, so that what pointed to it has no reverse.
        columns = graph.columns.copy()
        row = slice(*graph.row_offsets[[i, i + 1]])
        absent = next(v for v in range(graph.n) if v not in {i, *columns[row].tolist()})
        columns[row] = np.sort(np.append(columns[row][1:], absent))
        broken = Graph(graph.row_offsets, columns)
        write_store(path, [graph, broken, graph])
        (expected,) = graph_faults(broken)
        assert check_store(path) == [f"{path}: graph 1: {expected}"], (i, j)


def test_a_graph_of_lower_triangles_alone_is_not_symmetric(tmp_path: Path) -> None:
    whole = erdos_renyi(60, 0.2, 1)
    lower = whole.rows > whole.columns
    row_offsets = np.concatenate([[0], np.cumsum(np.bincount(whole.rows[lower], minlength=60))])
    half = Graph(row_offsets, whole.columns[lower])
    write_store(tmp_path / "g.h5", [half])
    (expected,) = graph_faults(half)
    assert check_store(tmp_path / "g.h5") == [f"{tmp_path / 'g.h5'}: graph 0: {expected}"]


def test_labels_of_equal_hashes_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "graph.h5"
    honest = labels.hash64

    def poor(seed: int, *items: object) -> np.ndarray:
        hashes = honest(seed, *items)  # type: ignore[arg-type]
        return hashes % np.uint64(3) if seed < 2 else hashes

    monkeypatch.setattr(labels, "hash64", poor)
    for names, repeated in [([5, 1, 8, 3, 9, 2, 7], False), ([5, 1, 8, 3, 9, 1, 7], True)]:
        graph = Graph.from_edges(7, [0], [1], labels=np.array(names))
        write_store(path, [graph, graph])
        assert len(check_store(path)) == 2 * repeated


def edited(path: Path, name: str, where: int, value: object) -> list[str]:
    with h5py.File(path, "r+") as file:
        file[name][where] = value
    return check_store(path)


def test_text_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "graph.h5"
    good = Graph.from_edges(3, [0], [1], labels=np.array(["a", "bé", "c"]))
    write_store(path, [good, good])
    with h5py.File(path) as file:
        where = int(file["label_offsets"][5]) - 1
    expected = [f"{path}: graph 1: the label of node 1 is not UTF-8"]
    assert edited(path, "label_bytes", where, ord("x")) == expected
    write_store(path, [good, good])
    # Both characters are whole, but the border of the names lies within one.
    assert edited(path, "label_offsets", 5, where)[0].endswith("node 1 is not UTF-8")


@pytest.mark.parametrize(
    ("name", "where", "value", "fault"),
    [
        ("graph_nodes", 1, 90, "dataset 'graph_nodes' does not rise from 0 to 40: see entry 1"),
        ("graph_entries", 0, 1, "dataset 'graph_entries' does not rise from 0 to 204: see entry 0"),
        ("graph_entries", 1, 7, "datasets 'graph_entries' and 'row_offsets' disagree at graph 1"),
        ("row_offsets", 5, 90, "dataset 'row_offsets' does not rise from 0 to 204: see entry 6"),
        ("row_offsets", 40, 3, "dataset 'row_offsets' does not rise from 0 to 204: see entry 40"),
        ("looped_offsets", 2, 5, "dataset 'looped_offsets' does not rise from 0 to 0: see entry 2"),
    ],
)
def test_offsets_that_lead_astray_are_named(
    tmp_path: Path, name: str, where: int, value: int, fault: str
) -> None:
    path = tmp_path / "graph.h5"
    write_store(path, [barabasi_albert(20, 3, seed) for seed in range(2)])
    assert edited(path, name, where, value) == [f"{path}: {fault}"]


def test_datasets_of_another_length_or_type_are_named(tmp_path: Path) -> None:
    path = tmp_path / "graph.h5"
    graph = barabasi_albert(20, 3, 0)
    write_store(path, [graph])
    with h5py.File(path, "r+") as file:
        file["columns"].resize((100,))
    assert check_store(path) == [f"{path}: dataset 'columns' has 100 entries, not 102"]
    write_store(path, [graph])
    with h5py.File(path, "r+") as file:
        del file["duplicates"]
        file.create_dataset("duplicates", data=[0.0], chunks=(1,))
    assert check_store(path) == [f"{path}: dataset 'duplicates' has dtype float64, not int64"]
    with h5py.File(path, "r+") as file:
        del file["duplicates"]
    assert check_store(path) == [f"{path}: dataset 'duplicates' is missing or damaged"]


def test_objectives_that_are_none_are_named(tmp_path: Path) -> None:
    path = tmp_path / "graph.h5"
    solved = [SolvedGraph(barabasi_albert(9, 2, 0), {"mvc": Objective(5, True)})] * 3
    write_store(path, solved)
    assert edited(path, "objectives/mvc", 1, np.nan) == [
        f"{path}: graph 1: its objective of 'mvc' is nan, proven"
    ]
    with h5py.File(path, "r+") as file:
        del file["objectives/mvc_proven"]
    assert check_store(path) == [f"{path}: dataset 'objectives/mvc_proven' is missing or damaged"]
