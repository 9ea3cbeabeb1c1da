import gzip
import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from ogg_hpc.graphs.generators import barabasi_albert, erdos_renyi
from ogg_hpc.graphs.shards import write_shards, write_store


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def path_graph(here):
    """The path a - b - c - d, with a loop at d and a repeated edge."""
    (here / "path.edges").write_text("a b\nb c\nc d\nd d\nc b\n")
    return "path.edges"


@pytest.fixture
def store(here):
    graphs = [erdos_renyi(12, 0.3, seed=1), barabasi_albert(15, 2, seed=2)]
    write_store(here / "two.h5", graphs)
    write_shards(here / "folder", graphs, graphs_per_shard=1)
    return graphs


@pytest.mark.parametrize("select", ["one", "adaptive"])
def test_json_is_one_object_and_its_file_verifies(ogg, one_object, path_graph, policy, select):
    code, out, err = ogg(
        "solve", path_graph, "--policy", policy, "--select", select, "--json", "--seed", 4
    )
    record = one_object(out)
    assert code == 0
    assert record["graph"] == {
        "path": path_graph, "nodes": 4, "edges": 3, "self_loops": 1, "duplicates": 1,
    }  # fmt: skip
    assert (record["problem"], record["select"], record["seed"]) == ("mvc", select, 4)
    assert record["objective"] == 2
    assert record["solution"] == "path.mvc.json"
    assert all(line.startswith("warning: path.edges: ") for line in err.splitlines())
    code, out, _ = ogg("verify", path_graph, record["solution"])
    assert (code, out) == (0, "path.mvc.json: feasible mvc solution with objective 2\n")
    assert "d" in json.loads(Path(record["solution"]).read_text())["nodes"]


def test_record_says_where_it_ran_and_where_the_time_went(run_ranks, one_object, path_graph):
    done = run_ranks(2, ["-m", "ogg_hpc", "solve", path_graph, "--json"])
    record = one_object(done.stdout)
    assert record["hosts"] == [{"host": socket.gethostname(), "ranks": 2}]
    asked = (
        "import json\nfrom ogg_hpc.runtime.environment import commit\nprint(json.dumps(commit()))"
    )
    done = run_ranks(1, ["-c", asked])  # the package that is installed, as the ranks' was
    assert record["commit"] == json.loads(done.stdout)
    assert list(record["phases"]) == list(record["seconds"])
    for phase, seconds in record["seconds"].items():  # of rank 0
        spread = record["phases"][phase]
        assert 0 <= spread["min"] <= seconds <= spread["max"]
        assert spread["median"] == pytest.approx((spread["min"] + spread["max"]) / 2)


def test_tampered_solution_exits_with_three(ogg, here, path_graph):
    assert ogg("solve", path_graph, "--policy", "max-degree", "--output", "cover.json")[0] == 0
    text = (here / "cover.json").read_text()
    solution = json.loads(text)
    for nodes, message in ((solution["nodes"][:-1], "not "), (["a", "c", "d"], "objective")):
        (here / "cover.json").write_text(json.dumps(solution | {"nodes": nodes}))
        code, out, err = ogg("verify", path_graph, "cover.json")
        assert (code, out) == (3, "")
        assert message in err
        assert len([line for line in err.splitlines() if line.startswith("ogg-hpc: ")]) == 1


def test_table_says_what_was_found(ogg, path_graph):
    code, out, _ = ogg("solve", path_graph, "--policy", "max-degree")
    assert code == 0
    for text in ("path.edges: 4 nodes, 3 edges", "2 (verified)", "2 (optimal)", "max-degree"):
        assert text in out


