import json
import signal

import pytest

from ogg_hpc.cli import evaluate
from ogg_hpc.graphs.generators import erdos_renyi
from ogg_hpc.graphs.shards import Objective, SolvedGraph, write_store
from ogg_hpc.search.evaluation_tables import rows_from_csv

GRAPHS = ["er:n=14,p=0.3,count=2,seed=5", "ba:n=12,d=2"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "star.edges").write_text("0 1\n0 2\n0 3\n")
    return tmp_path


def test_table_holds_every_family_and_method(ogg, here, policy):
    code, out, err = ogg("evaluate", *GRAPHS, "star.edges", "--policy", policy, "--against=greedy")
    assert (code, err) == (0, "")
    for text in (f"{GRAPHS[0]}: 2 graphs", "ba:n=12,d=2: 1 graph\n", ".: 1 graph\n", "1.0000"):
        assert text in "\n".join(line.rstrip() for line in out.splitlines())
    assert out.count("inverse-degree:1.25 ") == 3
    assert "ratio to the proven optimum (" in out


def test_json_is_one_object_with_rows_and_summary(ogg, here, one_object):
    policies = ["--policy", "max-degree", "--policy", "min-degree"]
    code, out, _ = ogg("evaluate", *GRAPHS, *policies, "--json")
    record = one_object(out)
    assert (code, record["problem"], record["ranks"]) == (0, "mvc", 1)
    assert len(record["rows"]) == 6
    assert [row["method"] for row in record["rows"][:2]] == ["max-degree", "min-degree"]
    assert [each["graphs"] for each in record["summary"]] == [2, 2, 1, 1]


def test_policies_and_selections_are_combined(ogg, here, one_object):
    options = ["--policy=mvc", "--policy=two-message", "--select=one", "--select=adaptive"]
    _, out, _ = ogg("evaluate", "star.edges", *options, "--json")
    methods = [row["method"] for row in one_object(out)["rows"]]
    assert methods == ["mvc, one", "mvc, adaptive", "two-message, one", "two-message, adaptive"]


def test_shipped_policy_is_the_default(ogg, here, one_object):
    _, out, _ = ogg("evaluate", "star.edges", "--json")
    assert [row["method"] for row in one_object(out)["rows"]] == ["mvc"]


def test_files_hold_what_is_printed(ogg, here, one_object):
    pytest.importorskip("matplotlib")
    files = ["--csv", "out/rows.csv", "--markdown", "out/table.md", "--plot", "out/plot.png"]
    _, out, _ = ogg("evaluate", *GRAPHS, "--policy=max-degree", "--json", *files)
    rows = rows_from_csv((here / "out" / "rows.csv").read_text())
    assert [vars(row) for row in rows] == one_object(out)["rows"]
    assert (here / "out" / "table.md").read_text().startswith("| graphs | max-degree |\n")
    assert (here / "out" / "plot.png").stat().st_size > 1000


def test_best_known_values_come_from_a_file(ogg, here, one_object):
    (here / "best.csv").write_text("graph,vertex_cover\nstar,0.5\n")
    options = ["--policy=max-degree", "--against", "best.csv", "--json"]
    (row,) = one_object(ogg("evaluate", "star.edges", *options)[1])["rows"]
    # Nothing beats a proven optimum.
    assert (row["ratio"], row["best"], row["best_from"]) == (1, 1, "optimum")
    (here / "triangle.edges").write_text("a b\nb c\nc a\nc d\nd e\ne c\n")
    (here / "best.csv").write_text("graph,vertex_cover\ntriangle.edges,2\n")
    (row,) = one_object(ogg("evaluate", "triangle.edges", *options)[1])["rows"]
    assert (row["objective"], row["best"], row["best_from"]) == (3, 3, "optimum")


