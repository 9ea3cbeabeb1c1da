"""Each fault of a store is found and named alike on every number of ranks."""

import json
from pathlib import Path

import h5py
import numpy as np
import pytest
from graph_faults import graph_faults

from ogg_hpc.graphs.checking import labels, rows, symmetry
from ogg_hpc.graphs.generators import barabasi_albert, erdos_renyi
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.shards import Objective, SolvedGraph, check_store, write_shards, write_store

# Offsets of what is written through h5py into a sound store, and what is said of it.
EDITS = {
    "asymmetric": ("columns", 16, 49, "graph 0: it is not symmetric: (0, 49) has no reverse"),
    "unequal": ("weights", 0, 9.0, "graph 0: its weights are not symmetric at (0, 1)"),
    "unsorted": ("columns", 4, 0, "graph 0: row 0 is not sorted"),
    "outside": ("columns", -1, 50, "graph 2: row 49 names node 50, there are 50 nodes"),
    "infinite": ("weights", -1, np.inf, "graph 2: entry (49, 17) has weight inf"),
    "light": ("node_weights", 60, 0.0, "graph 1: node 10 has weight 0.0"),
    "alike": ("labels", 149, 3, "graph 2: nodes 3 and 49 have the same label 3"),
    "looped": ("looped", 0, 50, "graph 1: node 50 with a self loop is out of range"),
    "proven": ("objectives/mvc", 2, np.nan, "graph 2: its objective of 'mvc' is nan, proven"),
    "falling": ("row_offsets", 70, 5, "dataset 'row_offsets' does not rise from 0 to"),
    "disagreeing": ("graph_nodes", 1, 49, "'graph_entries' and 'row_offsets' disagree at graph 1"),
}


def solved(labels=True):
    for seed in range(3):
        graph = barabasi_albert(50, 3, seed)
        u, v, _ = graph.edges()
        u, v = np.append(u, [seed] * (seed > 0)), np.append(v, [seed] * (seed > 0))
        graph = Graph.from_edges(
            50, u, v, np.hypot(u, v) + 1, labels=np.arange(50) if labels else None
        )
        yield SolvedGraph(
            graph.with_node_weights(np.arange(50) + 1.0), {"mvc": Objective(20 + seed, True)}
        )


@pytest.fixture
def folder(comm, tmp_path):
    """One folder for all ranks."""
    return Path(comm.broadcast_object(str(tmp_path)))


@pytest.fixture
def store(comm, folder):
    """A file of three graphs in which nothing is wrong, on rank 0; its path on all."""
    comm.on_root(lambda: write_store(folder / "graphs.h5", solved()))
    return folder / "graphs.h5"


def faults_of(comm, path):
    """Check on all ranks together, and each alone."""
    comm.barrier()
    found = check_store(path, comm)
    assert comm.gather_objects(found) == [found] * comm.size
    assert check_store(path) == found
    comm.barrier()
    return found


def flip(path, offset):
    content = bytearray(path.read_bytes())
    content[offset] ^= 0x10
    path.write_bytes(content)


def test_a_sound_store_has_no_faults(comm, store):
    assert faults_of(comm, store) == []


@pytest.mark.parametrize("kind", EDITS)
def test_what_is_wrong_with_the_content_is_named(comm, store, kind):
    name, where, value, fault = EDITS[kind]

    def edit():
        with h5py.File(store, "r+") as file:
            file[name][where % len(file[name])] = value

    comm.on_root(edit)
    found = faults_of(comm, store)
    assert any(text.startswith(f"{store}: ") and fault in text for text in found), found


