"""Edge lists in pieces against the reader of whole files."""

import tempfile
from pathlib import Path

import pytest
from glued_pieces import check_same, glued, outcome
from hypothesis import given, settings
from hypothesis import strategies as st

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.conversion import inputs
from ogg_hpc.graphs.conversion.inputs import Pieces, open_input
from ogg_hpc.graphs.conversion.piece import WiderDialectError
from ogg_hpc.graphs.readers import read_graph
from ogg_hpc.runtime.communicator import Communicator

SIZES = st.sampled_from([1, 2, 3, 5, 8, 13, 50, 1000])
INTEGERS = st.integers(-3, 12).map(str) | st.sampled_from(["007", "+5", "-0", str(10**17)])
WORDS = st.sampled_from(
    ["a", "b#", "#x", "%", "é", "x y", "1e3", "nan", '"q"', '"New York"', 'q"', "\x1f", "\xa0z"]
) | st.sampled_from(["9223372036854775807", "00000000000000000000000012", "source", "target", "n"])
WEIGHTS = st.sampled_from(
    ["1", "1.0", "2", "-3.25e-7", "0.1234567890123456789", "123456789012345678901234567890", ".5"]
)


@st.composite
def lists(draw):
    """Draw the text of an edge list: how it is separated and laid out, and what its labels are."""
    separator = draw(st.sampled_from([" ", "\t", ",", " , ", "  "]))
    labels = draw(st.sampled_from([INTEGERS, INTEGERS | WORDS, WORDS]))
    cells = [labels, labels, *([WEIGHTS] if draw(st.booleans()) else [])]
    edge = st.tuples(*cells).map(separator.join)
    layout = edge | edge.map("  {}".format) | edge.map("{} ".format)
    other = st.sampled_from(["", " \t", "# directed graph", "% note", " # inner"])
    lines = draw(st.lists(layout | layout | layout | other, min_size=1, max_size=25))
    names = [["Source", "Target", "Weight"], ["a", "b", "w"], ["a", "b", "2"]]
    head = [separator.join(name[: len(cells)]) for name in names] + ["3 2", "5 4 1", "% asym"]
    lines = draw(st.sampled_from([[], [], *([line] for line in head)])) + lines
    end = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    return end.join(lines) + draw(st.sampled_from(["", end]))


@settings(max_examples=300)
@given(
    text=lists(),
    size=SIZES,
    head=st.sampled_from([4, 1 << 20]),
    directed=st.sampled_from([None, True, False]),
    name=st.sampled_from([None, None, "edgelist"]),
)
def test_pieces_of_any_size_give_what_the_whole_file_gives(text, size, head, directed, name):
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(inputs, "_HEAD", head)
        path = Path(folder) / "graph.txt"
        path.write_bytes(text.encode())
        options = {"directed": directed is True, "undirected": directed is False}
        expected, fault = outcome(lambda: read_graph(path, format=name, **options))
        found, complaint = outcome(lambda: glued(path, size, directed=directed, name=name))
    if found is not None:
        assert fault is None
        check_same(found, expected)
    elif complaint is not None:
        # Of several faults the reader of whole files may name a later one.
        assert fault is not None


LINES = ["1 2 0.5", "# note", "3 4 1", "", "5 6 2", "2 3 7"]
FAULTS = {
    "one column": ("7", "found 1 column, 3 before"),
    "four columns": ("7 8 9 10", "found 4 columns, 3 before"),
    "word as weight": ("7 8 heavy", "weight 'heavy' is not a finite number"),
    "weight nan": ("7 8 nan", "weight 'nan' is not a finite number"),
    "weight beyond float64": ("7 8 1e999", "weight '1e999' is not a finite number"),
    "underscore": ("7 8 1_0", "weight '1_0' is not a finite number"),
}


@pytest.mark.parametrize("case", FAULTS)
@pytest.mark.parametrize("separator", [" ", "\t", ","])
@pytest.mark.parametrize("size", [1, 7, 20, 1000])
def test_a_faulty_line_is_named_as_by_the_reader_of_whole_files(tmp_path, case, separator, size):
    fault, words = FAULTS[case]
    path = tmp_path / "graph.txt"
    for place in range(1, len(LINES) + 1):
        lines = [*LINES[:place], fault, *LINES[place:]]
        path.write_text("\n".join(lines).replace("# note", "#note").replace(" ", separator))
        with pytest.raises(InputError) as expected:
            read_graph(path)
        with pytest.raises(InputError) as found:
            glued(path, size)
        assert str(found.value) == str(expected.value)
        assert str(found.value).startswith(f"{path}:{place + 1}: ")
        assert words in str(found.value)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("size", [3, 1000])
