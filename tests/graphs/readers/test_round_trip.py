"""Any graph, written by a few lines here, reads back the same."""

import bz2
import gzip
import io
import lzma
import tempfile
from dataclasses import dataclass
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import scipy.io
import scipy.sparse
import zstandard
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.readers import FORMATS, read_graph


@dataclass
class Sample:
    n: int
    edges: dict[tuple[int, int], float]
    weighted: bool

    @property
    def full(self):
        return {**self.edges, **{(v, u): w for (u, v), w in self.edges.items()}}


@st.composite
def samples(draw, integer_weights=True):
    n = draw(st.integers(1, 12))
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda e: e[0] < e[1])
    chosen = draw(st.lists(pairs, unique=True, max_size=25)) if n > 1 else []
    numbers = st.integers(-9, 9) if integer_weights else st.floats(-1e9, 1e9)
    weights = draw(st.none() | st.lists(numbers.filter(bool), min_size=25, max_size=25))
    weighted = weights is not None and any(w != 1 for w in weights[: len(chosen)])
    return Sample(n, dict(zip(chosen, weights if weighted else [1] * 25, strict=False)), weighted)


def lines(*parts):
    return "".join(f"{part}\n" for part in parts).encode()


def edge_lines(sample, *, base=0, prefix="", always=False):
    return [
        f"{prefix}{u + base} {v + base}" + (f" {w!r}" if sample.weighted or always else "")
        for (u, v), w in sample.edges.items()
    ]


def write_edgelist(sample):
    return lines(*edge_lines(sample))


def write_matrixmarket(sample):
    field = "real" if sample.weighted else "pattern"
    size = f"{sample.n} {sample.n} {len(sample.edges)}"
    entries = edge_lines(sample, base=1)
    return lines(f"%%MatrixMarket matrix coordinate {field} symmetric", size, *entries)


def write_dimacs(sample):
    return lines(f"p edge {sample.n} {len(sample.edges)}", *edge_lines(sample, base=1, prefix="e "))


def write_gset(sample):
    return lines(f"{sample.n} {len(sample.edges)}", *edge_lines(sample, base=1, always=True))


def write_metis(sample):
    rows = [[] for _ in range(sample.n)]
    for (u, v), w in sample.full.items():
        rows[u] += [v + 1, w] if sample.weighted else [v + 1]
    header = f"{sample.n} {len(sample.edges)} {int(sample.weighted)}"
    return lines(header, *(" ".join(map(str, row)) for row in rows))


def write_pajek(sample):
    vertices = [f'{i + 1} "{i + 1}"' for i in range(sample.n)]
    return lines(f"*Vertices {sample.n}", *vertices, "*Edges", *edge_lines(sample, base=1))


def write_graphml(sample):
    graph = nx.Graph()
    graph.add_nodes_from(range(sample.n))
    for (u, v), w in sample.edges.items():
        graph.add_edge(u, v, **({"weight": w} if sample.weighted else {}))
    file = io.BytesIO()
    nx.write_graphml(graph, file)
    return file.getvalue()


def matrix(sample):
    full = sample.full
    u, v = np.array([*full], dtype=int).reshape(-1, 2).T
    values = np.array([*full.values()], dtype=float)
    return scipy.sparse.csc_array((values, (u, v)), (sample.n, sample.n))


def write_npz(sample):
    file = io.BytesIO()
    scipy.sparse.save_npz(file, matrix(sample))
    return file.getvalue()


def write_mat(sample):
    file = io.BytesIO()
    scipy.io.savemat(file, {"network": matrix(sample), "group": matrix(sample)})
    return file.getvalue()


def write_parquet(sample):
    u, v = np.array([*sample.edges], dtype=int).reshape(-1, 2).T
    weight = {"weight": [*sample.edges.values()]} if sample.weighted else {}
    file = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"source": u, "target": v, **weight}), file)
    return file.getvalue()


WRITERS = {name: globals()[f"write_{name}"] for name in FORMATS if name != "hdf5"}
BINARY = ("npz", "mat", "parquet")
COUNTS_FROM_0 = ("graphml", "npz", "mat", "edgelist", "parquet")
# Only nodes with edges are known.
LISTS = ("edgelist", "parquet")


def read_bytes(data: bytes, name="graph.dat", **options) -> Graph:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        return read_graph(path, **options)


def content(graph: Graph):
    u, v, w = graph.edges()
    ends = [
        tuple(sorted(pair)) for pair in zip(graph.labels_of(u), graph.labels_of(v), strict=True)
    ]
    weights = [1.0] * graph.m if w is None else w.tolist()
    return graph.labels_of(range(graph.n)), sorted(zip(ends, weights, strict=True))


def expected(sample, base):
    edges = [((u + base, v + base), float(w)) for (u, v), w in sample.edges.items()]
    return [*range(base, sample.n + base)], sorted(edges)


@settings(max_examples=40)
@given(sample=samples())
@pytest.mark.parametrize("name", [name for name in WRITERS if name not in LISTS])
def test_graph_reads_back_with_isolated_nodes_labels_and_weights(name, sample):
    graph = read_bytes(WRITERS[name](sample))
    assert content(graph) == expected(sample, 0 if name in COUNTS_FROM_0 else 1)
    assert (graph.weights is not None) == sample.weighted
    assert (graph.directed, graph.self_loops, graph.duplicates) == (False, 0, 0)


