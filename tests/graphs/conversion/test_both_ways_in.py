"""What other readers of graphs have got wrong, in whole files and in pieces."""

import io

import networkx as nx
import numpy as np
import pytest
import scipy.io
import scipy.sparse
from glued_pieces import glued

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.readers import read_graph

MATRIX = "%%MatrixMarket matrix coordinate"


@pytest.fixture
def read(tmp_path):
    """Read a text as a whole and, where its format comes in them, in pieces; return the graph."""

    def read_text(text: str, *, in_pieces: bool = True):
        path = tmp_path / "graph.txt"
        path.write_text(text)
        graph = read_graph(path)
        for size in (1, 9, 10_000):
            found = glued(path, size)
            assert (found is not None) == in_pieces
            assert found is None or content(found) == content(graph)
        return graph

    return read_text


def content(graph):
    u, v, w = graph.edges()
    weights = [1.0] * graph.m if w is None else w.tolist()
    ends = [graph.labels_of(u), graph.labels_of(v)]
    edges = {(a, b): weight for a, b, weight in zip(*ends, weights, strict=True)}
    return graph.labels_of(range(graph.n)), edges, graph.self_loops, graph.duplicates


def test_the_third_column_of_a_gset_file_is_the_weight_and_no_node(read):
    _, edges, *_ = content(read("3 2\n1 2 -1\n2 3 7\n", in_pieces=False))
    assert edges == {(1, 2): -1, (2, 3): 7}


@pytest.mark.parametrize(
    ("text", "in_pieces"),
    [
        ("1 1\n1 2\n2 3\n", True),
        (f"{MATRIX} pattern symmetric\n3 3 3\n1 1\n2 1\n3 2\n", True),
        ("p edge 3 3\ne 1 1\ne 1 2\ne 2 3\n", False),
    ],
)
def test_self_loops_are_dropped_and_counted_in_all_formats(read, text, in_pieces):
    labels, edges, loops, _ = content(read(text, in_pieces=in_pieces))
    assert (labels, edges, loops) == ([1, 2, 3], {(1, 2): 1, (2, 3): 1}, 1)


@pytest.mark.parametrize(
    ("text", "in_pieces"),
    [
        (f"{MATRIX} pattern symmetric\n4 4 1\n3 2\n", True),
        ("p edge 4 1\ne 2 3\n", False),
        ("4 1\n2 3 1\n", False),
        ("4 1\n\n3\n2\n\n", False),
        ("*Vertices 4\n*Edges\n2 3\n", False),
    ],
)
def test_isolated_nodes_stay_where_a_header_declares_them(read, text, in_pieces):
    labels, edges, *_ = content(read(text, in_pieces=in_pieces))
    assert (labels, edges) == ([1, 2, 3, 4], {(2, 3): 1})


@pytest.mark.parametrize("separator", [" ", "\t", ","])
def test_a_line_with_a_hash_inside_is_no_comment(read, separator):
    text = "a#1 b\n#c d\nb e#\n".replace(" ", separator)
    assert content(read(text))[1] == {("a#1", "b"): 1, ("b", "e#"): 1}


def test_text_after_the_weight_of_an_edge_is_refused_and_not_passed_over(tmp_path):
    path = tmp_path / "graph.txt"
    path.write_text("1 2 9\n2 3 9 # note\n")
    for way in (read_graph, lambda path: glued(path, 6)):
        with pytest.raises(InputError, match=r":2: .* found 5 columns"):
            way(path)