@pytest.mark.parametrize("name", ["two.h5", "folder"])
def test_store_is_solved_graph_by_graph(ogg, here, store, policy, name):
    code, out, _ = ogg("solve", name, "--policy", policy, "--json", "--output", "out/cover.json")
    records = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [record["graph"]["path"] for record in records] == [f"{name}:0", f"{name}:1"]
    assert [record["graph"]["nodes"] for record in records] == [graph.n for graph in store]
    assert [record["solution"] for record in records] == ["out/cover.0.json", "out/cover.1.json"]
    for index in range(2):
        assert ogg("verify", f"{name}:{index}", here / "out" / f"cover.{index}.json")[0] == 0
    code, out, _ = ogg("solve", f"{name}:1", "--policy", policy, "--json", "--output", "b.json")
    alone = json.loads(out)
    assert (code, alone["objective"]) == (0, records[1]["objective"])
    assert alone["graph"]["nodes"] == 15


@pytest.mark.parametrize("graph", ["two.h5", "path.edges"])
@pytest.mark.parametrize("output", [".", "..", "/", "a" * 260])
def test_an_output_that_is_no_file_is_one_message(ogg, path_graph, store, graph, output):
    code, out, err = ogg("solve", graph, "--policy", "min-degree", "--output", output)
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    assert line.startswith(f"ogg-hpc: {output}: cannot be written: ")


def test_the_graph_is_not_written_over(ogg, path_graph):
    content = Path(path_graph).read_text()
    code, out, err = ogg("solve", path_graph, "--policy", "min-degree", "--output", path_graph)
    assert (code, out) == (2, "")
    assert err == f"ogg-hpc: {path_graph} is the graph itself; choose another --output\n"
    assert Path(path_graph).read_text() == content


def test_solutions_are_named_after_their_graphs(ogg, here, store):
    assert ogg("solve", "two.h5", "--policy", "min-degree")[0] == 0
    assert ogg("solve", "folder:1", "--policy", "min-degree")[0] == 0
    for name in ("v1.2.edges", "v1.3.edges"):
        (here / name).write_text("0 1\n")
        assert ogg("solve", name, "--policy", "min-degree")[0] == 0
    (here / "small.edges.gz").write_bytes(gzip.compress(b"0 1\n"))
    assert ogg("solve", "small.edges.gz", "--policy", "min-degree")[0] == 0
    names = sorted(path.name.removesuffix(".mvc.json") for path in here.glob("*.json"))
    assert names == ["folder.1", "small", "two.0", "two.1", "v1.2", "v1.3"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--policy", "none.npz"], "none.npz: no such policy; use max-degree"),
        (["--policy", "max-degree", "--problem", "tsp"], "unknown problem 'tsp'"),
        (["--policy", "max-degree", "--engine", "warp"], "engine 'warp' is unknown"),
        (["--policy", "max-degree", "--select", "none.toml"], "none.toml: cannot read"),
        (["--policy", "max-degree", "--format", "pdf"], "pdf"),
    ],
)
def test_user_error_is_one_message_and_exit_code_two(ogg, path_graph, options, message):
    code, out, err = ogg("solve", path_graph, *options)
    assert (code, out) == (2, "")
    assert err.startswith("ogg-hpc: ")
    assert err.count("\n") == 1
    assert message in err


def test_directed_graph_needs_a_word(ogg, here):
    header = "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n"
    (here / "arcs.mtx").write_text(header)
    code, _, err = ogg("solve", "arcs.mtx", "--policy", "max-degree")
    assert code == 2
    assert "--undirected" in err
    assert ogg("solve", "arcs.mtx", "--policy", "max-degree", "--undirected")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["solve", "none.mtx", "--policy", "max-degree"], "none.mtx: no such file"),
        (["solve", "none.mtx", "--polcy", "x"], "error: unrecognized arguments: --polcy x"),
        (["train", "bad.toml"], "bad.toml:1: unknown key sed; did you mean seed?"),
        (["verify", "none.mtx", "none.json"], "none.mtx: no such file"),
    ],
)
def test_user_error_on_two_ranks_is_one_message(run_ranks, here, arguments, message):
    (here / "bad.toml").write_text("sed = 3\n")
    done = run_ranks(2, ["-m", "ogg_hpc", *arguments])
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.count(message) == 1
    assert "Traceback" not in done.stderr