def test_best_known_values_come_from_a_store(ogg, here, one_object):
    graph, options = erdos_renyi(60, 0.2, 1), ["--problem=mwvc", "--policy=local-ratio", "--json"]
    write_store("plain.h5", [graph])
    (plain,) = one_object(ogg("evaluate", "plain.h5", *options)[1])["rows"]
    best = plain["objective"] - 1
    assert plain["bound"] < best
    write_store("solved.h5", [SolvedGraph(graph, {"mwvc": Objective(best, True)})])
    (row,) = one_object(ogg("evaluate", "solved.h5", *options)[1])["rows"]
    assert (row["best"], row["best_from"], row["bound"]) == (best, "optimum", best)
    # It is of the weights that the store holds.
    (here / "weights.txt").write_text("2\n" * 60)
    options += ["--node-weights", "weights.txt"]
    (row,) = one_object(ogg("evaluate", "solved.h5", *options)[1])["rows"]
    assert row["best_from"] == "found"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.mtx"], "none.mtx: no such file"),
        (["star.edges", "none/"], "none/: no such file"),
        (["tree:n=4"], "tree:n=4: family 'tree' is unknown"),
        (["er:n=4"], "er:n=4: er needs p too"),
        (["er:n=4,p=2"], "probability"),
        (["star.edges", "--policy", "none.npz"], "none.npz: no such policy"),
        (["star.edges", "--problem", "tsp"], "unknown problem 'tsp'"),
        (["star.edges", "--against", "magic"], "--against magic: unknown; use greedy, exact"),
        (["star.edges", "--against", "none.csv"], "none.csv: no such file"),
        (["star.edges", "--against", "exact", "--limit", "0"], "time limit has to be positive"),
        (["star.edges", "--csv", "."], "cannot be written"),
    ],
)
def test_user_error_is_one_message_and_exit_code_two(ogg, here, arguments, message):
    code, out, err = ogg("evaluate", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("ogg-hpc: ")
    assert err.count("\n") == 1
    assert message in err


def test_output_is_the_same_on_every_number_of_ranks(run_ranks, here):
    command = ["-m", "ogg_hpc", "evaluate", *GRAPHS, "--against", "greedy", "--json"]
    rows = []
    for ranks in (1, 2):
        done = run_ranks(ranks, command)
        assert done.returncode == 0, done.stderr
        record = json.loads(done.stdout)
        assert record["ranks"] == ranks
        rows.append([row | {"seconds": 0} for row in record["rows"]])
    assert rows[0] == rows[1]


def test_user_error_on_two_ranks_is_one_message(run_ranks, here):
    (here / "bad.mtx").write_text("%%MatrixMarket what\n")
    done = run_ranks(2, ["-m", "ogg_hpc", "evaluate", "star.edges", "bad.mtx"])
    assert done.returncode == 2, done.stderr
    assert (done.stdout, done.stderr.count("bad.mtx")) == ("", 1)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("signal", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGUSR1", 138)])
@pytest.mark.parametrize(("ranks", "left"), [(1, [0]), (2, [0, 1, 2])])
def test_signal_leaves_the_graphs_that_are_done(run_ranks, here, signal, code, ranks, left):
    """It comes to the last rank alone, in the first method of its second graph."""
    script = f"""
import os, signal, sys
from ogg_hpc.cli import main
from ogg_hpc.runtime.launch import promised_rank
from ogg_hpc.search.methods import Search

solve, calls = Search.__call__, 0

def solve_and_signal(*arguments):
    global calls
    calls += 1
    if promised_rank() == {ranks - 1} and calls == 5:  # after two on a small graph, to warm up
        os.kill(os.getpid(), signal.{signal})
    return solve(*arguments)

Search.__call__ = solve_and_signal
main.main(sys.argv[1:])
"""
    family = "er:n=14,p=0.3,count=4,seed=5"
    methods = ["max-degree", "min-degree"]
    options = [f"--policy={method}" for method in methods]
    done = run_ranks(ranks, ["-c", script, "evaluate", family, *options, "--csv", "rows.csv"])
    assert done.returncode == code, done.stderr
    assert f"warning: {signal} came: {4 - len(left)} of 4 graphs left out" in done.stderr
    rows = rows_from_csv((here / "rows.csv").read_text())
    graphs = [f"{family}:{i}" for i in range(4)]
    assert [(row.graph, row.method) for row in rows] == [
        (graphs[i], method) for i in left for method in methods
    ]


def test_signal_before_the_first_graph_leaves_nothing(ogg, here, monkeypatch):
    start_ranks = evaluate.start_ranks

    def signalled(args):
        signal.raise_signal(signal.SIGTERM)
        return start_ranks(args)

    monkeypatch.setattr(evaluate, "start_ranks", signalled)
    code, out, err = ogg("evaluate", "star.edges", "--policy=max-degree", "--csv", "rows.csv")
    assert (code, out) == (143, "")
    assert err == "warning: SIGTERM came: 1 of 1 graph left out\n"
    assert not (here / "rows.csv").exists()
