import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from ogg_hpc.cli import data
from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.graphs.generators import erdos_renyi
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.shards import (
    GraphStore,
    Objective,
    SolvedGraph,
    check_store,
    read_store_graph,
    write_store,
)
from ogg_hpc.runtime.launch import promised_size
from ogg_hpc.runtime.random import hash64, stream


def ogg(*arguments: str | int | Path) -> int:
    parser = argparse.ArgumentParser()
    data.add_parser(parser.add_subparsers(dest="command"))
    args = parser.parse_args(["data", *map(str, arguments)])
    with ExitStack() as args.at_end:
        code: int = args.run(args)
    return code


def printed(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("er", ["--p", "0.1"]),
        ("ba", ["--d", "3"]),
        ("ws", ["--d", "4", "--p", "0.2"]),
        ("plc", ["--d", "3", "--p", "0.5"]),
        ("regular", ["--d", "4"]),
        ("girg", ["--d", "4"]),
        ("rb", ["--d", "6", "--p", "0.25"]),
        ("geometric", ["--d", "6.5"]),
    ],
)
def test_generate_writes_a_file_or_a_folder(tmp_path: Path, kind: str, options: list[str]) -> None:
    common = ["generate", kind, "--nodes", "60", *options, "--count", "5", "--seed", "3"]
    assert ogg(*common, "--output", tmp_path / "all.h5") == 0
    assert ogg(*common, "--output", tmp_path / "set", "--graphs-per-shard", "2") == 0
    assert len(list((tmp_path / "set").glob("*.h5"))) == 3
    with GraphStore(tmp_path / "all.h5") as file, GraphStore(tmp_path / "set") as folder:
        assert len(file) == len(folder) == 5
        assert file.attributes["generator"] == kind
        assert file.attributes["seed"] == 3
        columns = [file.read(i).columns for i in range(5)]
        assert not np.array_equal(columns[0], columns[1])
        for i in range(5):
            assert np.array_equal(folder.read(i).columns, columns[i])


def test_graph_i_is_seeded_by_the_hash_of_seed_and_i(tmp_path: Path) -> None:
    ogg("generate", "er", "--nodes", "40", "--p", "0.2", "--count", "3", "--seed", "9",
        "--output", tmp_path / "g.h5")  # fmt: skip
    expected = erdos_renyi(40, 0.2, int(hash64(9, stream("graph"), 2)))
    assert np.array_equal(read_store_graph(tmp_path / "g.h5", 2).columns, expected.columns)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["er"], "needs --p"),
        (["ba", "--d", "3", "--p", "0.1"], "does not take --p"),
        (["er", "--p", "2"], "probability"),
        (["ba", "--d", "60"], "1 <= d < n"),
        (["ba", "--d", "2.5"], "whole number as --d"),
        (["ws", "--p", "0.1", "--d", "4.0"], "whole number as --d, not 4.0"),
        (["regular", "--d", "nan"], "whole number as --d, not nan"),
        (["rmat", "--d", "inf"], "whole number as --d, not inf"),
        (["ba", "--d", "2", "--a", "0.5"], "does not take --a"),
        (["rmat", "--d", "4"], "power of two, such as 32 or 64, not 50"),
        (["er", "--p", "0.1", "--lightest", "5"], "lightest >= 1 to heaviest, not 5 to 0"),
        (["ba", "--d", "4", "--memory", "100"], "raise --memory"),
        (["er", "--p", "0.1", "--count", "0"], "--count"),
        (["er", "--p", "0.1", "--seed", str(2**70)], "64 bits"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    tmp_path: Path, options: list[str], message: str
) -> None:
    with pytest.raises(SettingsError, match=message):
        ogg("generate", *options, "--nodes", "50", "--output", tmp_path / "g.h5")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("output", ["g.h5", "many.h5", "set"])
def test_generating_on_several_ranks_gives_one_record_and_the_same_bytes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], run_ranks: Callable[..., Any], output: str
) -> None:
    count = 1 if output == "g.h5" else 3
    words = ["generate", "geometric", "--nodes", "200", "--d", "4.5", "--count", count, "--json"]
    assert ogg(*words, "--output", tmp_path / output, "--graphs-per-shard", 1) == 0
    alone = printed(capsys)
    together = ["--output", tmp_path / "ranks" / output, "--graphs-per-shard", 1]
    done = run_ranks(2, ["-m", "ogg_hpc", "data", *words, *together])
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert (alone["ranks"], record["ranks"]) == (1, 2)
    assert alone["generator_d"] == record["generator_d"] == 4.5
    assert alone["edges"] == record["edges"] > 300 * count
    assert set(record["seconds"]) == {"generate", "write", "total"}
    assert record["peak_memory_bytes"] > 0
    for file in [tmp_path / output] if output != "set" else (tmp_path / output).iterdir():
        assert file.read_bytes() == (tmp_path / "ranks" / file.relative_to(tmp_path)).read_bytes()


