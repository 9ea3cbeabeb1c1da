"""A conversion in pieces holds what the reader of the whole file reads, however it is divided."""

import gzip
import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from ogg_hpc.errors import OggError, SettingsError, StoppedError
from ogg_hpc.graphs.conversion.convert import convert
from ogg_hpc.graphs.conversion.request import Request
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.readers import read_graph
from ogg_hpc.graphs.shards import GraphStore, check_store
from ogg_hpc.runtime.signals import SIGNALS

MEMORY = 1 << 28


@pytest.fixture
def folder(comm, tmp_path) -> Path:
    """One folder for all ranks."""
    return comm.broadcast_object(tmp_path)


def random_edges(seed, nodes, edges):
    """Return ends that repeat, turn round and loop."""
    rng = np.random.default_rng([seed, nodes, edges])
    return rng, rng.integers(0, nodes, (edges, 2))


def lines(pairs, separator=" ", weights=None):
    rows = [separator.join(map(str, pair)) for pair in pairs]
    if weights is not None:
        rows = [f"{row}{separator}{w}" for row, w in zip(rows, weights, strict=True)]
    return "\n".join(rows) + "\n"


def integers(path):
    _, pairs = random_edges(1, 90, 400)
    path.write_text("# comment\n\n" + lines(pairs.tolist(), "\t") + "% end\n")


def from_zero(path):
    _, pairs = random_edges(2, 40, 300)
    path.write_text(lines([*pairs.tolist(), *[(i, i + 1) for i in range(39)]]))


def far_apart(path):
    rng, pairs = random_edges(3, 60, 200)
    path.write_text(lines(rng.integers(-(2**62), 2**62, 60)[pairs].tolist()))


def names(path):
    _, pairs = random_edges(4, 70, 300)
    names = np.array([f"{'ä' * (i % 3)}node-{i * i}" for i in range(70)])
    path.write_text(lines(names[pairs].tolist()))


def names_after_integers(path):
    _, pairs = random_edges(5, 50, 300)
    path.write_text(lines(pairs.tolist()) + "0 x-1\n" + lines(pairs[:50].tolist()))


def weighted(path):
    rng, pairs = random_edges(6, 80, 300)
    table = np.round(rng.standard_normal((80, 80)), 3)
    table = table + table.T
    path.write_text(lines(pairs.tolist(), weights=table[tuple(pairs.T)].tolist()))


def weights_of_one(path):
    _, pairs = random_edges(7, 80, 200)
    path.write_text(lines(pairs.tolist(), weights=["1"] * 100 + ["1.0"] * 100))


def cells(path):
    _, pairs = random_edges(8, 30, 200)
    quoted = [(f'"a, {u}"', f"b {v}") for u, v in pairs.tolist()]
    path.write_text("source,target\n" + lines(quoted, ","))


def blanks_between_tabs_late(path):
    _, pairs = random_edges(9, 30, 200)
    path.write_text(lines(pairs.tolist(), "\t") + "1\tNew York\n")


def windows_lines(path):
    _, pairs = random_edges(10, 30, 200)
    path.write_bytes(lines(pairs.tolist(), ",").replace("\n", "\r\n").encode())


def utf16(path):
    _, pairs = random_edges(11, 30, 200)
    path.write_text(lines(pairs.tolist(), " "), encoding="utf-16")


def compressed(path):
    _, pairs = random_edges(12, 30, 900)
    path.write_bytes(gzip.compress(lines(pairs.tolist(), " ").encode()))


def matrix(path, symmetry="general", symmetric=False):
    rng = np.random.default_rng(13)
    dense = np.where(rng.random((40, 40)) < 0.2, np.round(rng.standard_normal((40, 40)), 2), 0)
    if symmetric:
        dense = dense + dense.T
    with path.open("wb") as file:
        scipy.io.mmwrite(file, scipy.sparse.coo_array(dense), symmetry=symmetry)


def symmetric_matrix(path):
    matrix(path, "symmetric", symmetric=True)


def matrix_in_full(path):
    matrix(path, "general", symmetric=True)


