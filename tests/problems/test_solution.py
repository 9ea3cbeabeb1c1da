import json

import numpy as np
import pytest

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems import problem_by_name
from ogg_hpc.problems.solution import read_solution, write_solution

MVC = problem_by_name("mvc")
EDGES = [0, 1, 2], [1, 2, 3]
PATH = Graph.from_edges(4, *EDGES)
NAMED = Graph.from_edges(4, *EDGES, labels=np.array(["a", "b", "c", "Zoë"]))
NUMBERED = Graph.from_edges(4, *EDGES, labels=np.array([10, 20, 30, 40]))


@pytest.mark.parametrize("graph", [PATH, NAMED, NUMBERED], ids=["ids", "names", "numbers"])
def test_round_trip(tmp_path, graph):
    file = tmp_path / "SOLUTION.json"
    nodes = np.array([3, 1])
    write_solution(file, MVC, graph, nodes, graph_path="some.graph")
    assert json.loads(file.read_text(encoding="utf-8")) == {
        "format": "ogg-hpc-solution/1",
        "problem": "mvc",
        "graph": {
            "path": "some.graph",
            "nodes": 4,
            "edges": 3,
            "self_loops": 0,
            "duplicates": 0,
        },
        "objective": 2,
        "nodes": graph.labels_of(nodes),
    }
    solution = read_solution(file, graph)
    assert (solution.problem, solution.objective) == ("mvc", 2)
    assert solution.nodes.tolist() == [3, 1]


@pytest.mark.parametrize("text", ["0\n1\n0\n1\n", "\ufeff0\r\n1\r\n0\r\n1", " 0 \n1\n0\n1\n\n"])
def test_one_digit_a_line(tmp_path, text):
    file = tmp_path / "solution.txt"
    file.write_bytes(text.encode())
    problem, nodes, objective = read_solution(file, NAMED)
    assert (problem, nodes.tolist(), objective) == (None, [1, 3], None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0\n1\n2\n1\n", r"solution:3: '2' is neither 0 nor 1"),
        ("0\n1\n0\n", "has 3 lines, but the graph has 4 nodes"),
        ("", "has 0 lines"),
        ('{"format":\n "ogg', r"solution:2: is not valid JSON"),
        ("{}", "key 'format': expected 'ogg-hpc-solution/1', not None"),
    ],
)
def test_damaged_files(tmp_path, text, message):
    file = tmp_path / "solution"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        read_solution(file, PATH)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("format", "ogg-hpc-solution/2", "key 'format': expected .*/1', not .*/2'"),
        ("problem", 3, "key 'problem': expected a name, not 3"),
        ("objective", "two", "key 'objective': expected a number, not 'two'"),
        ("objective", True, "key 'objective': expected a number, not True"),
        ("graph", None, "key 'graph': expected an object"),
        ("graph", {"nodes": 5, "edges": 3}, r"key 'graph\.nodes': says 5, but this graph has 4"),
        ("graph", {"nodes": 4, "edges": 2}, r"key 'graph\.edges': says 2, but this graph has 3"),
        ("nodes", 7, "key 'nodes': expected a list of labels, not 7"),
        ("nodes", [20, 50], "key 'nodes': node 50 is not in the graph"),
        ("nodes", [20, "30"], r"key 'nodes\[1\]': '30' is not an integer"),
        ("nodes", [20, True], r"key 'nodes\[1\]': True is not an integer"),
        ("nodes", [20, 40, 20], r"key 'nodes\[2\]': node 20 is listed twice"),
    ],
)
def test_wrong_keys_are_named(tmp_path, key, value, message):
    file = tmp_path / "SOLUTION.json"
    write_solution(file, MVC, NUMBERED, np.array([1, 3]), graph_path="some.graph")
    file.write_text(json.dumps(json.loads(file.read_text()) | {key: value}))
    with pytest.raises(InputError, match=message):
        read_solution(file, NUMBERED)


def test_unreadable_files(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        read_solution(tmp_path / "none.json", PATH)
    with pytest.raises(InputError, match="cannot be read"):
        read_solution(tmp_path, PATH)
    (tmp_path / "binary").write_bytes(b"\x80\xff\x00")
    with pytest.raises(InputError, match="is no text"):
        read_solution(tmp_path / "binary", PATH)


def test_number_of_thousands_of_digits_is_refused(tmp_path):
    (tmp_path / "long.json").write_text('{"objective": ' + "9" * 5000 + "}")
    with pytest.raises(InputError, match="is not a solution"):
        read_solution(tmp_path / "long.json", PATH)
