import hashlib
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.graphs.generators import barabasi_albert, erdos_renyi
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.shards import (
    GraphStore,
    Objective,
    SolvedGraph,
    check_store,
    read_store_graph,
    write_shards,
    write_store,
)
from ogg_hpc.graphs.store_file import StoreFile


def assert_same(a: Graph, b: Graph) -> None:
    for name in ("row_offsets", "columns", "weights", "labels", "looped", "node_weights"):
        x, y = getattr(a, name), getattr(b, name)
        if x is None or y is None:
            assert x is y, name
        else:
            assert x.dtype.kind == y.dtype.kind
            assert np.array_equal(x, y), name
    assert a.columns.dtype == b.columns.dtype
    for name in ("directed", "self_loops", "duplicates", "reversed_pairs"):
        assert getattr(a, name) == getattr(b, name), name


@st.composite
def graphs(
    draw: st.DrawFn, directed: bool, weighted: bool, node_weighted: bool, labelled: str
) -> Graph:
    n = draw(st.integers(0, 12))
    node = st.integers(0, max(0, n - 1))
    pairs = draw(st.lists(st.tuples(node, node), max_size=30)) if n else []
    if weighted:
        pairs = list(dict.fromkeys(tuple(sorted(pair)) for pair in pairs))
    weights = np.arange(len(pairs)) - 2.5 if weighted else None
    labels = None
    if labelled == "integer":
        labels = np.arange(n, dtype=np.int64) * 10 - 7
    if labelled == "text":
        labels = np.array([f"ñ{i}-{'x' * (i % 3)}" for i in range(n)], dtype=np.str_)
    u, v = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    graph = Graph.from_edges(n, u, v, weights, labels=labels, directed=directed)
    return graph.with_node_weights(np.arange(n) + 0.1 if node_weighted else None)


@st.composite
def stores(draw: st.DrawFn) -> list[Graph]:
    kind = graphs(
        *(draw(st.booleans()) for _ in range(3)),
        draw(st.sampled_from(["none", "integer", "text"])),
    )
    return draw(st.lists(kind, max_size=5))


@settings(max_examples=40)
@given(stores(), st.integers(1, 3))
def test_graphs_come_back_as_they_went(
    tmp_path_factory: pytest.TempPathFactory, originals: list[Graph], per_shard: int
) -> None:
    folder = tmp_path_factory.mktemp("store")
    attributes = {"generator": "by hand", "seed": 3, "scale": 0.5, "final": True}
    write_store(folder / "all.h5", iter(originals), attributes)
    write_shards(folder / "shards", originals, per_shard, attributes)
    for path in (folder / "all.h5", folder / "shards"):
        assert check_store(path) == []
        with GraphStore(path) as store:
            assert len(store) == len(originals)
            assert store.attributes == attributes
            assert store.nodes.tolist() == [g.n for g in originals]
            assert store.nnz.tolist() == [len(g.columns) for g in originals]
            for i, original in enumerate(originals):
                assert_same(store.read(i), original)
                assert np.array_equal(store.degrees(i), original.degrees)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Graph]:
    """A weighted graph of several chunks, behind a small one."""
    plain = erdos_renyi(3000, 0.2, 1)
    u, v, _ = plain.edges()
    graph = Graph.from_edges(3000, u, v, np.sin(u * 3000.0 + v))
    path = tmp_path_factory.mktemp("large") / "large.h5"
    write_store(path, [Graph.from_edges(2, [0], [1], [0.5]), graph])
    return path, graph


def test_read_rows_equals_a_slice_of_the_whole(large: tuple[Path, Graph]) -> None:
    path, graph = large
    with GraphStore(path) as store:
        for lo, hi in [(0, 3000), (0, 0), (3000, 3000), (17, 18), (1000, 1700)]:
            row_offsets, columns, weights = store.read_rows(1, lo, hi)
            first, last = graph.row_offsets[lo], graph.row_offsets[hi]
            assert np.array_equal(row_offsets, graph.row_offsets[lo : hi + 1] - first)
            assert np.array_equal(columns, graph.columns[first:last])
            assert weights is not None
            assert graph.weights is not None
            assert np.array_equal(weights, graph.weights[first:last])
        for lo, hi in [(-1, 3), (5, 4), (0, 3001)]:
            with pytest.raises(SettingsError):
                store.read_rows(1, lo, hi)


def chunk_of(path: Path, name: str, chunk: int) -> tuple[int, int]:
    with h5py.File(path, "r") as file:
        info = file[name].id.get_chunk_info(chunk)
        return info.byte_offset, info.size