def test_cover_is_the_same_on_every_number_of_ranks(run_ranks, here, policy):
    graph = erdos_renyi(120, 0.08, seed=7)
    u, v, _ = graph.edges()
    text = "".join(f"{a + 1} {b + 1}\n" for a, b in zip(u.tolist(), v.tolist(), strict=True))
    (here / "er.edges").write_text(text)
    covers = []
    for ranks in (1, 2, 3):
        output = here / f"cover{ranks}.json"
        done = run_ranks(
            ranks,
            [
                "-m",
                "ogg_hpc",
                "solve",
                "er.edges",
                "--policy",
                policy,
                "--output",
                output,
                "--json",
            ],
        )
        assert done.returncode == 0, done.stderr
        record = json.loads(done.stdout)
        assert record["ranks"] == ranks
        covers.append(json.loads(output.read_text())["nodes"])
    assert covers[1] == covers[0]
    assert covers[2] == covers[0]


def test_real_graph(shared_data, ogg, one_object, here):
    graph = shared_data / "mvc" / "karate.graph"
    code, out, _ = ogg("solve", graph, "--policy", "min-degree", "--json")
    record = one_object(out)
    assert (code, record["objective"], record["bound"]) == (0, 14, 14)


def test_signal_ends_the_polish_with_a_verified_answer(ogg, one_object, here):
    write_store(here / "hard.h5", [erdos_renyi(200, 0.15, seed) for seed in (1, 2)])
    script = """
import os, signal, sys, threading
from ogg_hpc.cli import main
from ogg_hpc.search import solve

polish = solve.polish

def polish_and_signal(*arguments):
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGUSR1)).start()
    return polish(*arguments)

solve.polish = polish_and_signal
sys.argv = ["ogg-hpc", "solve", "hard.h5", "--polish", "600", "--json"]
main.main()
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, cwd=here
    )
    assert done.returncode == 0, done.stderr
    record = one_object(done.stdout)  # and the second graph is not begun
    assert done.stderr == (
        "warning: hard.h5:0: a signal came: reductions, samples, polish and the bound may have "
        "ended early\n"
        "warning: hard.h5: not solved: 1 of 2 graphs\n"
    )
    assert record["stopped"] == "signal"
    assert record["seconds"]["polish"] < 60
    assert ogg("verify", "hard.h5:0", record["solution"])[0] == 0


@pytest.mark.parametrize(
    ("module", "name", "rank", "chosen"),
    [
        ("solve", "_as_graph", 0, True),
        ("solve", "find_kernel", 0, True),
        ("solve", "rollout", 1, True),
        ("proposals", "_propose", 1, True),
        ("solve", "polish", 1, False),
        ("solve", "write_solution", 0, False),
    ],
)
def test_signal_to_one_rank_in_any_phase_gives_a_verified_answer(
    run_ranks, ogg, one_object, here, module, name, rank, chosen
):
    write_store(here / "hard.h5", [erdos_renyi(200, 0.15, 1)])
    polish = 0.1 if name == "write_solution" else 600
    script = f"""
import os, signal, sys
from mpi4py import MPI
from ogg_hpc.cli import main
from ogg_hpc.search import {module} as module

before, calls = module.{name}, 0

def signalled(*arguments, **options):
    global calls
    calls += 1
    if calls == (5 if "{name}" == "_propose" else 1) and MPI.COMM_WORLD.Get_rank() == {rank}:
        os.kill(os.getpid(), signal.SIGTERM)
    return before(*arguments, **options)

module.{name} = signalled
sys.argv = ["ogg-hpc", "solve", "hard.h5:0", "--select", "one", "--polish", "{polish}", "--json"]
main.main()
"""
    done = run_ranks(2, ["-c", script], limit=120)
    assert done.returncode == 0, done.stderr
    record = one_object(done.stdout)
    assert record["stopped"] == "signal"
    assert ("had chosen" in done.stderr) == chosen
    assert ogg("verify", "hard.h5:0", record["solution"])[0] == 0
