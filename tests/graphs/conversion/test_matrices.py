"""MatrixMarket files in pieces against the reader of whole files."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from glued_pieces import check_same, glued, outcome
from hypothesis import given, settings
from hypothesis import strategies as st

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.conversion.inputs import open_input
from ogg_hpc.graphs.readers import read_graph
from ogg_hpc.runtime.communicator import Communicator

BANNER = "%%MatrixMarket matrix coordinate"


@st.composite
def matrices(draw):
    n = draw(st.integers(1, 9))
    field = draw(st.sampled_from(["pattern", "integer", "real"]))
    symmetry = draw(st.sampled_from(["general", "symmetric"]))
    ids = st.integers(1, n).map(str)
    value = st.integers(-2, 3).map(str) | st.sampled_from(["0", "1", "0.0", "1e-3", "2.5"])
    entry = st.tuples(ids, ids, *([] if field == "pattern" else [value])).map(" ".join)
    entries = draw(st.lists(entry, max_size=20, unique_by=lambda line: frozenset(line.split()[:2])))
    if draw(st.booleans()):
        entries += [" ".join([*reversed(e.split()[:2]), *e.split()[2:]]) for e in entries]
    sizes = draw(st.sampled_from([f"{n} {n} {len(entries)}", f"{n} {len(entries)}"]))
    lines = [f"{BANNER} {field} {symmetry}", "% note", sizes]
    for line in entries:
        lines += [*draw(st.sampled_from([[], [], [], ["% inner"], [""]])), f" {line}"]
    return draw(st.sampled_from(["\n", "\r\n"])).join(lines) + draw(st.sampled_from(["", "\n"]))


@settings(max_examples=150)
@given(
    text=matrices(),
    size=st.sampled_from([1, 3, 10, 40, 1000]),
    directed=st.sampled_from([None, True, False]),
)
def test_pieces_of_any_size_give_what_the_whole_file_gives(text, size, directed):
    if directed is True and "symmetric" in text:
        directed = None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.mtx"
        path.write_bytes(text.encode())
        options = {"directed": directed is True, "undirected": directed is False}
        expected, fault = outcome(lambda: read_graph(path, **options))
        found, complaint = outcome(lambda: glued(path, size, directed=directed))
    # Two weights of one edge are all that can be wrong.
    assert str(complaint) == str(fault)
    if fault is None:
        check_same(found, expected)


# Lines after the banner, number of the faulty line, words of the message.
REFUSED = {
    "count": ("pattern", "3 3 4\n1 2\n2 3\n1 3\n", 2, "declares 4 entries and 3 follow"),
    "index": ("pattern", "3 3 3\n1 2\n2 4\n1 3\n", 4, "entry (2, 4) is outside the declared"),
    "index 0": ("pattern", "3 3 3\n1 2\n% x\n0 2\n1 3\n", 5, "entry (0, 2) is outside"),
    "columns": ("pattern", "3 3 3\n1 2\n2 3 1\n1 3\n", 4, "found 3 columns, 2 before"),
    "all columns": ("real", "3 3 2\n1 2\n2 3\n", 3, "(real), as the first line declares"),
    "value": ("real", "3 3 3\n1 2 1\n2 3 inf\n1 3 1\n", 4, "weight 'inf' is not a finite"),
    "word": ("pattern", "3 3 3\n1 2\n2 x\n1 3\n", 4, "found 'x'"),
    "comment with #": ("pattern", "3 3 2\n1 2\n# x\n1 3\n", 4, "expected 'row column'"),
    "size": ("pattern", "3 4 1\n1 2\n", 2, "square"),
    "absurd size": ("pattern", "99999999999 99999999999 1\n1 2\n", None, "check the header"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("size", [2, 1000])
def test_a_faulty_matrix_is_refused_as_by_the_reader_of_whole_files(tmp_path, case, size):
    field, text, line, words = REFUSED[case]
    path = tmp_path / "graph.mtx"
    path.write_text(f"{BANNER} {field} general\n{text}")
    with pytest.raises(InputError) as expected:
        read_graph(path)
    with pytest.raises(InputError) as found:
        glued(path, size)
    assert str(found.value) == str(expected.value)
    assert str(found.value).startswith(f"{path}: " if line is None else f"{path}:{line}: ")
    assert words in str(found.value)


def test_entries_need_no_dictionary_and_say_what_the_matrix_is(tmp_path):
    path = tmp_path / "graph.mtx"
    path.write_text("%MatrixMarket matrix coordinate pattern symmetric\n%\n4 1\n3 2\n")
    source = open_input(Communicator(), path)
    assert (source.labels, source.nodes, source.weighted) == ("ids", 4, False)
    assert (source.matrix, source.symmetric, source.lines_before) == (False, True, 3)
    (block,) = source.rounds(Communicator(), 100, lambda number: True)
    piece = source.parse(block)
    assert piece.labels is None
    assert (piece.sources.tolist(), piece.targets.tolist()) == ([2], [1])
    assert piece.sources.dtype == np.int32


def test_ids_beyond_32_bits_are_kept(tmp_path):
    path = tmp_path / "graph.mtx"
    n = 3_000_000_000
    path.write_text(f"{BANNER} pattern general\n{n} {n} 1\n{n} 1\n")
    source = open_input(Communicator(), path)
    (block,) = source.rounds(Communicator(), 100, lambda number: True)
    assert source.parse(block).sources.tolist() == [n - 1]