@pytest.mark.parametrize(
    "text",
    [
        "%MatrixMarket matrix coordinate pattern symmetric\n%\n3 3 2\n2 1\n3 2\n",
        f"{MATRIX} pattern symmetric\n3 2\n2 1\n3 2\n",
        f"{MATRIX} pattern symmetric\n\n  3 3 2\n\n\t2 1\n   3  2\n\n",
        f"{MATRIX.upper()} Pattern Symmetric\n% a\n\n% b\n3 3 2\n% c\n2 1\n3 2\n% d\n",
        f"{MATRIX} pattern symmetric\r\n3 3 2\r\n2 1\r\n3 2",
    ],
    ids=["one percent", "two sizes", "blanks and empty lines", "comments", "no last line end"],
)
def test_matrixmarket_as_it_is_written_in_the_wild_is_read(read, text):
    assert content(read(text)) == ([1, 2, 3], {(1, 2): 1, (2, 3): 1}, 0, 0)


@pytest.mark.parametrize("entries", [1, 3])
def test_a_matrix_with_another_number_of_entries_is_refused(tmp_path, entries):
    path = tmp_path / "graph.mtx"
    path.write_text(f"{MATRIX} pattern symmetric\n3 3 {entries}\n2 1\n3 2\n")
    for way in (read_graph, lambda path: glued(path, 4)):
        with pytest.raises(InputError, match=f":2: the size line declares {entries} entries and 2"):
            way(path)


def test_ids_of_a_list_are_labels_so_that_no_node_appears_from_gaps(read):
    assert content(read("1 2\n2 3\n"))[0] == [1, 2, 3]
    assert content(read("0 7\n7 1000000000000\n"))[0] == [0, 7, 10**12]
    assert content(read("-5 3\n3 4\n"))[0] == [-5, 3, 4]


def test_a_hub_of_all_edges_is_read_as_any_other(read):
    edges = "".join(f"0 {i}\n" for i in range(1, 3000))
    graph = read(edges)
    assert (graph.n, graph.m, graph.degrees.max()) == (3000, 2999, 2999)


def test_metis_takes_nodes_without_edges_and_repeated_edges(read):
    graph = read("4 3\n2 2\n1 1 3\n2\n\n", in_pieces=False)
    assert content(graph)[:2] == ([1, 2, 3, 4], {(1, 2): 1, (2, 3): 1})


def test_repeated_edges_keep_their_weight_once(read):
    text = "1 2 5\n2 1 5\n1 2 5\n2 3 1\n"
    assert content(read(text)) == ([1, 2, 3], {(1, 2): 5, (2, 3): 1}, 0, 2)
    entries = "3 3 3\n2 1 5\n2 1 5\n3 2 1\n"
    matrix = read(f"{MATRIX} integer symmetric\n{entries}")
    assert content(matrix) == ([1, 2, 3], {(1, 2): 5, (2, 3): 1}, 0, 1)


@pytest.mark.parametrize("save", [scipy.sparse.save_npz, "mat"])
def test_repeated_entries_of_a_sparse_matrix_are_not_added_up(tmp_path, save):
    ends = (np.array([0, 0, 1, 1, 1, 2]), np.array([1, 1, 0, 0, 2, 1]))
    matrix = scipy.sparse.coo_array((np.array([5.0, 5, 5, 5, 3, 3]), ends), (3, 3))
    file = io.BytesIO()
    if save == "mat":
        # The format has no repeated entries: its writer adds them up.
        scipy.io.savemat(file, {"network": matrix})
        expected = {(0, 1): 10, (1, 2): 3}
    else:
        save(file, matrix)
        expected = {(0, 1): 5, (1, 2): 3}
    path = tmp_path / "graph"
    path.write_bytes(file.getvalue())
    assert content(read_graph(path))[1] == expected


def test_a_graph_with_loops_repetitions_and_isolated_nodes_is_as_networkx_holds_it(read):
    graph = nx.gnm_random_graph(30, 60, seed=1)
    lines = [f"{u} {v}" for u, v in graph.edges] + [f"{v} {u}" for u, v in graph.edges] + ["3 3"]
    found = read("# isolated nodes have no line\n" + "\n".join(lines))
    expected = nx.Graph(graph.edges)
    assert found.labels_of(range(found.n)) == sorted(expected.nodes)
    assert (found.m, found.duplicates, found.self_loops) == (60, 60, 1)