def test_a_flipped_byte_in_any_chunk_is_named(comm, folder):
    # Labels are in a store of their own kind; a dataset of several chunks comes last.
    path = folder / "graphs.h5"
    texts = [
        Graph.from_edges(4, [0], [1], labels=np.array(["a", "b", "c", "d"])),
        Graph.from_edges(4, [2], [3], labels=np.array(["1", "2", "3", "4"])),
    ]
    for write in (
        lambda: write_store(path, solved()),
        lambda: write_store(path, texts),
        lambda: write_store(path, [barabasi_albert(30_000, 10, 0)]),
    ):
        comm.on_root(write)
        with h5py.File(path) as file:
            names = [*(n for n in file if n != "objectives")]
            names += [f"objectives/{n}" for n in file.get("objectives", ())]
            names = [name for name in names if len(file[name])]
            last = {name: file[name].id.get_num_chunks() - 1 for name in names}
            chunks = {name: file[name].id.get_chunk_info(last[name]) for name in names}
        comm.barrier()
        for name, chunk in chunks.items():
            place = chunk.byte_offset + chunk.size // 2
            comm.on_root(lambda place=place: flip(path, place))
            (fault,) = faults_of(comm, path)
            assert fault.startswith(f"{path}: dataset {name!r}, chunk {last[name]} "), fault
            comm.on_root(lambda place=place: flip(path, place))
    assert last["columns"] > 0


def test_a_flipped_byte_in_metadata_is_found_or_harmless(comm, store):
    size = comm.on_root(lambda: store.stat().st_size)
    heard = 0
    for place in range(0, size, size // 25):
        comm.on_root(lambda place=place: flip(store, place))
        heard += bool(faults_of(comm, store))
        comm.on_root(lambda place=place: flip(store, place))
    assert heard > 5


def test_a_truncated_file_is_named(comm, store):
    comm.on_root(lambda: store.write_bytes(store.read_bytes()[:-200]))
    (fault,) = faults_of(comm, store)
    assert fault.startswith(f"{store}: is no intact HDF5 file")


@pytest.mark.parametrize("per_shard", [1, 3])
def test_faults_of_shards_are_told_in_their_order(comm, folder, per_shard):
    shards = folder / "shards"
    graphs = [barabasi_albert(20, 3, seed) for seed in range(5)]
    comm.on_root(lambda: write_shards(shards, graphs, per_shard))
    assert faults_of(comm, shards) == []
    first, last = shards / "shard-00000.h5", shards / f"shard-{(5 - 1) // per_shard:05}.h5"

    def damage():
        flip(first, first.stat().st_size - 1)
        last.unlink()

    comm.on_root(damage)
    found = faults_of(comm, shards)
    assert found[0] == f"{first}: SHA-256 differs from the manifest"
    assert found[-1] == f"{last}: is missing, though the manifest lists it"

    def mistell():
        content = json.loads((shards / "manifest.json").read_text())
        content["shards"][0]["nodes"] += 1
        (shards / "manifest.json").write_text(json.dumps(content))

    comm.on_root(mistell)
    (fault,) = faults_of(comm, shards)
    assert fault.endswith("does not match its own checksum; it was damaged or edited")
    comm.on_root((shards / "manifest.json").unlink)
    assert "has no manifest.json" in faults_of(comm, shards)[0]


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_many_faults_are_found_as_in_memory_in_parts_of_any_size(
    comm, folder, monkeypatch, seed, text
):
    for module, name, small in [
        (rows, "_ROWS", 7),
        (rows, "_ENTRIES", 20),
        (rows, "_MOST_SUMS", 40),
        (symmetry, "_CANDIDATES", 25),
        (labels, "_HASHES", 20),
        (labels, "_TEXT", 30),
    ]:
        monkeypatch.setattr(module, name, small)
    generator = np.random.default_rng(seed)
    graphs = []
    for n in generator.integers(0, 60, 9).tolist():
        graph = erdos_renyi(n, 0.3, n)
        columns = graph.columns.copy()
        for at in generator.integers(0, max(1, len(columns)), seed).tolist():
            columns[at : at + 1] = generator.integers(0, n)
        names = generator.permutation(n * (2 - seed % 2))[:n] // 2
        numbers = names.astype(np.str_) if text else names
        graphs.append(Graph(graph.row_offsets, columns, labels=numbers))
    path = folder / "graphs.h5"
    comm.on_root(lambda: write_store(path, graphs))
    assert faults_of(comm, path) == [
        f"{path}: graph {number}: {fault}"
        for number, graph in enumerate(graphs)
        for fault in graph_faults(graph)
    ]