def flip(path: Path, offset: int) -> None:
    content = bytearray(path.read_bytes())
    content[offset] ^= 0x10
    path.write_bytes(content)


def test_read_rows_reads_no_other_chunk(large: tuple[Path, Graph], tmp_path: Path) -> None:
    path, graph = large
    copy = tmp_path / "copy.h5"
    copy.write_bytes(path.read_bytes())
    offset, size = chunk_of(copy, "columns", 3)
    flip(copy, offset + size // 2)
    size = (1 << 20) // 4
    damaged = [int(np.searchsorted(graph.row_offsets, edge * size)) for edge in (3, 4)]
    with GraphStore(copy) as store:
        _, columns, _ = store.read_rows(1, 0, damaged[0] - 2)
        assert np.array_equal(columns, graph.columns[: len(columns)])
        store.read_rows(1, damaged[1] + 2, 3000)
        with pytest.raises(InputError, match=r"copy\.h5.*'columns', chunk 3"):
            store.read_rows(1, damaged[0], damaged[0] + 1)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Entries that are read of each dataset."""
    counts: dict[str, int] = {}
    array = StoreFile.array

    def counting(self: StoreFile, name: str, *bounds: int) -> np.ndarray:
        values = array(self, name, *bounds)
        counts[name] = counts.get(name, 0) + len(values)
        return values

    monkeypatch.setattr(StoreFile, "array", counting)
    return counts


def test_rows_and_graphs_are_read_without_what_grows_with_the_file(
    tmp_path: Path, reads: dict[str, int]
) -> None:
    graphs = [erdos_renyi(30, 0.3, seed) for seed in range(200)]
    write_store(tmp_path / "graphs.h5", graphs)
    with GraphStore(tmp_path / "graphs.h5") as store:
        _, columns, _ = store.read_rows(150, 5, 9)
        assert reads == {"graph_nodes": 2, "row_offsets": 5, "columns": len(columns)}
        reads.clear()
        store.degrees(150)
        assert reads == {"graph_nodes": 2, "row_offsets": 31}
        reads.clear()
        entries = len(store.read(150).columns)
        small = dict.fromkeys(["graph_nodes", "looped_offsets"], 2)
        small |= dict.fromkeys(["self_loops", "duplicates", "reversed_pairs"], 1)
        assert reads == {**small, "row_offsets": 31, "columns": entries, "looped": 0}


def labelled(names: bool) -> Graph:
    labels = np.array([f"node {i}" for i in range(50)]) if names else np.arange(50) * 2
    u = np.arange(49)
    return Graph.from_edges(
        50, np.append(u, 3), np.append(u + 1, 3), [*u.tolist(), 1], labels=labels
    )


@pytest.mark.parametrize("names", [False, True])
def test_a_flipped_byte_in_any_dataset_is_found_and_named(tmp_path: Path, names: bool) -> None:
    path = tmp_path / "graph.h5"
    write_store(path, [labelled(names)])
    content = path.read_bytes()
    with h5py.File(path, "r") as file:
        datasets = list(file)
    assert len(datasets) == (12 if names else 11)
    for name in datasets:
        offset, size = chunk_of(path, name, 0)
        for position in (0, size // 2, size - 1):
            flip(path, offset + position)
            faults = check_store(path)
            assert any(str(path) in f and f"'{name}'" in f and "chunk 0" in f for f in faults)
            path.write_bytes(content)


def test_a_flipped_byte_anywhere_else_is_found_or_harmless(tmp_path: Path) -> None:
    path = tmp_path / "graph.h5"
    original = labelled(False)
    write_store(path, [original], {"seed": 1})
    content = path.read_bytes()
    for offset in range(0, len(content), 83):
        flip(path, offset)
        if not check_store(path):
            assert_same(read_store_graph(path), original)
        path.write_bytes(content)


@pytest.fixture(scope="module")
def small_store(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Graph]:
    path = tmp_path_factory.mktemp("small") / "graph.h5"
    graph = labelled(True).with_node_weights(np.arange(50) + 0.5)
    write_store(path, [graph], {"seed": 1})
    return path, graph


@settings(max_examples=200)
@given(where=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_a_flipped_bit_is_never_read_as_another_graph(
    small_store: tuple[Path, Graph], where: float, bit: int
) -> None:
    path, graph = small_store
    content = bytearray(path.read_bytes())
    content[int(where * len(content))] ^= 1 << bit
    damaged = path.with_name("damaged.h5")
    damaged.write_bytes(content)
    found = None
    with suppress(InputError):
        found = read_store_graph(damaged)
    if found is not None:
        assert_same(found, graph)


def test_objectives_come_back_where_they_are_known(tmp_path: Path) -> None:
    graph = barabasi_albert(20, 3, 0)
    known = [
        {},
        {"mvc": Objective(12, True)},
        {"mis": Objective(8, False), "mvc": Objective(11, False)},
        {},
    ]
    solved = [SolvedGraph(graph, objectives) if objectives else graph for objectives in known]
    write_store(tmp_path / "all.h5", iter(solved))
    write_shards(tmp_path / "shards", solved, 2)
    for path in (tmp_path / "all.h5", tmp_path / "shards"):
        assert check_store(path) == []
        with GraphStore(path) as store:
            assert store.problems == ("mis", "mvc")
            assert [store.objectives_of(index) for index in range(4)] == known
            for problem, expected, certain in [
                ("mvc", [np.nan, 12, 11, np.nan], [False, True, False, False]),
                ("mis", [np.nan, np.nan, 8, np.nan], [False] * 4),
                ("clique", [np.nan] * 4, [False] * 4),
            ]:
                values, proven = store.objectives(problem)
                np.testing.assert_array_equal(values, expected)
                np.testing.assert_array_equal(proven, certain)
                assert (values.dtype, proven.dtype) == (np.float64, np.bool_)


def test_objectives_that_are_none_are_refused(tmp_path: Path) -> None:
    graph = barabasi_albert(20, 3, 0)
    for problem, value in [("mvc", np.nan), ("mvc", np.inf), ("a/b", 1), ("a_proven", 1), ("", 1)]:
        with pytest.raises(SettingsError, match=r"objective|names no problem"):
            write_store(tmp_path / "g.h5", [SolvedGraph(graph, {problem: Objective(value, False)})])
    assert list(tmp_path.iterdir()) == []


def write_version_1(path: Path, graph: Graph, attributes: dict[str, object]) -> None:
    """Write one graph with integer labels as the first version of the format had it."""
    assert graph.labels is not None
    datasets = {
        "graph_nodes": [0, graph.n],
        "graph_entries": [0, len(graph.columns)],
        "row_offsets": graph.row_offsets,
        "columns": graph.columns,
        "labels": graph.labels,
        "looped_offsets": [0, len(graph.looped)],
        "looped": graph.looped,
        "self_loops": [graph.self_loops],
        "duplicates": [graph.duplicates],
    }
    header = {
        "format": "ogg-hpc-graphs",
        "version": 1,
        "schema": "CSR",
        "graphs": 1,
        "nodes": graph.n,
        "nnz": len(graph.columns),
        "directed": graph.directed,
        "weighted": False,
        "label_kind": "integer",
        **attributes,
    }
    checksum = hashlib.sha256(json.dumps(header, sort_keys=True).encode()).hexdigest()
    with h5py.File(path, "w", libver=("v110", "v110")) as file:
        for name, values in datasets.items():
            values = np.asarray(values)
            options = {"maxshape": (None,), "chunks": (max(1, len(values)),)}
            file.create_dataset(name, data=values, compression=1, fletcher32=True, **options)
        for name, value in {**header, "checksum": checksum}.items():
            file.attrs[name] = value


def test_the_first_version_of_the_format_is_read(tmp_path: Path) -> None:
    path = tmp_path / "old.h5"
    old = replace(labelled(False).unweighted(), reversed_pairs=0)
    write_version_1(path, old, {"source": "before"})
    assert check_store(path) == []
    with GraphStore(path) as store:
        assert (store.version, store.attributes) == (1, {"source": "before"})
        assert store.problems == ()
        assert np.isnan(store.objectives("mvc")[0]).all()
        assert_same(store.read(0), old)
    flip(path, chunk_of(path, "labels", 0)[0])
    assert "'labels', chunk 0" in check_store(path)[0]


def test_equal_graphs_give_equal_bytes(tmp_path: Path) -> None:
    solved = SolvedGraph(labelled(True), {"mvc": Objective(3, True)})
    for name, attributes in [("a.h5", {"x": 1, "y": 2}), ("b.h5", {"y": 2, "x": 1})]:
        write_store(tmp_path / name, [solved], attributes)
        second = int(time.time())
        while int(time.time()) == second:  # times of HDF5 objects are whole seconds
            time.sleep(0.02)
    assert (tmp_path / "a.h5").read_bytes() == (tmp_path / "b.h5").read_bytes()


def test_texts_of_a_store_lie_where_checksums_are(tmp_path: Path) -> None:
    path = tmp_path / "graph.h5"
    attributes = {"source": "", "licence": "¡Sí! — 自由", "seed": 3}
    write_store(path, [labelled(True)], attributes)
    with GraphStore(path) as store:
        assert store.attributes == attributes
    assert b"GCOL" not in path.read_bytes()  # HDF5's heap


def test_reading_damage_raises_an_input_error(tmp_path: Path) -> None:
    path = tmp_path / "graph.h5"
    write_store(path, [labelled(False)])
    offset, size = chunk_of(path, "weights", 0)
    flip(path, offset + size // 2)
    with pytest.raises(InputError, match="'weights', chunk 0"):
        read_store_graph(path)


@pytest.mark.parametrize("kept", [0, 100, 0.5, -1])
def test_a_truncated_file_is_refused(tmp_path: Path, kept: float) -> None:
    path = tmp_path / "graph.h5"
    write_store(path, [barabasi_albert(100, 3, 0)])
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content)) if kept == 0.5 else int(kept)])
    with pytest.raises(InputError, match=r"graph\.h5"):
        GraphStore(path)
    assert len(check_store(path)) == 1


def test_foreign_and_missing_files_are_refused(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "foreign.h5", "w") as file:
        file["vectors"] = np.zeros(3)
    (tmp_path / "text.h5").write_text("0 1\n")
    (tmp_path / "folder").mkdir()
    for name in ("foreign.h5", "text.h5", "folder", "absent.h5"):
        with pytest.raises(InputError, match=name):
            GraphStore(tmp_path / name)
        assert len(check_store(tmp_path / name)) == 1


def test_a_future_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "graph.h5"
    write_store(path, [barabasi_albert(10, 3, 0)])
    with h5py.File(path, "r+") as file:
        file.attrs["version"] = 3
    with pytest.raises(InputError, match="format version 3, this program reads versions 1 and 2"):
        GraphStore(path)


def test_a_store_of_many_graphs_wants_an_index(tmp_path: Path) -> None:
    path = tmp_path / "graphs.h5"
    write_store(path, [barabasi_albert(10, 3, seed) for seed in range(3)])
    with pytest.raises(SettingsError, match=r"3 graphs.*graphs\.h5:INDEX"):
        read_store_graph(path, None)
    for index in (-1, 3):
        with pytest.raises(SettingsError, match="no graph"):
            read_store_graph(path, index)
    assert_same(read_store_graph(path, 2), barabasi_albert(10, 3, 2))


def test_graphs_of_different_kinds_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    one = Graph.from_edges(2, [0], [1])
    other = Graph.from_edges(2, [0], [1], [2.0])
    with pytest.raises(SettingsError, match="graph 1 is undirected, weighted"):
        write_store(tmp_path / "graph.h5", [one, other])
    with pytest.raises(SettingsError, match="taken"):
        write_store(tmp_path / "graph.h5", [one], {"version": 3})
    with pytest.raises(SettingsError, match="64 bits"):
        write_store(tmp_path / "graph.h5", [one], {"seed": 2**64})
    assert list(tmp_path.iterdir()) == []


def test_a_kill_during_writing_leaves_no_store(tmp_path: Path) -> None:
    program = """
import os, signal, sys
from ogg_hpc.graphs.generators import barabasi_albert
from ogg_hpc.graphs.shards import write_shards, write_store
class Graphs:
    def __len__(self):
        return 4
    def __getitem__(self, seed):
        if seed == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return barabasi_albert(1000, 3, seed)
if sys.argv[1] == "file":
    write_store(sys.argv[2], (Graphs()[seed] for seed in range(4)))
else:
    write_shards(sys.argv[2], Graphs(), 2)
"""
    for kind in ("file", "folder"):
        target = tmp_path / kind
        done = subprocess.run([sys.executable, "-c", program, kind, str(target)], check=False)
        assert done.returncode == -signal.SIGKILL
        if kind == "file":
            assert not target.exists()
        else:
            # The first shard is complete; without a manifest it is no store.
            assert sorted(p.name for p in target.glob("[!.]*")) == ["shard-00000.h5"]
            with pytest.raises(InputError, match="manifest"):
                GraphStore(target)


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    write_shards(tmp_path / "set", [barabasi_albert(20, 3, seed) for seed in range(5)], 2)
    return tmp_path / "set"


def test_a_finished_set_of_shards_is_not_overwritten(shards: Path) -> None:
    with pytest.raises(SettingsError, match="already holds"):
        write_shards(shards, [], 2)


def test_a_missing_shard_is_named(shards: Path) -> None:
    (shards / "shard-00001.h5").unlink()
    with pytest.raises(InputError, match=r"shard-00001\.h5.*missing"):
        GraphStore(shards)
    assert len(check_store(shards)) == 1


def test_a_shard_of_another_size_is_named(shards: Path) -> None:
    path = shards / "shard-00002.h5"
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(InputError, match=r"shard-00002\.h5.*bytes"):
        GraphStore(shards)
    assert any("bytes" in fault for fault in check_store(shards))


def test_a_changed_byte_differs_from_the_manifest(shards: Path) -> None:
    path = shards / "shard-00000.h5"
    flip(path, path.stat().st_size - 1)
    assert any("SHA-256" in fault for fault in check_store(shards))


def test_an_edited_or_future_manifest_is_refused(shards: Path) -> None:
    manifest = shards / "manifest.json"
    text = manifest.read_text()
    content = json.loads(text)
    content["shards"][0]["graphs"] = 7
    manifest.write_text(json.dumps(content))
    with pytest.raises(InputError, match="checksum"):
        GraphStore(shards)
    manifest.write_text(text.replace('"version": 2', '"version": 3'))
    with pytest.raises(InputError, match="format version 3"):
        GraphStore(shards)
    manifest.write_text("{}")
    with pytest.raises(InputError, match="no manifest"):
        GraphStore(shards)
    assert len(check_store(shards)) == 1


def test_manifests_of_version_1_are_read_and_counts_that_differ_are_named(shards: Path) -> None:
    def rewrite(change: Callable[[dict[str, Any]], None]) -> None:
        content = json.loads((shards / "manifest.json").read_text())
        del content["checksum"]
        change(content)
        text = json.dumps(content, sort_keys=True)
        content["checksum"] = hashlib.sha256(text.encode()).hexdigest()
        (shards / "manifest.json").write_text(json.dumps(content))

    rewrite(lambda content: content.update(version=1))
    assert check_store(shards) == []
    with GraphStore(shards) as store:
        assert (store.version, len(store)) == (1, 5)
    rewrite(lambda content: content["shards"][1].update(nodes=41))
    path = shards / "shard-00001.h5"
    assert check_store(shards) == [f"{path}: its counts differ from the manifest"]
    rewrite(lambda content: content["shards"][1].update(graphs=3))
    with (
        GraphStore(shards) as store,
        pytest.raises(InputError, match="holds 2 graphs, the manifest says 3"),
    ):
        store.read(2)


def broken(columns: list[int], weights: list[float] | None = None) -> Graph:
    return Graph(
        np.array([0, 2, 3, 4]),
        np.array(columns, dtype=np.int32),
        None if weights is None else np.array(weights),
    )


@pytest.mark.parametrize(
    ("graph", "fault"),
    [
        (broken([1, 2, 0, 3]), "names node 3"),
        (broken([1, 2, 0, -1]), "names node -1"),
        (broken([2, 1, 0, 0]), "row 0 is not sorted"),
        (broken([1, 1, 0, 0]), "repeats node 1"),
        (broken([0, 1, 0, 0]), "node 0 has a self loop"),
        (broken([1, 2, 0, 1]), "not symmetric"),
        (broken([1, 2, 0, 0], [1, 2, 1, 3]), "weights are not symmetric"),
        (broken([1, 2, 0, 0], [1, np.inf, 1, np.inf]), "weight inf"),
    ],
)
def test_each_broken_invariant_is_reported(tmp_path: Path, graph: Graph, fault: str) -> None:
    path = tmp_path / "graph.h5"
    good = Graph.from_edges(2, [0], [1], None if graph.weights is None else [1.0])
    write_store(path, [good, graph])
    faults = check_store(path)
    assert any("graph 1" in f and fault in f for f in faults), faults


def test_offsets_that_fall_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "graph.h5"
    write_store(path, [barabasi_albert(20, 3, 0)])
    with h5py.File(path, "r+") as file:
        file["row_offsets"][5] = 90
    assert any("row_offsets" in fault and "rise" in fault for fault in check_store(path))


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
def test_few_of_many_shards_are_open_at_a_time(tmp_path):
    graphs = [erdos_renyi(n, 0.4, n) for n in range(3, 23)]
    write_shards(tmp_path / "many", graphs, 1)
    with GraphStore(tmp_path / "many") as store:
        assert store.nodes.tolist() == [graph.n for graph in graphs]
        for index in (7, 0, 19, 7, 3, 11, 0, 7, 12, 1):
            assert_same(store.read(index), graphs[index])
            held = [
                str(link.readlink()) for link in Path("/proc/self/fd").iterdir() if link.exists()
            ]
            assert len([path for path in held if path.startswith(str(tmp_path))]) <= 4