def test_a_mistake_on_several_ranks_is_one_message(
    tmp_path: Path, run_ranks: Callable[..., Any]
) -> None:
    words = ["generate", "rmat", "--nodes", "50", "--d", "4", "--output", tmp_path / "g.h5"]
    done = run_ranks(2, ["-m", "ogg_hpc", "data", *words])
    assert done.returncode == 2
    assert done.stderr.count("power of two") == 1
    assert "Traceback" not in done.stderr


def test_an_output_that_cannot_be_written_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("1 2\n")
    below_a_file = tmp_path / "file" / "g.h5"
    for arguments in (
        ("generate", "er", "--nodes", "5", "--p", "0.1", "--output", below_a_file),
        ("convert", tmp_path / "file", below_a_file),
        ("fetch", "G14", "--url", "http://127.0.0.1:9/", "--output", below_a_file),
    ):
        with pytest.raises(InputError, match="cannot be written"):
            ogg(*arguments)


def test_brackets_in_a_name_are_no_markup_on_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.chdir(tmp_path)
    assert ogg("generate", "er", "--nodes", "5", "--p", "0.1", "--output", "[red]g.h5") == 0
    assert "[red]g.h5" in capsys.readouterr().out


def test_convert_keeps_labels_weights_and_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "edges.txt"
    source.write_text("a b 2\nb c 3\nc b 3\nc c 1\n")
    assert ogg("convert", source, tmp_path / "g.h5", "--json") == 0
    record = printed(capsys)
    assert (record["nodes"], record["edges"]) == (3, 2)
    assert (record["self_loops"], record["duplicates"], record["weighted"]) == (1, 1, True)
    assert (record["reversed_pairs"], record["isolated"], record["ranks"]) == (1, 0, 1)
    assert set(record["seconds"]) == {"read", "number", "sort", "total"}
    assert record["peak_memory_bytes"] > 10**7
    graph = read_store_graph(tmp_path / "g.h5")
    assert graph.labels_of([0, 1, 2]) == ["a", "b", "c"]
    assert graph.weights is not None
    assert ogg("convert", source, tmp_path / "d.h5", "--directed") == 0
    assert read_store_graph(tmp_path / "d.h5").directed
    with pytest.raises(SettingsError, match=r"\.h5"):
        ogg("convert", source, tmp_path / "g.txt")


def test_ranks_convert_together_and_rank_0_speaks(
    tmp_path: Path, run_ranks: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    if promised_size() is not None:
        pytest.skip("starts ranks itself")
    source, output = tmp_path / "edges.txt", tmp_path / "g.h5"
    source.write_text("0 1\n1 2\n2 x\n")
    convert = ("-m", "ogg_hpc", "data", "convert", source, output)
    done = run_ranks(2, [*convert, "--memory", "1G", "--json"])
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert (record["nodes"], record["edges"], record["ranks"]) == (4, 3, 2)
    warning = "labels are text because of 'x' on line 3"
    assert done.stderr == f"warning: {source}: {warning}\n"
    source.write_text("0 1\n1 2\n2\n")
    done = run_ranks(2, [*convert, "--memory", "1G"])
    assert done.returncode == 2
    assert done.stderr.startswith(f"ogg-hpc: {source}:3: expected 'u v'")
    assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.glob(".*")] == []


def test_info_describes_files_stores_and_one_graph_of_a_store(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "edges.txt").write_text("0 1\n1 2\n")
    store = tmp_path / "g.h5"
    graphs = [Graph.from_edges(n, [0], [1]) for n in (2, 5)]
    write_store(
        store, [graphs[0], SolvedGraph(graphs[1], {"mvc": Objective(1, True)})], {"seed": 4}
    )
    assert ogg("info", tmp_path / "edges.txt", "--json") == 0
    record = printed(capsys)
    assert (record["nodes"], record["edges"], record["components"]) == (3, 2, 1)
    assert ogg("info", store, "--json") == 0
    record = printed(capsys)
    assert record["format"] == "ogg-hpc-graphs/2"
    assert record["graphs"] == 2
    assert record["nodes"] == {"min": 2, "mean": 3.5, "max": 5, "total": 7}
    assert record["edges"]["total"] == 2
    assert record["attributes"] == {"seed": 4}
    assert record["objectives"] == {"mvc": {"known": 1, "proven": 1}}
    assert ogg("info", f"{store}:1", "--json") == 0
    assert printed(capsys)["isolated"] == 3
    assert ogg("info", f"{store}:1") == 0
    assert "isolated: 3" in capsys.readouterr().out
    with pytest.raises(InputError):
        ogg("info", tmp_path / "absent.txt")


