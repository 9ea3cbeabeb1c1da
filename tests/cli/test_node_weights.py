"""Weights of nodes on the command line: from a file of their own, from the graph's, in a store."""

import json

import pytest


@pytest.fixture
def star(tmp_path, monkeypatch):
    """A star whose middle is heavier than its leaves, in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "star.edges").write_text("a b\na c\na d\n")
    (tmp_path / "weights.txt").write_text("a 5\nb 1\nc 1\nd 1.5\n")
    (tmp_path / "star.graph").write_text("4 3 10\n5 2 3 4\n1 1\n1 1\n2 1\n")
    return tmp_path


def solved(ogg, *arguments):
    code, out, err = ogg("solve", *arguments, "--policy", "degree-weight", "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


@pytest.mark.parametrize(("problem", "objective"), [("mwvc", 3.5), ("mwis", 5)])
def test_solve_and_verify_take_a_file_of_weights(ogg, star, problem, objective):
    options = ["--problem", problem, "--node-weights", "weights.txt"]
    record = solved(ogg, "star.edges", *options)
    assert (record["objective"], record["bound"], record["optimal"]) == (objective, objective, True)
    assert ogg("verify", "star.edges", record["solution"], "--node-weights", "weights.txt")[0] == 0
    code, _, err = ogg("verify", "star.edges", record["solution"])
    assert code == 3
    assert "key 'objective'" in err


def test_weights_of_a_file_are_stored_and_solved(ogg, star):
    assert solved(ogg, "star.graph", "--problem", "mwvc")["objective"] == 4
    code, out, _ = ogg("data", "convert", "star.graph", "star.h5", "--json")
    assert (code, json.loads(out)["node_weighted"]) == (0, True)
    assert solved(ogg, "star.h5", "--problem", "mwvc")["objective"] == 4
    options = ["--node-weights", "weights.txt"]
    assert ogg("data", "convert", "star.edges", "own.h5", *options)[0] == 0
    assert solved(ogg, "own.h5", "--problem", "mwvc")["objective"] == 3.5
    described = json.loads(ogg("data", "info", "own.h5", "--json")[1])
    assert described["node_weights"]["max"] == 5
    assert ogg("data", "check", "own.h5")[0] == 0


def test_weights_that_a_problem_does_not_use_are_a_warning(ogg, star):
    warning = "warning: star.graph: mvc does not use the weights of the nodes\n"
    code, _, err = ogg("solve", "star.graph", "--policy", "max-degree")
    assert (code, err) == (0, warning)
    assert ogg("verify", "star.graph", "star.mvc.json")[2] == warning


def test_only_weighted_problems_complain_of_weights_that_cannot_be_read(ogg, star):
    (star / "star.graph").write_text("4 3 10\n5 2 3 4\n0 1\n1 1\n2 1\n")
    fault = "node 2 has weight 0; expected a positive finite number"
    code, _, err = ogg("solve", "star.graph", "--policy", "max-degree")
    assert (code, err) == (0, f"warning: star.graph: weights of nodes are not read: {fault}\n")
    for problem in ("mwvc", "mwis"):
        for command in ("solve", "evaluate"):
            code, _, err = ogg(command, "star.graph", "--problem", problem)
            assert code == 2
            assert err.startswith(f"ogg-hpc: star.graph:3: {fault}; {problem} takes")
            assert "--node-weights" in err
    (star / "weights.txt").write_text("1 5\n2 1\n3 1\n4 1.5\n")
    for problem, objective in [("mwvc", 3.5), ("mwis", 5)]:
        options = ["--problem", problem, "--node-weights", "weights.txt", "--json"]
        code, out, _ = ogg("solve", "star.graph", *options)
        assert (code, json.loads(out)["objective"]) == (0, objective)


def test_evaluate_compares_by_weight(ogg, star):
    arguments = ["star.edges", "--problem", "mwvc", "--policy", "degree-weight"]
    options = ["--node-weights", "weights.txt", "--against", "greedy", "--json"]
    code, out, _ = ogg("evaluate", *arguments, *options)
    rows = {row["method"]: row for row in json.loads(out)["rows"]}
    assert code == 0
    assert rows["local-ratio"]["objective"] == 3.5
    assert rows["degree-weight"]["best_from"] == "optimum"


def test_weights_that_do_not_fit_are_explained(ogg, star):
    (star / "weights.txt").write_text("a 5\nb 0\n")
    code, _, err = ogg("solve", "star.edges", "--node-weights", "weights.txt")
    assert code == 2
    assert err.startswith("ogg-hpc: weights.txt")