@settings(max_examples=40)
@given(sample=samples(integer_weights=False))
@pytest.mark.parametrize("name", ["matrixmarket", "dimacs", "gset", "pajek", "npz", "graphml"])
def test_real_weights_read_back_exactly(name, sample):
    graph = read_bytes(WRITERS[name](sample), format=name)
    assert content(graph) == expected(sample, 0 if name in COUNTS_FROM_0 else 1)


names = st.text(st.characters(codec="utf-8", exclude_categories=("Z", "C")), min_size=1, max_size=4)


@settings(max_examples=60)
@given(
    sample=samples(integer_weights=False),
    labels=st.lists(st.integers(-(10**17), 10**17), min_size=12, max_size=12, unique=True)
    | st.lists(names.map("x{}".format), min_size=12, max_size=12, unique=True),
    separator=st.sampled_from([" ", "\t", ",", " , "]),
)
def test_edge_list_reads_back_with_its_labels(sample, labels, separator):
    assume(sample.edges)
    assume(separator.strip() or not any("," in str(label) for label in labels))
    assume("," not in separator or not any(set(str(label)) & set(',"') for label in labels))
    rows = [
        separator.join([str(labels[u]), str(labels[v]), *([repr(w)] if sample.weighted else [])])
        for (u, v), w in sample.edges.items()
    ]
    graph = read_bytes(lines(*rows), format="edgelist")
    named = {tuple(sorted((labels[u], labels[v]))): float(w) for (u, v), w in sample.edges.items()}
    assert content(graph)[0] == sorted({label for edge in named for label in edge})
    assert content(graph)[1] == sorted(named.items())


SAMPLE = Sample(6, {(0, 1): 2, (1, 2): 3, (0, 4): 5, (2, 4): -1}, True)
TEXT = [name for name in WRITERS if name not in BINARY]
COMPRESSIONS = {
    "gzip": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zstandard": zstandard.ZstdCompressor().compress,
    "two zstandard frames": lambda data: b"".join(
        zstandard.ZstdCompressor().compress(part) for part in (data[:20], data[20:])
    ),
}
ENCODINGS = {
    "CRLF": lambda data: data.replace(b"\n", b"\r\n"),
    "UTF-8 with mark": lambda data: b"\xef\xbb\xbf" + data,
    "UTF-16": lambda data: data.decode().encode("utf-16"),
    "UTF-16 big-endian CRLF": lambda data: (
        b"\xfe\xff" + data.decode().replace("\n", "\r\n").encode("utf-16-be")
    ),
    "no last line end": lambda data: data.rstrip(b"\n"),
    "last line cut": lambda data: data[:-1],
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_compressed_file_equals_the_plain_one(name, kind):
    data = WRITERS[name](SAMPLE)
    compressed = read_bytes(COMPRESSIONS[kind](data), "graph.whatever")
    assert content(compressed) == content(read_bytes(data))


@pytest.mark.parametrize("name", TEXT)
@pytest.mark.parametrize("kind", ENCODINGS)
def test_encoding_and_line_ends_make_no_difference(name, kind):
    data = WRITERS[name](SAMPLE)
    if name == "graphml":
        # XML names its encoding.
        data = data.replace(b"encoding='utf-8'", b"")
    if name == "metis" and kind == "no last line end":
        data += b"%\n"  # the last node has no edges and needs its line
    changed = ENCODINGS[kind](data)
    assert content(read_bytes(changed)) == content(read_bytes(data))


valid = st.sampled_from([*WRITERS]).map(lambda name: WRITERS[name](SAMPLE))
pieces = st.sampled_from(
    [
        *(bytes([byte]) for byte in b" \n0-9.%#\",\t*<\0\xff'\r\x1f"),
        *(b"e ", b"p ", b"n ", b"9" * 20, b"1e400", b"nan"),
    ]
) | st.binary(max_size=3)


@settings(max_examples=400)
@given(
    data=valid,
    cuts=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 6), pieces), min_size=1, max_size=6),
    name=st.none() | st.sampled_from([*WRITERS]),
)
def test_damaged_file_reads_or_is_refused(data, cuts, name):
    for place, removed, inserted in cuts:
        at = int(place * len(data))
        data = data[:at] + inserted + data[at + removed :]
    reads_or_refuses(data, name)


@settings(max_examples=300)
@given(data=st.binary(max_size=60), name=st.none() | st.sampled_from([*WRITERS]))
@example(b"\x1f\x8b", None)
@example(b"PK\x03\x04", None)
@example(b"MATLAB 5.0", None)
@example(b"BZh9", None)
def test_random_bytes_read_or_are_refused(data, name):
    reads_or_refuses(data, name)


@settings(max_examples=300)
@given(
    data=st.text('0123 \n\t,.-e%#*pc"x', max_size=60).map(str.encode),
    name=st.none() | st.sampled_from([*WRITERS]),
)
def test_random_text_reads_or_is_refused(data, name):
    reads_or_refuses(data, name)


def reads_or_refuses(data, name):
    try:
        graph = read_bytes(data, format=name)
    except InputError:
        return
    assert graph.n >= 0