def test_bytes_that_are_no_text_are_refused_with_their_line(tmp_path, end, size):
    path = tmp_path / "graph.txt"
    path.write_bytes(end.join([b"a b", b"c d", b"\xe4 e", b"f g"]))
    for read in (read_graph, lambda path: glued(path, size)):
        with pytest.raises(InputError, match=":3: not UTF-8 text"):
            read(path)
    path.write_bytes(end.join([b"a b", b"c d", b"\0 e"]))
    for read in (read_graph, lambda path: glued(path, size)):
        with pytest.raises(InputError, match="binary file"):
            read(path)


def widened(path: Path, size: int):
    """Return the errors that change how a list is read, in their order."""
    comm = Communicator()
    source, errors = open_input(comm, path), []
    while True:
        pieces = Pieces(comm, source, size)
        try:
            list(pieces)
        except WiderDialectError as error:
            errors.append((error.cells, error.text))
            source = source.wider(error)
        else:
            return errors, source.judge(pieces.summaries)


def test_a_late_text_label_makes_all_labels_text_as_they_are_written(tmp_path):
    path = tmp_path / "graph.txt"
    path.write_text("007 2\n" * 50 + "7 x\n")
    errors, warnings = widened(path, 20)
    assert errors == [(False, True)]
    assert warnings == ("labels are text because of 'x' on line 51",)
    graph = glued(path, 20)
    assert graph.labels.tolist() == ["007", "2", "7", "x"]
    check_same(graph, read_graph(path))


def test_a_late_cell_with_blanks_makes_tabs_separate_cells(tmp_path):
    path = tmp_path / "graph.txt"
    path.write_text("Paris\tRome\n" * 50 + "New York City\tRome\n")
    errors, _ = widened(path, 20)
    assert errors == [(False, True), (True, False), (False, True)]
    check_same(glued(path, 20), read_graph(path))


@pytest.mark.parametrize("separator", [",", "\t"])
def test_quotes_that_occur_in_later_lines_alone_quote(tmp_path, separator):
    path = tmp_path / "graph.txt"
    path.write_text('1,2,5\n3,4,5\n"5","6",5\n'.replace(",", separator))
    graph = read_graph(path)
    assert graph.labels.tolist() == [1, 2, 3, 4, 5, 6]
    check_same(glued(path, 4), graph)


@pytest.mark.parametrize("line", ["1 2,,3", "1,,2", ",1,2", "1,2,", "1,2 3,"])
def test_an_empty_cell_is_told_from_blanks_beside_commas(tmp_path, line):
    path = tmp_path / "graph.txt"
    path.write_text(f"1,2,3\n{line}\n")
    for read in (read_graph, lambda path: glued(path, 3)):
        with pytest.raises(InputError, match=r":2: .* found an empty cell"):
            read(path)


def test_blanks_of_unicode_belong_to_labels_in_cells_as_in_tokens(tmp_path):
    path = tmp_path / "graph.txt"
    for first in ("a,b", '"a",b'):
        path.write_text(f"{first}\nc\xa0d,e\n")
        graph = read_graph(path)
        assert graph.labels.tolist() == ["a", "b", "c\xa0d", "e"]
        check_same(glued(path, 3), graph)


def test_column_names_count_as_such_only_where_all_labels_are_integers(tmp_path):
    path = tmp_path / "graph.txt"
    path.write_text("a b\n1 2\n3 4\n")
    assert widened(path, 4) == ([], ("line 1 is skipped: it holds column names",))
    path.write_text("a b\n1 2\n3 x\n")
    assert widened(path, 4) == ([(False, True)], ())
    check_same(glued(path, 4), read_graph(path))


def test_a_comment_that_says_directed_counts_before_the_edges_alone(tmp_path):
    path = tmp_path / "graph.txt"
    path.write_text("1 2\n# Directed graph\n")
    assert read_graph(path).warnings == ()
    check_same(glued(path, 3), read_graph(path))
    path.write_text("# Directed graph\n1 2\n")
    assert "directed" in read_graph(path).warnings[0]
    check_same(glued(path, 3), read_graph(path))


