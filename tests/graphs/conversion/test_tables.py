"""Parquet tables in pieces and as a whole."""

import sys
import tempfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from glued_pieces import check_same, glued
from hypothesis import given, settings
from hypothesis import strategies as st

from ogg_hpc.errors import InputError, MissingExtraError
from ogg_hpc.graphs.conversion.inputs import open_input
from ogg_hpc.graphs.readers import read_graph
from ogg_hpc.runtime.communicator import Communicator


def edges_of(graph):
    u, v, w = graph.edges()
    ends = zip(graph.labels_of(u), graph.labels_of(v), strict=True)
    return {pair: 1.0 if w is None else w[i] for i, pair in enumerate(ends)}


@pytest.fixture
def write(tmp_path):
    def write_table(columns, **options) -> Path:
        path = tmp_path / "edges.parquet"
        pq.write_table(pa.table(columns), path, **options)
        return path

    return write_table


INTEGERS = st.integers(-3, 9) | st.sampled_from([2**62, -(2**63)])
TEXTS = st.text(min_size=1, max_size=3).filter(lambda text: "\0" not in text) | st.sampled_from(
    ["007", "New York", "x" * 40]
)


@settings(max_examples=60)
@given(
    edges=st.lists(st.tuples(INTEGERS, INTEGERS), min_size=1, max_size=40)
    | st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=40)
    | st.lists(st.tuples(INTEGERS, TEXTS), min_size=1, max_size=40),
    weights=st.none() | st.lists(st.floats(-2, 2) | st.just(1.0), min_size=40, max_size=40),
    group=st.integers(1, 50),
    size=st.sampled_from([1, 16, 100, 10_000]),
    directed=st.sampled_from([None, True]),
)
def test_pieces_of_any_size_give_what_the_whole_table_gives(edges, weights, group, size, directed):
    columns = {"source": [u for u, _ in edges], "target": [v for _, v in edges]}
    if weights is not None:
        # Weights by end points, so that repeated edges agree.
        columns["weight"] = [weights[len(str(sorted(map(str, edge)))) % 40] for edge in edges]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges"
        pq.write_table(pa.table(columns), path, row_group_size=group)
        expected = read_graph(path, directed=directed is True)
        check_same(glued(path, size, directed=directed), expected)
    labels = expected.labels_of(range(expected.n))
    mixed = any(isinstance(label, str) for edge in edges for label in edge)
    assert set(labels) == {str(end) if mixed else end for edge in edges for end in edge}


@pytest.mark.parametrize(
    "names", [("Source", "TARGET"), ("from", "to"), ("src", "dst"), ("a", "b"), ("id", "Id2")]
)
def test_columns_are_found_by_name_or_place(write, names):
    first = {"weight": [2.0, 3.0]}
    others = {} if names[0] in ("a", "id") else {"note": ["x", "y"]}
    path = write({**first, **others, names[0]: [1, 2], names[1]: [2, 3], "more": [0, 0]})
    assert edges_of(read_graph(path)) == {(1, 2): 2, (2, 3): 3}
    check_same(glued(path, 16), read_graph(path))


@pytest.mark.parametrize(
    "kind",
    [pa.int8(), pa.uint64(), pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())],
)
def test_integers_and_texts_of_all_kinds_are_labels(write, kind):
    text = not pa.types.is_integer(kind)
    values = ["7", "8", "007"] if text else [7, 8, 9]
    column = pa.array(values, pa.string() if text else kind)
    column = column.cast(kind) if pa.types.is_large_string(kind) else column
    column = column.dictionary_encode() if pa.types.is_dictionary(kind) else column
    path = write({"source": column, "target": column.take(pa.array([1, 2, 0]))})
    graph = read_graph(path)
    assert set(graph.labels.tolist()) == set(values)
    check_same(glued(path, 16), graph)


# Columns, row or None, words of the message.
REFUSED = {
    "one column": ({"a": [1]}, None, "columns source, target"),
    "two columns and weights": ({"a": [1], "weight": [1]}, None, "found a, weight"),
    "floats": ({"a": [1.0], "b": [2]}, None, "'a' holds values of type double"),
    "no rows": ({"a": pa.array([], pa.int64()), "b": pa.array([], pa.int64())}, None, "no edges"),
    "empty source": ({"a": [1, 2, None], "b": [1, 2, 3]}, 3, "column 'a' is empty"),
    "empty text": ({"a": ["x", "y", None], "b": [1, 2, 3]}, 3, "column 'a' is empty"),
    "text without letters": ({"a": ["x", ""], "b": ["y", "z"]}, 2, "column 'a' is empty"),
    "text with NUL": ({"a": ["x", "y"], "b": ["y", "z\0"]}, 2, "column 'b' has a NUL"),
    "empty weight": ({"a": [1, 2], "b": [1, 2], "weight": [1, None]}, 2, "'weight' is empty"),
    "weight nan": ({"a": [1, 2], "b": [1, 2], "weight": [1, np.nan]}, 2, "nan"),
    "weight text": ({"a": [1], "b": [2], "weight": ["x"]}, None, "'weight' cannot be read"),
    "beyond int64": ({"a": pa.array([2**63], pa.uint64()), "b": [2]}, None, "'a' cannot be read"),
    "two weights": ({"a": [1, 2, 2], "b": [2, 3, 1], "weight": [1, 2, 3]}, 3, "two weights"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("size", [16, 1000])
def test_a_table_that_is_no_list_of_edges_is_refused_with_its_row(write, case, size):
    columns, row, words = REFUSED[case]
    path = write(columns)
    for read in (read_graph, lambda path: glued(path, size)):
        with pytest.raises(InputError) as caught:
            read(path)
        assert str(caught.value).startswith(f"{path}: " if row is None else f"{path}:{row}: ")
        assert words in str(caught.value)


def test_decimal_weights_are_numbers(write):
    path = write({"a": [1], "b": [2], "weight": [Decimal("2.50")]})
    assert edges_of(read_graph(path)) == {(1, 2): 2.5}


def test_text_that_is_not_utf8_is_refused(write):
    letters = pa.py_buffer(b"\xff\xfe")
    bad = pa.StringArray.from_buffers(1, pa.py_buffer(np.array([0, 2], np.int32)), letters)
    path = write({"a": bad, "b": ["x"]})
    for read in (read_graph, lambda path: glued(path, 16)):
        with pytest.raises(InputError, match="'a' cannot be read"):
            read(path)


def test_a_damaged_table_is_refused_by_both_ways_in(write):
    path = write({"source": list(range(5000)), "target": list(range(5000))})
    data = path.read_bytes()
    for damaged in (data[:200], data[:60] + bytes(200) + data[260:]):
        path.write_bytes(damaged)
        for read in (read_graph, lambda path: glued(path, 16_000)):
            with pytest.raises(InputError, match="damaged Parquet file"):
                read(path)


def test_a_compressed_table_is_left_to_the_whole_file(write):
    import gzip

    path = write({"source": [1], "target": [2]})
    path.write_bytes(gzip.compress(path.read_bytes()))
    assert open_input(Communicator(), path) is None
    assert open_input(Communicator(), path, format="parquet") is None
    assert edges_of(read_graph(path)) == {(1, 2): 1}


def test_a_missing_pyarrow_is_named_with_its_extra(write, monkeypatch):
    path = write({"source": [1], "target": [2]})
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    for read in (read_graph, lambda path: glued(path, 16)):
        with pytest.raises(MissingExtraError, match=r"pip install 'ogg-hpc\[parquet\]'"):
            read(path)