def test_info_reads_no_entries_of_a_large_graph_unless_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "g.h5"
    graph = Graph.from_edges(5, [0, 1, 0], [1, 2, 1], [1.5, 2.5, 1.5])
    write_store(path, [SolvedGraph(graph, {"mvc": Objective(1, True)})], {"seed": 4})
    monkeypatch.setattr(data.info, "_MOST_ENTRIES", 3)
    assert ogg("info", path, "--json", "--whole") == 0
    whole = printed(capsys)
    assert (whole["components"], whole["weights"]["max"]) == (3, 2.5)
    with h5py.File(path, "r+") as file:
        file["columns"][:] = -1
    assert ogg("info", path, "--json") == 0
    outline = printed(capsys)
    assert outline["note"].startswith("components and weights take reading all 4 entries")
    assert outline.pop("note")
    assert outline == {name: whole[name] for name in outline}
    assert outline["objectives"] == {"mvc": {"value": 1.0, "proven": True}}
    assert (outline["weighted"], outline["labels"], outline["isolated"]) == (True, "none", 2)


def test_check_finds_faults_and_says_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "g.h5"
    write_store(path, [Graph.from_edges(3, [0, 1], [1, 2])])
    assert ogg("check", path) == 0
    assert "sound" in capsys.readouterr().out
    with h5py.File(path, "r+") as file:
        file["columns"][0] = 2
    assert ogg("check", path) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "not symmetric" in captured.err
    assert ogg("check", path, "--json") == 2
    record = printed(capsys)
    assert not record["sound"]
    assert len(record["faults"]) == 1
    assert ogg("check", tmp_path / "absent.h5") == 2
    (tmp_path / "edges.txt").write_text("0 1\n")
    with pytest.raises(InputError, match="convert"):
        ogg("check", tmp_path / "edges.txt")


def test_check_shares_its_work_and_speaks_once(
    tmp_path: Path, run_ranks: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    path = tmp_path / "g.h5"
    write_store(path, [Graph.from_edges(3, [0, 1], [1, 2])])
    command = ("-m", "ogg_hpc", "data", "check", path)
    done = run_ranks(2, command)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{path}: sound\n", "")
    with h5py.File(path, "r+") as file:
        file["columns"][0] = 2
    done = run_ranks(2, command)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{path}: graph 0: it is not symmetric: (0, 2) has no reverse\n"
    done = run_ranks(2, (*command[:-1], tmp_path / "absent.h5"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{tmp_path / 'absent.h5'}: no such file\n"


def test_fetch_lists_the_catalogue(capsys: pytest.CaptureFixture[str]) -> None:
    assert ogg("fetch") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split("\t")[-3:] == ["licence", "page", "url"]
    [line] = [line for line in lines if line.startswith("G14\t")]
    page = "https://web.stanford.edu/~yyye/yyye/Gset/"
    assert line == f"G14\tGset\t800\t4694\tnot stated\t{page}\t{page}G14"
    assert ogg("fetch", "--json") == 0
    assert any(entry["name"] == "G14" for entry in printed(capsys))
    with pytest.raises(SettingsError, match="catalogue has no graph"):
        ogg("fetch", "nothing-like-it")


def test_a_real_graph_goes_through_convert_check_and_info(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "g.h5"
    assert ogg("convert", shared_data / "gset" / "G39.txt", output) == 0
    assert check_store(output) == []
    capsys.readouterr()
    assert ogg("info", output, "--json") == 0
    record = printed(capsys)
    assert (record["nodes"], record["edges"]) == (2000, 11778)
    assert (record["weights"]["min"], record["weights"]["max"]) == (-1, 1)


def test_importing_the_command_loads_nothing_heavy() -> None:
    program = (
        "import sys, ogg_hpc.cli.data\n"
        "print([m for m in ('numpy', 'scipy', 'h5py', 'numba', 'rich') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