def parquet(path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    _, pairs = random_edges(14, 50, 300)
    names = [[f"node-{end}" for end in ends] for ends in pairs.T.tolist()]
    table = pyarrow.table({"source": names[0], "target": names[1]})
    parquet.write_table(table, path, row_group_size=70)


INPUTS = {
    "integers.txt": integers,
    "from_zero.txt": from_zero,
    "far_apart.txt": far_apart,
    "names.txt": names,
    "names_after_integers.txt": names_after_integers,
    "weighted.txt": weighted,
    "weights_of_one.txt": weights_of_one,
    "cells.csv": cells,
    "blanks_between_tabs_late.tsv": blanks_between_tabs_late,
    "windows_lines.csv": windows_lines,
    "utf16.txt": utf16,
    "compressed.txt.gz": compressed,
    "matrix.mtx": matrix,
    "symmetric_matrix.mtx": symmetric_matrix,
    "matrix_in_full.mtx": matrix_in_full,
    "table.parquet": parquet,
}
CASES = [
    *((name, {}) for name in INPUTS),
    *((name, {"directed": True}) for name in ("integers.txt", "names.txt", "matrix_in_full.mtx")),
    *((name, {"directed": True}) for name in ("symmetric_matrix.mtx", "compressed.txt.gz")),
    *((name, {"undirected": True}) for name in ("weighted.txt", "matrix_in_full.mtx")),
]


def outcome(action):
    """Return what an action returns, or the error that all ranks raise."""
    try:
        return action()
    except OggError as error:
        return str(error) if error.collective else f"not shared: {error}"


def whole(comm, source, **options):
    """Return the graph, or the complaint, of the reader of the whole file."""
    return outcome(lambda: comm.on_root(lambda: read_graph(source, **options)))


def assert_same_graph(graph: Graph, expected: Graph) -> None:
    for name in ("row_offsets", "columns", "weights", "labels", "looped"):
        a, b = getattr(graph, name), getattr(expected, name)
        assert (a is None) == (b is None), name
        if a is not None:
            np.testing.assert_array_equal(a, b, name)
            assert a.dtype.kind == b.dtype.kind
    for name in ("directed", "self_loops", "duplicates", "reversed_pairs"):
        assert getattr(graph, name) == getattr(expected, name), name


def assert_same_content(comm, store: Path, expected: Graph) -> None:
    def check():
        assert check_store(store) == []
        with GraphStore(store) as graphs:
            assert_same_graph(graphs.read(0), expected)

    comm.on_root(check)


@pytest.mark.parametrize(("name", "options"), CASES)
def test_store_holds_what_the_whole_file_holds_byte_for_byte(comm, folder, name, options):
    source = folder / name
    comm.on_root(lambda: INPUTS[name](source))
    expected = whole(comm, source, **options)
    digests = set()
    for piece_bytes, memory in ((190, 1 << 20), (1 << 24, MEMORY)):
        request = Request(source, folder / "out.h5", piece_bytes=piece_bytes, **options)
        converted = outcome(lambda r=request, m=memory: convert(comm, r, memory=m))
        if isinstance(expected, str):
            assert converted == expected
            assert not request.output.exists()
        else:
            assert converted.warnings == expected.warnings
            assert converted.built.edges == expected.m
            assert_same_content(comm, request.output, expected)
            digests.add(comm.on_root(lambda r=request: digest(r.output)))
        comm.barrier()
        assert list_hidden(comm, folder) == []
    if not isinstance(expected, str):
        alone = replace(request, output=folder / "alone.h5")
        comm.on_root(lambda: convert(comm.alone(), alone, memory=MEMORY))
        assert digests == {comm.on_root(lambda: digest(alone.output))}


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def list_hidden(comm, folder):
    return comm.on_root(lambda: sorted(path.name for path in folder.glob(".*")))


BAD = {
    "few_columns.txt": "0 1\n" * 40 + "2\n" + "0 1\n" * 40,
    "a_word_for_a_weight.txt": "0 1 2.5\n" * 50 + "0 1 heavy\n" + "0 1 x\n" * 30,
    "first_of_two_faults.txt": "0 1\n" * 50 + "0 1 2\n" + "# c\n" * 9 + "0\n" * 30,
    "two_weights.txt": "0 1 2.5\n7 9 1\n7 9 1\n" + "# c\n" * 40 + "9 7 1\n" * 20 + "7 9 2\n0 1 9\n",
    "two_weights_of_names.txt": "a b 2\n" + "c d 1\n" * 40 + "b a 3\n" + "a b 4\n",
    "a_weight_besides_ones.txt": "a b 1\n" + "c d 1\n" * 40 + "b a 3\n",
    "not_utf8.txt": b"0 1\n" * 40 + b"\xff 1\n" + b"0 1\n",
    "outside.mtx": "%%MatrixMarket matrix coordinate pattern general\n9 9 42\n"
    + "1 2\n" * 40
    + "10 3\n2 3\n",
    "cut_off.mtx": "%%MatrixMarket matrix coordinate pattern general\n9 9 50\n" + "1 2\n" * 40,
    "two_values.mtx": "%%MatrixMarket matrix coordinate real general\n9 9 42\n"
    + "1 2 3\n" * 40
    + "2 1 4\n1 2 5\n",
    "two_values_turned.mtx": "%%MatrixMarket matrix coordinate real symmetric\n9 9 42\n"
    + "2 1 3\n" * 40
    + "1 2 4\n3 1 5\n",
}


@pytest.mark.parametrize(
    ("name", "options"),
    [*((name, {}) for name in BAD), ("two_weights.txt", {"directed": True})],
)
def test_the_first_bad_line_of_the_file_is_told(comm, folder, name, options):
    source, text = folder / name, BAD[name]
    comm.on_root(lambda: source.write_bytes(text if isinstance(text, bytes) else text.encode()))
    expected = whole(comm, source, **options)
    for piece_bytes in (59, 1 << 20):
        request = Request(source, folder / "out.h5", piece_bytes=piece_bytes, **options)
        converted = outcome(lambda r=request: convert(comm, r, memory=MEMORY))
        assert converted == expected
        assert not request.output.exists()
        assert list_hidden(comm, folder) == []


@pytest.mark.parametrize("name", ["names_after_integers.txt", "weighted.txt", "matrix.mtx"])
def test_a_signal_stops_between_rounds_and_the_same_request_goes_on(comm, folder, name):
    source = folder / name
    comm.on_root(lambda: INPUTS[name](source))
    request = Request(source, folder / "out.h5", piece_bytes=200)
    convert(comm, request, memory=MEMORY)
    expected = comm.on_root(lambda: digest(request.output))
    comm.on_root(request.output.unlink)
    stops = 0
    while stops < 300:
        questions = 3 * stops  # what was finished before is not asked about again

        def came():
            nonlocal questions
            questions -= 1
            return SIGNALS[0] if questions < 0 and comm.rank == comm.size - 1 else None

        try:
            convert(comm, request, memory=MEMORY, came=came)
            break
        except StoppedError:
            assert not request.output.exists()
        stops += 1
    assert stops > 2
    assert comm.on_root(lambda: digest(request.output)) == expected
    assert list_hidden(comm, folder) == []


def test_parts_serve_another_number_of_ranks_but_no_other_input(comm, folder):
    source = folder / "names.txt"
    comm.on_root(lambda: names(source))
    request = Request(source, folder / "out.h5", piece_bytes=200)
    interrupt(comm, request)
    # One rank goes on with what all have done.
    comm.on_root(lambda: convert(comm.alone(), request, memory=MEMORY))
    first = comm.on_root(lambda: digest(request.output))
    convert(comm, request, memory=MEMORY)
    assert comm.on_root(lambda: digest(request.output)) == first
    interrupt(comm, request)
    comm.on_root(lambda: weighted(source))
    convert(comm, request, memory=MEMORY)
    assert_same_content(comm, request.output, whole(comm, source))
    interrupt(comm, request)
    convert(comm, replace(request, directed=True), memory=MEMORY)
    assert_same_content(comm, request.output, whole(comm, source, directed=True))
    assert list_hidden(comm, folder) == []


def test_labels_beyond_memory_are_refused_and_more_memory_goes_on(comm, folder):
    source = folder / "names.txt"
    comm.on_root(lambda: source.write_text("".join(f"a{i} b{i}\n" for i in range(5000))))
    request = Request(source, folder / "out.h5", piece_bytes=20_000)
    with pytest.raises(SettingsError, match="take more ranks, or allow more by --memory"):
        convert(comm, request, memory=30_000)
    comm.barrier()
    assert comm.on_root(lambda: len(list(folder.glob(".out.h5.parts/piece-*")))) > 2
    convert(comm, request, memory=MEMORY)
    assert_same_content(comm, request.output, whole(comm, source))
    assert list_hidden(comm, folder) == []


def test_other_formats_and_weights_of_nodes_are_converted_as_a_whole(comm, folder):
    source, weights = folder / "graph.col", folder / "weights.txt"

    def write():
        source.write_text("p edge 4 3\ne 1 2\ne 2 3\ne 2 1\n")
        weights.write_text("1 2.5\n2 1\n3 1\n4 7\n")

    comm.on_root(write)
    converted = convert(comm, Request(source, folder / "out.h5"), memory=MEMORY)
    built = converted.built
    assert (built.nodes, built.edges, built.duplicates, built.isolated) == (4, 2, 1, 1)
    assert_same_content(comm, folder / "out.h5", whole(comm, source))
    request = Request(source, folder / "out.h5", node_weights=weights)
    assert convert(comm, request, memory=MEMORY).node_weighted
    assert list_hidden(comm, folder) == []


def interrupt(comm, request):
    """Leave a conversion after its first rounds."""
    asked = 0

    def came():
        nonlocal asked
        asked += 1
        return SIGNALS[0] if asked > 2 else None

    with pytest.raises(StoppedError):
        convert(comm, request, memory=MEMORY, came=came)