@pytest.mark.parametrize(
    "text",
    [
        "5 2\n1 2\n2 3\n",  # n, m and edges
        "3 3\n2 3\n1 3\n1 2\n",  # METIS
        "3 2 1\n2 5\n1 5 3 1\n2 1\n",  # METIS with weights
        "2 1 1\n2 5\n1 5\n",
        "4 5\n1 2 1\n3 4 1\n",  # Gset
        "1 2\n3 4 5\n",  # Gset by its third column
        "3 2\n2 3\n1\n1\n",  # METIS with lists of any length
        "5 0\n",
    ],
)
def test_a_first_line_that_may_be_a_header_is_left_to_the_whole_file(tmp_path, text):
    path = tmp_path / "graph.txt"
    path.write_text(text)
    assert glued(path, 4) is None


def test_a_first_edge_of_two_integers_is_one_where_the_counts_say_so(tmp_path):
    path = tmp_path / "graph.txt"
    for text in ("5 3\n1 2\n2 3\n", "1 2\n1 9\n", "2 1 1\n3 4 1\n"):
        path.write_text(text)
        check_same(glued(path, 4), read_graph(path))
    path.write_text("50 20\n" + "1 2\n" * 19)
    with pytest.raises(InputError) as expected:
        read_graph(path)
    with pytest.raises(InputError) as found:
        glued(path, 4)
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("size", [4, 1000])
@pytest.mark.parametrize(("fault", "words"), [("7", "1 column"), ("1 2 3", "3 columns")])
def test_a_faulty_line_of_a_list_that_starts_like_a_header_is_refused_in_pieces(
    tmp_path, size, fault, words
):
    path = tmp_path / "graph.txt"
    path.write_text("0 1\n" + "1 2\n" * 30 + f"{fault}\n" + "2 3\n" * 30)
    with pytest.raises(InputError) as expected:
        read_graph(path)
    with pytest.raises(InputError) as found:
        glued(path, size)
    assert str(found.value) == str(expected.value)
    assert f"found {words}, 2 before" in str(found.value)


def test_cells_with_blanks_are_told_in_a_list_that_starts_like_a_header(tmp_path):
    path = tmp_path / "graph.txt"
    path.write_text("1\t2\n" * 30 + "New York\t3\n")
    graph = glued(path, 20)
    assert graph.labels.tolist() == ["1", "2", "3", "New York"]
    check_same(graph, read_graph(path))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("p edge 2 1\ne 1 2\n", "graph.col"),
        ("*Vertices 2\n*Edges\n1 2\n", "graph.net"),
        ("<graphml></graphml>", "graph.xml"),
        ("3 2\n2\n1 3\n2\n", "graph.graph"),
    ],
)
def test_formats_that_are_no_lists_are_left_to_the_whole_file(tmp_path, text, name):
    path = tmp_path / name
    path.write_text(text)
    assert open_input(Communicator(), path) is None
    assert open_input(Communicator(), tmp_path / "absent.txt") is None
    assert open_input(Communicator(), tmp_path) is None


def test_a_second_pass_is_not_needed_for_pieces_that_are_stored(tmp_path):
    path = tmp_path / "graph.txt"
    path.write_text("1 2\n3 4\n5 6\n7 bad column\n")
    comm = Communicator()
    source = open_input(comm, path, format="edgelist")
    first = Pieces(comm, source, 4)
    found = iter(first)
    assert [next(found)[0] for _ in range(2)] == [0, 1]
    stored = dict(enumerate(first.summaries))
    again = Pieces(comm, source, 4, stored.get)
    found = iter(again)
    assert [next(found) for _ in range(2)] == [None, None]
    assert next(found)[0] == 2
    assert again.summaries[:2] == first.summaries
    # Lines of stored pieces count.
    with pytest.raises(InputError, match=r":4: .* found 3 columns, 2 before"):
        next(found)


def test_a_list_of_comments_alone_is_refused(tmp_path):
    path = tmp_path / "graph.txt"
    path.write_text("# nothing\n\n")
    with pytest.raises(InputError, match="holds no edges"):
        glued(path, 4)
    path.write_text("")
    with pytest.raises(InputError, match="the file is empty"):
        glued(path, 4)
