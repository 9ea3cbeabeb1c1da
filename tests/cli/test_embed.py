import json
import os
import re
import signal
from dataclasses import fields

import pytest

from ogg_hpc.embedding import trainer
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.embedding.store import read_embedding
from ogg_hpc.graphs.generators import erdos_renyi
from ogg_hpc.graphs.shards import write_store
from ogg_hpc.runtime.signals import SIGNALS

SMALL = ("--dim", 8, "--walks", 2, "--walk-length", 8, "--window", 3, "--epochs", 2)


@pytest.fixture
def graph(tmp_path, monkeypatch):
    """A ring of 20 nodes, in the present folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ring.edges").write_text("".join(f"{i} {(i + 1) % 20}\n" for i in range(20)))
    return "ring.edges"


def test_json_is_one_object(ogg, one_object, graph):
    code, out, err = ogg("embed", graph, *SMALL, "--output", "emb.h5", "--json")
    record = one_object(out)
    assert (code, err) == (0, "")
    assert record["output"] == "emb.h5"
    assert record["graph"]["edges"] == 20
    assert record["settings"]["walk_length"] == 8
    assert len(record["losses"]) == 2


def test_people_are_told_loss_speed_and_time(ogg, graph):
    code, out, err = ogg("embed", graph, *SMALL, "--method", "line", "--samples", 200)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "ring.emb.h5: 20 nodes, vectors of 8"
    for line, name in zip(lines[1:5], ("first", "first", "second", "second"), strict=True):
        assert re.match(rf"{name} order, epoch \d: loss \d\.\d{{4}}, 200 pairs$", line)
    assert "pairs/s on 1 rank" in lines[5]
    assert re.search(r"^ *total +\d+\.\d\d +100 % *$", out, re.MULTILINE)
    assert read_embedding("ring.emb.h5").vectors.shape == (20, 8)


def test_every_setting_has_an_option_and_says_its_default(ogg):
    _, out, _ = ogg("embed", "--help")
    said = " ".join(out.split())
    for entry in fields(EmbedSettings):
        assert f" --{entry.name.replace('_', '-')}" in said
    assert "numbers in a vector (default: 128)" in said
    assert "ignore the weights of edges (default: no)" in said


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (("--dimensions", 4, "--num-walks", 3, "--window-size", 2, "--iter", 1), (4, 3, 2, 1)),
        (("--representation-size", 6, "--number-walks", 1, "--weighted"), (6, 1, 10, 1)),
    ],
)
def test_names_of_node2vec_and_deepwalk_are_understood(ogg, one_object, graph, options, found):
    code, out, _ = ogg("embed", graph, *options, "--walk-length", 5, "--json")
    settings = one_object(out)["settings"]
    assert code == 0
    assert tuple(settings[name] for name in ("dim", "walks", "window", "epochs")) == found


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--dim", 0), "--dim must be at least 1; it is 0"),
        (("--negative", -1), "--negative must be at least 1; it is -1"),
        (("--p", 0), "--p must be positive and finite; it is 0.0"),
        (("--learning-rate", "nan"), "--learning-rate must be positive and finite; it is nan"),
        (("--seed", -1), "--seed must not be negative; it is -1"),
        (("--stop-rate", 2), "--stop-rate must be above 0 and at most 1; it is 2.0"),
        (("--strategy", "ring"), "--strategy is partitioned or simple or dot or rotate, not"),
        (("--method", "word2vec"), "--method is deepwalk or node2vec or line or app or FILE.py"),
        (("--method", "line", "--dim", 7), "--dim is shared by both orders of line: 7 is odd"),
        (("--directed", "--undirected"), "a graph is read as directed or as undirected, not both"),
        (("--option", "rate"), "--option 'rate': expected KEY=VALUE"),
        (("--max-requeues", -1), "--max-requeues must not be negative"),
        (("--output", "emb.pkl"), "emb.pkl: the suffix says the format"),
        (("--method", "none.py:Mine"), "none.py:Mine: no such file"),
        (("--servers", 2), "servers = 2 leaves none of 1 ranks to sample and compute"),
    ],
)
def test_what_cannot_be_is_one_message(ogg, graph, options, message):
    code, out, err = ogg("embed", graph, *SMALL, *options)
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    assert line.startswith(f"ogg-hpc: {message}")


@pytest.mark.parametrize(
    ("batch", "message"),
    [(50, "the loss is no longer finite in batch"), (10**6, "vectors are no longer finite")],
)
def test_numbers_that_are_no_longer_finite_are_not_written(ogg, graph, tmp_path, batch, message):
    wild = ("--learning-rate", 1e38, "--row-limit", 1e38, "--shared-negatives", 5)
    code, out, err = ogg(
        "embed", graph, *SMALL, *wild, "--batch-pairs", batch, "--output", "emb.h5"
    )
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    assert line.startswith(f"ogg-hpc: {message}")
    assert "smaller --learning-rate" in line
    assert not (tmp_path / "emb.h5").exists()


@pytest.mark.parametrize("options", [(), ("--resume",)])
def test_the_graph_is_not_written_over(ogg, tmp_path, options):
    path = tmp_path / "ring.txt"
    path.write_text("1 2\n2 3\n3 1\n")
    code, out, err = ogg("embed", path, *SMALL, "--output", path, *options)
    assert (code, out) == (2, "")
    assert err == f"ogg-hpc: {path} is the graph itself; choose another --output\n"
    assert path.read_text() == "1 2\n2 3\n3 1\n"


def test_each_graph_of_a_store_has_an_output_of_its_own(ogg, graph):
    write_store("two.h5", [erdos_renyi(12, 0.5, seed) for seed in range(2)])
    for index in range(2):
        assert ogg("embed", f"two.h5:{index}", *SMALL)[0] == 0
        found = read_embedding(f"two.{index}.emb.h5")
        assert found.provenance["graph"]["path"] == f"two.h5:{index}"


def test_a_graph_that_is_missing_is_named(ogg, graph):
    code, _, err = ogg("embed", "none.edges", *SMALL)
    assert (code, len(err.splitlines())) == (2, 1)
    assert err.startswith("ogg-hpc: none.edges: ")


def signal_within_window(monkeypatch, number):
    train, calls = trainer.Trainer.train, iter(range(100))

    def signalled(self, *arguments):
        if next(calls) == 0:
            os.kill(os.getpid(), number)
        return train(self, *arguments)

    monkeypatch.setattr(trainer.Trainer, "train", signalled)


@pytest.mark.parametrize("number", SIGNALS)
def test_signal_leaves_a_checkpoint_a_marker_and_exit_code_75(
    ogg, one_object, graph, tmp_path, monkeypatch, number
):
    command = ("embed", graph, *SMALL, "--output", "emb.h5", "--resume", "--json")
    with monkeypatch.context() as patch:
        signal_within_window(patch, number)
        code, out, err = ogg(*command)
    name = signal.Signals(number).name
    run = tmp_path / "emb.h5.run"
    marker = json.loads((run / "UNFINISHED").read_text())
    assert (code, out) == (75, "")
    assert err == (
        f"ogg-hpc: stopped by {name} at step {marker['step']} of {marker['steps']}: resume with "
        "ogg-hpc embed ring.edges --output emb.h5 --resume\n"
    )
    assert not (tmp_path / "emb.h5").exists()
    code, out, err = ogg("embed", graph, "--output", "emb.h5", "--resume", "--json")
    assert (code, err) == (0, f"resumed at step {marker['step']} of {marker['steps']}\n")
    assert one_object(out)["settings"]["dim"] == 8  # that of the run, not the default
    assert not (run / "UNFINISHED").exists()
    code, out, err = ogg(*command)
    assert (code, err) == (0, "emb.h5 is finished: nothing to do\n")


def test_a_run_that_fails_leaves_no_marker(ogg, graph, tmp_path):
    run = tmp_path / "emb.h5.run"
    run.mkdir()
    (run / "UNFINISHED").touch()  # of an earlier part
    assert ogg("embed", "none.edges", "--output", "emb.h5", "--resume")[0] == 2
    assert not (run / "UNFINISHED").exists()
