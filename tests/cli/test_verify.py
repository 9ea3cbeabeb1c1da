import argparse
import json

import numpy as np
import pytest

from ogg_hpc.cli import verify
from ogg_hpc.errors import InfeasibleError, InputError, OggError, SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems import problem_by_name
from ogg_hpc.problems.solution import write_solution


def run(*arguments):
    parser = argparse.ArgumentParser()
    verify.add_parser(parser.add_subparsers(required=True))
    args = parser.parse_args(["verify", *map(str, arguments)])
    return args.run(args)


@pytest.fixture
def path_graph(tmp_path):
    """The path a - b - c - d as an edge list, and a function that writes a solution of it."""
    file = tmp_path / "path.edges"
    file.write_text("a b\nb c\nc d\n")

    def write(nodes, **changes):
        graph = Graph.from_edges(4, [0, 1, 2], [1, 2, 3], labels=np.array(["a", "b", "c", "d"]))
        solution = tmp_path / "SOLUTION.json"
        write_solution(
            solution, problem_by_name("mvc"), graph, graph.ids_of(nodes), graph_path=file
        )
        solution.write_text(json.dumps(json.loads(solution.read_text()) | changes))
        return solution

    return file, write


def test_feasible(path_graph, capsys):
    graph, write = path_graph
    solution = write("bd")
    assert run(graph, solution) == 0
    assert capsys.readouterr().out == f"{solution}: feasible mvc solution with objective 2\n"
    assert run(graph, solution, "--problem", "mvc", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {
        "problem": "mvc",
        "graph": {
            "path": str(graph),
            "nodes": 4,
            "edges": 3,
            "self_loops": 0,
            "duplicates": 0,
        },
        "objective": 2,
        "feasible": True,
        "violation": None,
        "solution": str(solution),
    }


def exit_code(error):
    assert isinstance(error.value, OggError)
    return error.value.exit_code


def test_infeasible_names_the_edge(path_graph, capsys):
    graph, write = path_graph
    with pytest.raises(InfeasibleError, match=r"edge \(c, d\) is not covered") as error:
        run(graph, write("ab"), "--json")
    assert exit_code(error) == 3
    record = json.loads(capsys.readouterr().out)
    assert (record["feasible"], record["objective"]) == (False, None)
    assert record["violation"] == "edge (c, d) is not covered"


def test_objective_that_disagrees(path_graph, capsys):
    graph, write = path_graph
    message = "key 'objective': the file says 1, recomputed it is 2"
    with pytest.raises(InfeasibleError, match=message) as error:
        run(graph, write("bc", objective=1), "--json")
    assert exit_code(error) == 3
    record = json.loads(capsys.readouterr().out)
    assert (record["feasible"], record["objective"]) == (True, 2)


def test_self_loop_is_forced(path_graph):
    graph, write = path_graph
    solution = write("bc")
    graph.write_text("a b\nb c\nc d\nd d\n")
    with pytest.raises(InfeasibleError, match="node d has a self loop"):
        run(graph, solution)


def test_one_digit_a_line(path_graph, tmp_path, capsys):
    graph, _ = path_graph
    solution = tmp_path / "solution.txt"
    solution.write_text("0\n1\n1\n0\n")
    assert run(graph, solution) == 0
    assert "feasible mvc solution with objective 2" in capsys.readouterr().out
    solution.write_text("0\n1\n0\n0\n")
    with pytest.raises(InfeasibleError, match=r"edge \(c, d\) is not covered"):
        run(graph, solution)


def test_problem_of_the_file(path_graph, tmp_path):
    graph, write = path_graph
    with pytest.raises(InputError, match="'tsp' is no problem of this package") as error:
        run(graph, write("bc", problem="tsp"))
    assert exit_code(error) == 2
    # A solution file never makes code run.
    own = tmp_path / "own.py"
    own.write_text("raise SystemExit('executed')\n")
    with pytest.raises(InputError, match="is no problem of this package"):
        run(graph, write("bc", problem=f"{own}:Own"))
    own.write_text(
        "from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover\n"
        "class Own(MinimumVertexCover):\n"
        "    name = 'own'\n"
    )
    assert run(graph, write("bc", problem="own"), "--problem", f"{own}:Own") == 0
    with pytest.raises(InputError, match="the file solves 'own', --problem says 'mvc'"):
        run(graph, write("bc", problem="own"), "--problem", "mvc")
    with pytest.raises(SettingsError, match="unknown problem 'nothing'"):
        run(graph, write("bc"), "--problem", "nothing")


def test_directed_graph_needs_a_word(tmp_path, capsys):
    graph = tmp_path / "arcs.mtx"
    graph.write_text("%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n")
    solution = tmp_path / "solution.txt"
    solution.write_text("0\n1\n0\n")
    with pytest.raises(OggError, match="--undirected") as error:
        run(graph, solution)
    assert exit_code(error) == 2
    assert run(graph, solution, "--undirected", "--format", "matrixmarket") == 0
    assert "objective 1" in capsys.readouterr().out


def test_real_graph(shared_data, tmp_path, capsys):
    graph = shared_data / "mvc" / "karate.graph"
    optimum = {1, 2, 3, 4, 6, 7, 9, 11, 26, 28, 30, 32, 33, 34}
    solution = tmp_path / "solution.txt"
    solution.write_text("".join(f"{int(v in optimum)}\n" for v in range(1, 35)))
    assert run(graph, solution) == 0
    assert "objective 14" in capsys.readouterr().out
