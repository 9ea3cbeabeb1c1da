"""What each reader accepts, warns about and refuses."""

import io
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.io
import scipy.sparse

from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.readers import FORMATS, read_graph
from ogg_hpc.graphs.readers.node_weights import read_node_weights
from ogg_hpc.graphs.shards import write_shards

BANNER = "%%MatrixMarket matrix coordinate"
GRAPHML = """<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="w" for="node" attr.name="weight" attr.type="{}"/><graph edgedefault="undirected">
<node id="1"><data key="w">{}</data></node><node id="2"/><edge source="1" target="2"/>
</graph></graphml>"""


@pytest.fixture
def read(tmp_path: Path):
    def read_content(content: str | bytes, name: str = "graph.txt", **options) -> Graph:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_graph(path, **options)

    return read_content


def edges_of(graph: Graph):
    u, v, w = graph.edges()
    ends = zip(graph.labels_of(u), graph.labels_of(v), strict=True)
    return {pair: 1.0 if w is None else w[i] for i, pair in enumerate(ends)}


# Each row: content, format or None, line or None, words of the message.
REFUSED = {
    "empty": ("", None, None, "empty"),
    "only comments": ("# nothing\n", None, None, "no edges"),
    "binary": (b"\x7fELF\0\0\0\1", None, None, "binary"),
    "Latin-1": ("a b\nä b\n".encode("latin-1"), None, 2, "UTF-8"),
    "half a UTF-16 character": (b"\xff\xfe1\x00 ", None, None, "utf-16"),
    "cut gzip": (b"\x1f\x8b\x08\x00abc", None, None, "damaged or cut off"),
    "cut zstandard": (b"\x28\xb5\x2f\xfd", None, None, "damaged or cut off"),
    "web page": ("<!DOCTYPE html>\n<html></html>\n", None, None, "web page"),
    "LFS pointer": ("version https://git-lfs.github.com/spec/v1\n", None, None, "git lfs pull"),
    "one column": ("1 2\n3\n", None, 2, "found 1 column, 2 before"),
    "four columns": ("1 2 3 4\n", "edgelist", 1, "found 4 columns"),
    "networkx data": ("1 2 {'w': 3}\n", None, 1, "found 4 columns"),
    "weight nan": ("1 2 1\n2 3 nan\n", None, 2, "'nan' is not a finite number"),
    "weight inf": ("a b inf\n", None, 1, "finite"),
    "weight too large": ("1 2 1e999\n", None, 1, "finite"),
    "weight word": ("1 2 0.5\n2 3 x\n", None, 2, "'x'"),
    "two weights": ("1 2 3\n4 5 6\n2 1 4\n", None, 3, "two weights, 3 and 4"),
    "empty cell": ("1,2,3\n4,,6\n", None, 2, "empty cell"),
    "header almost m": ("50 20\n" + "1 2\n" * 19, None, 1, "--format"),
    "header almost n": ("9 20\n" + "1 10\n" * 20, None, 1, "--format"),
    "cut headed list": ("20 900\n" + "1 20\n" * 300, None, 1, "--format"),
    "Gset cut": ("4 5\n1 2 1\n3 4 1\n", None, 1, "declares 5 edges and 2 follow"),
    "Gset id": ("4 2\n1 2 1\n3 5 1\n", None, 3, "id 5 is outside 1 … 4"),
    "Gset id 0": ("4 2\n0 2 1\n3 4 1\n", None, 3, "id 4 is outside 0 … 3"),
    "Gset without header": ("1 2 1\n", "gset", 1, "header 'n m'"),
    "Gset weight": ("4 2\n1 2 1\n3 4 nan\n", None, 3, "finite"),
    "absurd size": ("99999999999 2\n1 2 1\n3 4 1\n", None, None, "check the header"),
    "DIMACS count": ("p edge 3 3\ne 1 2\n", None, 1, "declares 3 edges and 1 follow"),
    "DIMACS id": ("p edge 3 1\ne 1 4\n", None, 2, "id 4 is outside"),
    "DIMACS id 0": ("p edge 3 1\ne 0 1\n", None, 2, "id 0 is outside 1 … 3"),
    "DIMACS problem": ("p cnf 3 1\n1 2 0\n", "dimacs", 1, "expected 'p edge n m'"),
    "DIMACS word": ("c hi\np col 3 1\ne 1 x\n", None, 3, "'x'"),
    "METIS neighbour": ("3 2\n2\n1 4\n2\n", "metis", 3, "neighbour 4 is outside 1 … 3"),
    "METIS one way": ("3 2\n2\n1 3\n1\n", "metis", 3, "node 2 lists 3, but 3 does not list 2"),
    "METIS cut": ("4 2\n2\n1\n", "metis", None, "expected 4 adjacency lines"),
    "METIS long": ("1 0\n\n1\n", "metis", None, "expected 1 adjacency lines"),
    "METIS count": ("2 7\n2\n1\n", "metis", None, "declares 7 edges"),
    "METIS odd": ("2 1 1\n2 5 1\n1 5\n", "metis", 2, "pairs"),
    "METIS weights": ("2 1 1\n2 5\n1 6\n", "metis", 3, "two weights"),
    "METIS word": ("2 1\n2\nx\n", "metis", 3, "'x'"),
    "METIS no weight": ("2 1 11\n7 2 1\n\n", "metis", 3, "the node's weight and pairs"),
    "METIS cut weights": ("3 1 10\n7 2\n7 1\n", "metis", None, "expected 3 adjacency lines"),
    "METIS fmt": ("2 1 7\n2\n1\n", "metis", 1, "METIS header"),
    "matrix type": (f"{BANNER} complex general\n", None, 1, "pattern|integer|real"),
    "matrix array": ("%%MatrixMarket matrix array real general\n", None, 1, "coordinate"),
    "matrix no size": (f"{BANNER} pattern general\n", None, None, "no size line"),
    "matrix shape": (f"{BANNER} pattern general\n3 4 1\n1 2\n", None, 2, "square"),
    "matrix count": (f"{BANNER} pattern general\n3 3 2\n1 2\n", None, 2, "declares 2 entries"),
    "matrix index": (f"{BANNER} pattern general\n3 3 1\n1 4\n", None, 3, "outside"),
    "matrix index 0": (f"{BANNER} pattern symmetric\n3 3 1\n1 0\n", None, 3, "outside"),
    "matrix columns": (f"{BANNER} real general\n3 3 1\n1 2\n", None, 3, "row column value"),
    "matrix value": (f"{BANNER} real general\n3 3 1\n\n1 2 nan\n", None, 4, "finite"),
    "Pajek start": ("1 2\n", "pajek", 1, "*Vertices n"),
    "Pajek size": ("*Vertices\n", None, 1, "*Vertices n"),
    "Pajek edge": ("*Vertices 2\n*Edges\n1 3\n", None, 3, "outside 1 … 2"),
    "Pajek vertex": ("*Vertices 2\n3 x\n", None, 2, "outside 1 … 2"),
    "Pajek vertex twice": ("*Vertices 2\n1 x\n1 y\n", None, 3, "twice"),
    "Pajek matrix": ("*Vertices 2\n*Matrix\n0 1\n1 0\n", None, 2, "not read"),
    "Pajek weight": ("*Vertices 2\n*Edges\n1 2 nan\n", None, 3, "finite"),
    "XML": ("<graphml><graph>\n<node", None, 2, "XML"),
    "no GraphML": ("<svg></svg>", None, None, "GraphML"),
    "no npz": (b"PK\x03\x04abc", None, None, "save_npz"),
    "no mat": (b"MATLAB 5.0 MAT-file", None, None, "MATLAB"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused_with_place_and_advice(read, tmp_path, case):
    content, name, line, words = REFUSED[case]
    with pytest.raises(InputError) as caught:
        read(content, format=name)
    message = str(caught.value)
    where = tmp_path / "graph.txt"
    assert message.startswith(f"{where}: " if line is None else f"{where}:{line}: ")
    assert words in message


def test_missing_file_and_folder_are_refused(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_graph(tmp_path / "absent.txt")
    with pytest.raises(InputError, match="folder"):
        read_graph(tmp_path)


def test_settings_that_cannot_work_are_refused(read):
    with pytest.raises(SettingsError, match="unknown format"):
        read("1 2\n", format="gml")
    with pytest.raises(SettingsError, match="not both"):
        read("1 2\n", directed=True, undirected=True)
    with pytest.raises(InputError, match="cannot be read as directed"):
        read("2 1\n2\n1\n", "graph.metis", directed=True)
    assert FORMATS[-1] == "hdf5"


def test_index_is_refused_where_there_is_no_store(tmp_path):
    (tmp_path / "g.txt").write_text("1 2\n")
    with pytest.raises(InputError, match="index"):
        read_graph(f"{tmp_path}/g.txt:0")
    (tmp_path / "g.txt:0").write_text("1 2\n2 3\n")
    assert read_graph(f"{tmp_path}/g.txt:0").m == 2


def test_repeated_edges_and_loops_are_counted(read):
    graph = read("5 6\n6 5\n5 6\n7 7\n")
    assert (graph.n, graph.m, graph.duplicates, graph.self_loops) == (3, 1, 2, 1)
    assert graph.labels_of(graph.looped) == [7]


def test_a_weight_column_of_ones_is_no_weight(read):
    assert read("1 2 1\n2 3 1.0\n").weights is None
    assert edges_of(read("1 2 1\n2 3 2\n")) == {(1, 2): 1, (2, 3): 2}


def test_edge_list_takes_comments_blank_lines_and_leading_blanks(read):
    graph = read("# Undirected graph\n% more\n\n  1\t2\n # inner\n\n3 2  \n")
    assert edges_of(graph) == {(1, 2): 1, (2, 3): 1}
    assert graph.warnings == ()


def test_hash_inside_a_label_is_no_comment(read):
    assert edges_of(read("a#1 b\nb c%\n")) == {("a#1", "b"): 1, ("b", "c%"): 1}


def test_one_text_label_makes_all_labels_text(read):
    graph = read("1 2\n2 x\n")
    assert graph.labels_of([0, 1, 2]) == ["1", "2", "x"]
    assert graph.warnings == ("labels are text because of 'x' on line 2",)


@pytest.mark.parametrize("sign", ["-", "+"])
def test_a_sign_alone_is_no_integer(read, sign):
    graph = read(f"1 {sign}\n{sign} 2\n")
    assert edges_of(graph) == {(sign, "1"): 1, (sign, "2"): 1}
    with pytest.raises(InputError, match=rf":4: expected 'row column', found '\{sign}'"):
        read(f"{BANNER} pattern general\n2 2 2\n1 2\n2 {sign}\n")


def test_integers_may_have_any_number_of_leading_zeros(read):
    assert edges_of(read(f"{'0' * 30}1 2\n")) == {(1, 2): 1}
    graph = read(f"{'0' * 30}1 2\n2 x\n")
    assert graph.warnings == ("labels are text because of 'x' on line 2",)


def test_labels_beyond_int64_stay_text(read):
    assert edges_of(read("18446744073709551616 1\n")) == {("1", "18446744073709551616"): 1}


@pytest.mark.parametrize(
    "content",
    ["source,target\n1,2\n", "FromNode ToNode\n1 2\n", "Source,Target,Weight\n1,2,1\n"],
)
def test_column_names_are_skipped_with_a_warning(read, content):
    graph = read(content)
    assert edges_of(graph) == {(1, 2): 1}
    assert "column names" in graph.warnings[0]


def test_an_edge_between_words_is_no_line_of_column_names(read):
    assert read("a b\n1 2\nc d\n").m == 3


def test_cells_may_hold_blanks_and_quotes(read):
    assert edges_of(read('"New York",Boston,2\nBoston,Rome,3\n')) == {
        ("Boston", "New York"): 2,
        ("Boston", "Rome"): 3,
    }
    assert edges_of(read("New York City\tRome\n")) == {("New York City", "Rome"): 1}
    assert edges_of(read('"1","2"\n')) == {(1, 2): 1}


def test_edge_list_is_directed_on_demand(read):
    graph = read("1 2\n2 1\n2 3\n", directed=True)
    assert graph.directed
    assert graph.m == 3


def test_konect_comment_is_a_warning(read):
    assert "directed" in read("% asym unweighted\n1 2\n").warnings[0]


def test_two_integers_that_count_what_follows_are_a_header(read):
    graph = read("5 2\n1 2\n2 3\n")
    assert (graph.n, graph.m, graph.labels_of([0, 4])) == (5, 2, [1, 5])
    assert read("5 2\n1 2\n2 3\n", format="edgelist").m == 3
    assert read("3 2\n0 1\n1 2\n").labels is None


def test_two_integers_that_do_not_are_an_edge(read):
    assert edges_of(read("5 3\n1 2\n2 3\n")) == {(3, 5): 1, (1, 2): 1, (2, 3): 1}
    assert read("1 2\n1 9\n").m == 2


def test_header_counts_lines_or_distinct_edges(read):
    assert read("p edge 2 2\ne 1 2\ne 2 1\n").duplicates == 1
    assert read("p edge 2 1\ne 1 2\ne 2 1\n").m == 1


@pytest.mark.parametrize("header", ["p edge 3 2", "p col 3 2", "p td 3 2", "p ds 3 2", "3 2"])
@pytest.mark.parametrize("prefix", ["e ", ""])
def test_dimacs_variants(read, header, prefix):
    graph = read(f"c remark\n{header}\nc more\n{prefix}1 2\n{prefix}2 3\n")
    assert edges_of(graph) == {(1, 2): 1, (2, 3): 1}


def test_dimacs_lines_of_geometry_are_skipped(read):
    graph = read("p edge 2 1\nd 2 2\nv 0.5 1\nv 1 2\nx MAXDIST 2\nn 1 3\ne 1 2\n")
    assert (edges_of(graph), graph.node_weights.tolist()) == ({(1, 2): 1}, [3, 1])


def test_dimacs_node_weights_count_1_where_they_are_not_given(read):
    graph = read("p edge 3 1\nn 3 5\nn 1 0.25\ne 1 2\n")
    assert (graph.n, graph.m) == (3, 1)
    assert graph.node_weights.tolist() == [0.25, 1, 5]


def test_dimacs_node_weights_without_a_header_are_by_label(read):
    graph = read("n 40 5\ne 10 40\ne 10 20\n")
    assert graph.labels.tolist() == [10, 20, 40]
    assert graph.node_weights.tolist() == [1, 1, 5]


def test_metis_weights_of_nodes_and_of_edges_are_kept_and_sizes_skipped(read):
    graph = read("% remark\n3 1 111\n7 6 2 5\n8 4 1 5\n% inner\n9 3\n")
    assert edges_of(graph) == {(1, 2): 5}
    assert graph.node_weights.tolist() == [6, 4, 3]
    assert graph.warnings == ("sizes of nodes are not read",)
    graph = read("3 1 10\n6 2\n4 1\n3\n")
    assert edges_of(graph) == {(1, 2): 1}
    assert (graph.node_weights.tolist(), graph.warnings) == ([6, 4, 3], ())


def test_graphml_weights_of_nodes(read):
    path = nx.path_graph(3)
    path.nodes[1]["weight"] = 2.5
    file = io.BytesIO()
    nx.write_graphml(path, file)
    assert read(file.getvalue()).node_weights.tolist() == [1, 2.5, 1]


# Each row: content, words of the warning, what stands before them in an error.
UNREAD_NODE_WEIGHTS = {
    "METIS several weights": ("%\n2 1 10 2\n7 7 2\n8 8 1\n", "2 weights of each node", " "),
    "METIS sizes, several weights": ("2 1 111 2\n9 7 7 2 1\n9 8 8 1 1\n", "2 weights of each", " "),
    "METIS weight 0": ("2 1 10\n7 2\n0 1\n", "node 2 has weight 0", "3: "),
    "METIS weight 0, ncon 0": ("2 1 10 0\n7 2\n0 1\n", "node 2 has weight 0", "3: "),
    "DIMACS node": ("p edge 2 1\nn 3 4\ne 1 2\n", "node 3 is not in the graph", "2: "),
    "DIMACS node weight": ("p edge 2 1\nn 1 -4\ne 1 2\n", "node 1 has weight -4", "2: "),
    "DIMACS flow": ("p edge 2 1\nn 1 s\nn 2 t\ne 1 2\n", "weight 's' is not", "2: "),
    "DIMACS node twice": ("p edge 2 1\nn 1 4\nn 1 4\ne 1 2\n", "already, on line 2", "3: "),
    "DIMACS node line": ("p edge 2 1\nn 1\ne 1 2\n", "expected 'n ID WEIGHT'", "2: "),
    "GraphML word": (GRAPHML.format("string", "heavy"), "heavy", " "),
    "GraphML weight 0": (GRAPHML.format("double", 0), "node 1 has weight 0", " "),
}


@pytest.mark.parametrize("case", UNREAD_NODE_WEIGHTS)
def test_weights_of_nodes_that_formats_allow_but_no_problem_takes_are_a_warning(
    read, tmp_path, case
):
    content, words, before = UNREAD_NODE_WEIGHTS[case]
    graph = read(content)
    assert edges_of(graph) == {(1, 2): 1}
    assert graph.node_weights is None
    assert graph.warnings[-1].startswith("weights of nodes are not read: ")
    assert words in graph.warnings[-1]
    assert graph.unread_node_weights.startswith(f"{tmp_path / 'graph.txt'}:{before}")
    assert words in graph.to_undirected().unread_node_weights
    assert graph.with_node_weights([2, 3]).unread_node_weights == ""


@pytest.mark.parametrize(
    "content", ["p edge 2 1\nn 1 1\nn 2 1\ne 1 2\n", "2 1 10\n1 2\n1 1\n", "a b\n"]
)
def test_weights_of_nodes_that_are_all_1_are_none(read, content):
    assert read(content).node_weights is None


@pytest.mark.parametrize(
    "content", ["c 2\nb 1.5\n# remark\na 7\n", "7\n% remark\n1.5\n2\n", "\n7\n1.5\n2"]
)
def test_weights_of_nodes_from_a_file_of_their_own(read, tmp_path, content):
    file = tmp_path / "weights.txt"
    file.write_text(content)
    graph = read_node_weights(file, read("a b\nb c\n"))
    assert graph.node_weights.tolist() == [7, 1.5, 2]


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        ("1 2\n2 -3\n3 1\n", 2, "node 2 has weight -3; expected a positive finite number"),
        ("1\n0\n2\n", 2, "positive"),
        ("1\n2\n", None, "holds 2 weights, but the graph has 3 nodes"),
        ("1 2\n2 3\n", None, "no weight for node 3"),
        ("1 2\n2 3\n1 4\n", 3, "node '1' has a weight already, on line 1"),
        ("1 2\n2 3\n4 4\n", 3, "node 4 is not in the graph"),
        ("1 2\n2 3\nx 4\n", 3, "node 'x' is not in the graph"),
        ("1 2\n2 nan\n3 4\n", 2, "'nan' is not a finite number"),
        ("1\n1e999\n3\n", 2, "'1e999' is not a finite number"),
        ("1 2 3\n", 1, "expected 'label weight'"),
        ("1 2\n3\n", 2, "expected 'label weight'"),
        ("# nothing\n", None, "holds 0 weights"),
    ],
)
def test_bad_weights_of_nodes_are_refused_with_place_and_advice(
    read, tmp_path, content, line, words
):
    file = tmp_path / "weights.txt"
    file.write_text(content)
    graph = read("1 2\n2 3\n")
    with pytest.raises(InputError) as caught:
        read_node_weights(file, graph)
    message = str(caught.value)
    assert message.startswith(f"{file}: " if line is None else f"{file}:{line}: ")
    assert words in message


def test_metis_isolated_nodes_are_blank_lines(read):
    graph = read("4 1\n\n3\n2\n\n")
    assert (graph.n, edges_of(graph)) == (4, {(2, 3): 1})
    assert read("4 1\n\n3\n2\n").n == 4
    assert read("4 1\n\n3\n2\n\n\n\n").n == 4


def test_triangle_reads_alike_in_metis_and_as_headed_list(read):
    triangle = {(1, 2): 1, (1, 3): 1, (2, 3): 1}
    assert edges_of(read("3 3\n2 3\n1 3\n1 2\n")) == triangle


def test_lists_that_fit_metis_and_a_header_go_by_symmetry_then_suffix(read):
    cycle = {(1, 2): 1, (2, 3): 1, (3, 4): 1, (1, 4): 1}
    assert edges_of(read("4 4\n2 4\n1 3\n2 4\n1 3\n")) == cycle
    assert edges_of(read("4 4\n1 2\n2 3\n3 4\n4 1\n")) == cycle
    with pytest.raises(InputError, match="does not list"):
        read("4 4\n1 2\n2 3\n3 4\n4 1\n", "graph.metis")


def test_matrixmarket_takes_one_percent_blank_lines_and_two_sizes(read):
    content = "%MatrixMarket matrix coordinate pattern symmetric \n%\n\n  3 3 1\n\n 2 1\n\n"
    assert edges_of(read(content)) == {(1, 2): 1}
    assert read(f"{BANNER} pattern symmetric\n3 1\n2 1\n").n == 3
    assert read(f"\n{BANNER.upper()} PATTERN symmetric\n3 1\n2 1\n").n == 3


def test_general_matrix_is_undirected_only_if_symmetric(read):
    one_way = f"{BANNER} pattern general\n3 3 2\n1 2\n2 3\n"
    both = f"{BANNER} pattern general\n3 3 3\n1 2\n2 1\n3 3\n"
    assert read(one_way).directed
    assert edges_of(read(one_way, undirected=True)) == {(1, 2): 1, (2, 3): 1}
    graph = read(both)
    assert (graph.directed, graph.m, graph.duplicates, graph.self_loops) == (False, 1, 0, 1)
    assert read(both, directed=True).m == 2


def test_two_weights_of_one_edge_name_the_second_line(read):
    content = f"{BANNER} integer general\n3 3 2\n1 2 4\n2 1 5\n"
    assert read(content).directed
    with pytest.raises(InputError, match=r":4: edge \(1, 2\) has two weights"):
        read(content, undirected=True)


def test_stored_zeros_are_no_edges(read):
    graph = read(f"{BANNER} integer symmetric\n3 3 2\n2 1 0\n3 1 4\n")
    assert edges_of(graph) == {(1, 3): 4}
    assert graph.warnings == ("1 stored zeros are not edges",)


def test_pajek_labels_arcs_and_edges(read):
    content = '% x\n*Network n\n*Vertices 3\n1 "New York" 0.1 0.2 0.5\n2 b\n*arcs\n1 2 2.5 c Blue\n'
    graph = read(content + "*Edges\n2 3\n")
    assert graph.directed
    assert edges_of(graph) == {("New York", "b"): 2.5, ("b", "3"): 1, ("3", "b"): 1}
    assert edges_of(read(content + "*Edges\n2 3\n", undirected=True)) == {
        ("New York", "b"): 2.5,
        ("b", "3"): 1,
    }
    assert not read("*Vertices 3\n*Edges\n1 2\n").directed


def test_pajek_labels_that_are_not_distinct_give_way_to_numbers(read):
    graph = read('*Vertices 2\n1 "x"\n2 "x"\n*Edges\n1 2\n')
    assert edges_of(graph) == {(1, 2): 1}
    assert "not distinct" in graph.warnings[0]


def test_graphml_directions_and_labels(read):
    file = io.BytesIO()
    nx.write_graphml(nx.DiGraph([("a", "b"), ("b", "a"), ("b", "c")]), file)
    assert read(file.getvalue()).m == 3
    assert edges_of(read(file.getvalue(), undirected=True)) == {("a", "b"): 1, ("b", "c"): 1}


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
def test_every_scipy_layout_reads_with_direction(read, kind):
    matrix = scipy.sparse.coo_array(([1, 2], ([0, 1], [1, 2])), (4, 4)).asformat(kind)
    file = io.BytesIO()
    scipy.sparse.save_npz(file, matrix)
    graph = read(file.getvalue())
    assert graph.directed
    assert (graph.n, edges_of(graph)) == (4, {(0, 1): 1, (1, 2): 2})


def test_index_arrays_out_of_range_are_refused(read):
    file = io.BytesIO()
    parts = {"indices": [0, 9], "indptr": [0, 50, 2], "data": [1.0, 1.0], "shape": [2, 2]}
    np.savez(file, format=np.bytes_("csr"), **{k: np.array(v) for k, v in parts.items()})
    with pytest.raises(InputError, match="damaged"):
        read(file.getvalue())


def test_mat_file_with_one_sparse_matrix_of_any_name(read):
    file = io.BytesIO()
    scipy.io.savemat(file, {"A": scipy.sparse.eye_array(3, k=1, format="csc"), "x": [1.0]})
    assert read(file.getvalue()).m == 2
    file = io.BytesIO()
    scipy.io.savemat(file, {"x": np.ones((2, 2)), "y": 3})
    with pytest.raises(InputError, match="found x, y"):
        read(file.getvalue())


def test_dense_mat_network_and_version_4(read):
    for version in ("4", "5"):
        file = io.BytesIO()
        scipy.io.savemat(file, {"network": 1.0 - np.eye(9)}, format=version)
        assert read(file.getvalue(), "graph.mat").m == 36


@pytest.mark.parametrize("compressed", [False, True])
def test_other_variables_of_a_mat_file_do_not_matter(read, compressed):
    file = io.BytesIO()
    others = {"note": "text", "cells": np.array([[1], "a"], dtype=object), "s": {"a": 1j}, "z": 1j}
    network = scipy.sparse.eye_array(3, k=1, format="csc")
    scipy.io.savemat(file, {**others, "network": network}, do_compression=compressed)
    assert read(file.getvalue()).m == 2


def test_damaged_tags_of_a_mat_file_are_refused(read):
    file = io.BytesIO()
    scipy.io.savemat(file, {"network": scipy.sparse.eye_array(4, format="csc")})
    data = file.getvalue()
    for at in range(128, len(data), 4):
        try:
            graph = read(data[:at] + b"\x0e" + data[at + 1 :])
        except InputError:
            continue
        assert graph.n >= 0


def test_mat_file_of_version_7_3_says_how_to_save_it(read):
    content = b"MATLAB 7.3 MAT-file".ljust(124) + b"\0\2IM"
    with pytest.raises(InputError, match="-v7"):
        read(content)


def test_store_is_read_by_its_content(tmp_path):
    graphs = [Graph.from_edges(4, [0, 1], [1, 2], directed=True), Graph.from_edges(3, [0], [1])]
    write_shards(tmp_path / "store", graphs[:1] * 2, graphs_per_shard=1)
    assert read_graph(f"{tmp_path / 'store'}:1").directed
    assert not read_graph(f"{tmp_path / 'store'}:1", undirected=True).directed
    with pytest.raises(SettingsError, match="INDEX"):
        read_graph(tmp_path / "store")
    write_shards(tmp_path / "one", graphs[1:], graphs_per_shard=1)
    (tmp_path / "one/shard-00000.h5").rename(tmp_path / "graph.txt")
    assert read_graph(tmp_path / "graph.txt").m == 1
