"""Runs that embed a graph: what they leave, and how they stop and go on, bit for bit."""

import json
import math
import os
import shutil
from contextlib import nullcontext, suppress
from dataclasses import replace
from signal import SIGTERM, SIGUSR1

import numpy as np
import pytest

from ogg_hpc.embedding import memory, trainer
from ogg_hpc.embedding.divergence import DivergedError
from ogg_hpc.embedding.record import network_model
from ogg_hpc.embedding.run import embed
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.embedding.shared_graph import SharedGraph
from ogg_hpc.embedding.store import read_embedding
from ogg_hpc.embedding.strategies.partitioned import Partitioned
from ogg_hpc.embedding.strategies.strategy import Strategy
from ogg_hpc.errors import InputError, OggError, SettingsError, StoppedError
from ogg_hpc.graphs.generators import erdos_renyi
from ogg_hpc.runtime.communicator import Communicator

SETTINGS = EmbedSettings(
    dim=8, walks=2, walk_length=10, window=3, epochs=3, batch_pairs=300, checkpoint_minutes=0,
    learning_rate=0.05,
)  # fmt: skip
NODES = 30


@pytest.fixture(autouse=True)
def small_windows(monkeypatch):
    """Let an epoch have several windows."""
    monkeypatch.setattr(Strategy, "window_pairs", 600)


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    """A connected graph with names."""
    path = tmp_path_factory.mktemp("graph") / "graph.edges"
    drawn = erdos_renyi(NODES, p=0.1, seed=1)
    edges = {(i, (i + 1) % NODES) for i in range(NODES)}
    edges |= set(zip(drawn.rows.tolist(), drawn.columns.tolist(), strict=True))
    edges = sorted({(min(edge), max(edge)) for edge in edges})
    path.write_text("".join(f"node{u} node{v}\n" for u, v in edges))
    return path


def go(graph, output, settings=SETTINGS, stop_at=None, resume=True, signal=SIGUSR1, **options):
    """Run, and be asked to stop at a question; return what is said then, None at the end."""
    calls = iter(range(1000))
    try:
        embed(
            Communicator(),
            str(graph),
            settings,
            output,
            resume=resume,
            stop=lambda: signal if stop_at is not None and next(calls) >= stop_at else None,
            **options,
        )
    except StoppedError as error:
        return str(error)
    return None


def folder(output):
    return output.with_name(f"{output.name}.run")


def checkpoints(output):
    return sorted((folder(output) / "checkpoints").glob("step-*"))


def outcome(output):
    """All that a run leaves but how long it took."""
    found = read_embedding(output)
    record = json.loads((folder(output) / "record.json").read_text())
    lines = (folder(output) / "metrics.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    return {
        "vectors": found.vectors.tolist(),
        "context": found.context.tolist(),
        "labels": found.labels.tolist(),
        "rows": [{k: v for k, v in row.items() if k != "pairs_per_second"} for row in rows],
        "record": {key: record[key] for key in ("pairs", "losses", "graph", "method")},
        "files": sorted(set(os.listdir(folder(output))) - {"log.txt"}),
    }


@pytest.fixture(scope="module")
def whole(graph, tmp_path_factory):
    """What an undisturbed run leaves."""
    output = tmp_path_factory.mktemp("whole") / "emb.h5"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Strategy, "window_pairs", 600)
        assert go(graph, output, resume=False) is None
    return outcome(output)


def test_output_has_labels_settings_and_where_it_comes_from(graph, tmp_path):
    output = tmp_path / "emb.h5"
    record = embed(Communicator(), str(graph), SETTINGS, output)
    found = read_embedding(output)
    assert found.vectors.shape == found.context.shape == (NODES, 8)
    assert sorted(found.labels) == sorted(f"node{i}" for i in range(NODES))
    assert found.settings["walk_length"] == 10
    assert found.provenance["graph"] == record["graph"]
    assert record["graph"]["nodes"] == NODES
    assert record["graph"]["isolated"] == 0
    assert record["output"] == str(output)
    assert set(record["phases"]) >= {"read", "setup", "sample", "compute", "checkpoint", "write"}
    assert record["pairs"] == sum(epoch["pairs"] for epoch in record["losses"])
    assert [epoch["epoch"] for epoch in record["losses"]] == [1, 2, 3]
    assert record["peak_memory_bytes"] > 0
    assert record["ranks"] == record["workers"] == record["servers"] == 1
    (model,) = record["models"]
    assert model["traffic"]["formula"]["counted_bytes"] == 0  # one rank has nobody to send to
    assert json.loads((folder(output) / "record.json").read_text()) == record


def test_loss_starts_at_what_zero_scores_have_and_falls(graph, tmp_path):
    record = embed(Communicator(), str(graph), SETTINGS, tmp_path / "emb.h5")
    first, *_, last = record["losses"]
    assert first["curve"][0] == pytest.approx((SETTINGS.negative + 1) * math.log(2), rel=0.01)
    assert last["loss"] < first["loss"]
    mean = np.mean(first["curve"])  # of parts with about as many pairs each
    assert first["loss"] == pytest.approx(mean, rel=0.05)


def test_vectors_of_neighbours_are_closer_than_others(tmp_path):
    """Two cliques with one edge between them."""
    path, half = tmp_path / "cliques.edges", 8
    edges = [(i + at, j + at) for at in (0, half) for i in range(half) for j in range(i)]
    path.write_text("".join(f"{u} {v}\n" for u, v in [*edges, (0, half)]))
    settings = replace(SETTINGS, walks=30, epochs=10, learning_rate=0.3, row_limit=1.0)
    embed(Communicator(), str(path), settings, tmp_path / "emb.h5")
    found = read_embedding(tmp_path / "emb.h5")
    rows = found.vectors / np.linalg.norm(found.vectors, axis=1, keepdims=True)
    rows = rows[np.argsort(found.labels)]
    cosines = rows @ rows.T
    same = np.kron(np.eye(2, dtype=bool), np.ones((half, half), bool))
    assert cosines[same].mean() > cosines[~same].mean() + 0.1


@pytest.mark.parametrize("question", [0, 1, 4, 7, 1000])
def test_stopped_run_tells_how_it_goes_on_and_then_does(graph, whole, tmp_path, question):
    output = tmp_path / "emb.h5"
    text = go(graph, output, stop_at=question)
    if question == 1000:
        assert text is None
    else:
        marker = json.loads((folder(output) / "UNFINISHED").read_text())
        step, steps = marker["step"], marker["steps"]
        assert marker == {"step": step, "steps": steps, "signal": "SIGUSR1", "requeues": 0}
        assert text == (
            f"stopped by SIGUSR1 at step {step} of {steps}: resume with "
            f"ogg-hpc embed {graph} --output {output} --resume"
        )
        assert checkpoints(output)[-1].name == f"step-{step:08}"
        assert not output.exists()
        (folder(output) / "UNFINISHED").unlink()
        assert go(graph, output) is None
    assert outcome(output) == whole
    assert not (folder(output) / "checkpoints").exists()


def test_run_that_is_stopped_at_every_window_gets_there(graph, whole, tmp_path):
    output, stops = tmp_path / "emb.h5", 0
    while go(graph, output, stop_at=1) is not None:
        stops += 1
        assert len(checkpoints(output)) <= SETTINGS.checkpoint_keep
    (folder(output) / "UNFINISHED").unlink()
    assert stops > 8
    assert outcome(output) == whole


def test_run_asks_to_be_requeued_only_so_often(graph, tmp_path):
    output = tmp_path / "emb.h5"
    assert go(graph, output, stop_at=0, max_requeues=1) is not None
    (folder(output) / "UNFINISHED").unlink()
    text = go(graph, output, stop_at=2, max_requeues=1, signal=SIGTERM)
    assert "after 1 of 1 requeues (--max-requeues)" in text
    assert not (folder(output) / "UNFINISHED").exists()


class KilledError(BaseException):
    """Stands for SIGKILL: nobody catches it."""


def killed_at(monkeypatch, graph, output, window, settings=SETTINGS, resume=True):
    """Run until a window is about to be trained, and leave everything as it then is."""
    calls = iter(range(1000))
    train = trainer.Trainer.train

    def killed(self, *arguments):
        if next(calls) == window:
            raise KilledError
        return train(self, *arguments)

    with monkeypatch.context() as patch, suppress(KilledError):
        patch.setattr(trainer.Trainer, "train", killed)
        go(graph, output, settings, resume=resume)
        pytest.fail("the run was to be killed")


def windows_of_an_epoch(whole):
    return len(whole["rows"]) // SETTINGS.epochs


def test_killed_run_goes_on_from_the_end_of_an_epoch(graph, whole, tmp_path, monkeypatch, capsys):
    output, windows = tmp_path / "emb.h5", windows_of_an_epoch(whole)
    killed_at(monkeypatch, graph, output, 2 * windows + 1)
    capsys.readouterr()
    assert go(graph, output) is None
    step = whole["rows"][2 * windows - 1]["step"]
    assert f"resumed at step {step} of " in capsys.readouterr().err
    assert outcome(output) == whole


def test_run_killed_before_its_first_checkpoint_starts_again(graph, whole, tmp_path, monkeypatch):
    output = tmp_path / "emb.h5"
    killed_at(monkeypatch, graph, output, 1)
    assert go(graph, output, resume=False) is None  # there is nothing to lose
    assert outcome(output) == whole


def tear(path):
    file = path / "vectors-0.npy"
    file.write_bytes(file.read_bytes()[:-10])


def flip(path):
    file = path / "context-0.npy"
    content = bytearray(file.read_bytes())
    content[-5] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize("damage", [tear, flip])
def test_run_goes_on_from_an_older_checkpoint_if_the_newest_is_damaged(
    graph, whole, tmp_path, monkeypatch, capsys, damage
):
    output, windows = tmp_path / "emb.h5", windows_of_an_epoch(whole)
    killed_at(monkeypatch, graph, output, 2 * windows + 1)
    newest = checkpoints(output)[-1]
    damage(newest)
    capsys.readouterr()
    assert go(graph, output) is None
    first, second = capsys.readouterr().err.splitlines()[:2]
    assert first.startswith(f"warning: {newest}: ")
    assert second.startswith(f"resumed at step {whole['rows'][windows - 1]['step']} of ")
    assert outcome(output) == whole


def test_no_valid_checkpoint_is_an_error(graph, whole, tmp_path, monkeypatch):
    output = tmp_path / "emb.h5"
    killed_at(monkeypatch, graph, output, windows_of_an_epoch(whole) + 1)
    for path in checkpoints(output):
        tear(path)
    with pytest.raises(InputError, match="no checkpoint is valid"):
        go(graph, output)


def test_checkpoint_that_cannot_be_written_leaves_the_older_one(
    graph, whole, tmp_path, monkeypatch
):
    output = tmp_path / "emb.h5"
    assert go(graph, output, stop_at=3) is not None
    (before,) = checkpoints(output)
    write = np.lib.format.write_array_header_1_0

    def fail(stream, header):
        write(stream, header)
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(np.lib.format, "write_array_header_1_0", fail)
        with pytest.raises(InputError, match="No space left") as error:
            go(graph, output)
    assert error.value.collective
    assert checkpoints(output) == [before]
    assert go(graph, output) is None
    (folder(output) / "UNFINISHED").unlink()
    assert outcome(output) == whole


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"dim": 4}, "settings.dim = 8, not 4"),
        ({"seed": 1}, "settings.seed = 0, not 1"),
        ({"row_limit": 0.5}, "settings.row_limit"),
        ({"batch_pairs": 100}, "settings.batch_pairs"),
    ],
)
def test_other_settings_do_not_go_on_with_a_run(graph, tmp_path, change, key):
    output = tmp_path / "emb.h5"
    assert go(graph, output, stop_at=3) is not None
    with pytest.raises(SettingsError) as error:
        go(graph, output, replace(SETTINGS, **change))
    assert key in str(error.value)


def test_where_vectors_lie_may_change(graph, whole, tmp_path):
    output = tmp_path / "emb.h5"
    assert go(graph, output, stop_at=3) is not None
    other = replace(SETTINGS, strategy="simple", graph_memory="rows", checkpoint_keep=3)
    assert go(graph, output, other) is None
    found = read_embedding(output)
    np.testing.assert_allclose(found.vectors, whole["vectors"], rtol=0, atol=1e-6)
    np.testing.assert_allclose(found.context, whole["context"], rtol=0, atol=1e-6)


def test_another_graph_does_not_go_on_with_a_run(graph, tmp_path):
    output, other = tmp_path / "emb.h5", tmp_path / "other.edges"
    assert go(graph, output, stop_at=3) is not None
    lines = graph.read_text().splitlines()
    # As many nodes and edges, and another degree of some.
    other.write_text("\n".join([*lines[:-1], "node0 node7"]))
    assert "node0 node7" not in lines
    with pytest.raises(SettingsError, match=r"graph\.digest"):
        go(other, output)


def test_unfinished_run_is_not_begun_anew_by_mistake(graph, tmp_path):
    output = tmp_path / "emb.h5"
    assert go(graph, output, stop_at=3) is not None
    with pytest.raises(SettingsError, match="holds an unfinished run; continue it with --resume"):
        go(graph, output, resume=False)


def test_finished_run_has_nothing_to_do_and_can_be_made_anew(graph, tmp_path, capsys):
    output = tmp_path / "emb.h5"
    assert go(graph, output) is None
    content = output.read_bytes()
    capsys.readouterr()
    assert go(graph, output) is None
    assert capsys.readouterr().err == f"{output} is finished: nothing to do\n"
    with pytest.raises(SettingsError, match=r"holds a run with seed = 0, not 1"):
        go(graph, output, replace(SETTINGS, seed=1))
    assert go(graph, output, replace(SETTINGS, seed=1), resume=False) is None
    assert output.read_bytes() != content
    starts = json.loads((folder(output) / "environment.json").read_text())
    assert len(starts) == 1  # none of those of the run that was replaced
    output.unlink()
    assert go(graph, output, replace(SETTINGS, seed=1)) is None  # made once more
    assert output.exists()


def test_finished_run_of_another_graph_is_not_taken_for_that_of_this_one(graph, tmp_path):
    output, other = tmp_path / "emb.h5", tmp_path / "other.edges"
    assert go(graph, output) is None
    content = output.read_bytes()
    other.write_text("a b\nb c\n")
    with pytest.raises(SettingsError, match=rf"holds a run with graph = .*, not \"{other}\""):
        go(other, output)
    assert output.read_bytes() == content


def test_checkpoints_that_a_finished_run_has_left_do_no_harm(graph, whole, tmp_path, monkeypatch):
    output = tmp_path / "emb.h5"
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", lambda *_, **__: None)  # killed before it came to that
        assert go(graph, output) is None
    for path in checkpoints(output):
        tear(path)
    assert go(graph, output) is None  # nothing to do
    killed_at(monkeypatch, graph, output, 1, resume=False)
    assert go(graph, output) is None
    assert outcome(output) == whole


def test_settings_without_effect_are_told(graph, tmp_path, capsys):
    go(graph, tmp_path / "out.h5", replace(SETTINGS, epochs=1, p=0.25, parts=9))
    told = capsys.readouterr().err
    assert "--p is for --method node2vec: it has no effect on deepwalk" in told
    assert "--parts is for --strategy rotate: it has no effect on partitioned" in told
    assert "--q" not in told
    go(graph, tmp_path / "other.h5", replace(SETTINGS, epochs=1, method="node2vec", p=0.25))
    assert "no effect" not in capsys.readouterr().err


def test_isolated_nodes_are_there_and_counted(tmp_path, capsys):
    path = tmp_path / "graph.net"
    path.write_text("*Vertices 5\n*Edges\n1 2\n2 3\n")
    record = embed(Communicator(), str(path), SETTINGS, tmp_path / "emb.h5")
    found = read_embedding(tmp_path / "emb.h5")
    assert record["graph"]["isolated"] == 2
    assert found.labels.tolist() == [1, 2, 3, 4, 5]
    assert np.isfinite(found.vectors).all()
    assert np.abs(found.vectors[3:]).max() <= 0.5 / SETTINGS.dim  # as they were drawn
    assert not found.context[3:].any()
    assert "2 of 5 nodes have no edges" in capsys.readouterr().err


def test_weights_are_used_and_that_is_said(tmp_path, capsys):
    path = tmp_path / "weighted.edges"
    path.write_text("a b 5\nb c 1\nc a 1\n")
    for weighted in (True, False):
        record = embed(
            Communicator(), str(path), replace(SETTINGS, weighted=weighted), tmp_path / "emb.h5"
        )
        assert record["graph"]["weighted"] == weighted
        assert ("--unweighted" in capsys.readouterr().err) == weighted


@pytest.mark.parametrize(
    ("suffix", "change", "told"),
    [
        (".txt", {"directed": True}, True),
        (".npy", {"directed": True, "method": "app"}, True),
        (".h5", {"directed": True}, False),
        (".txt", {}, False),
        (".txt", {"directed": True, "method": "line", "order": "first"}, False),
    ],
)
def test_targets_of_arcs_that_a_format_has_no_room_for_are_told(
    tmp_path, capsys, suffix, change, told
):
    path, output = tmp_path / "arcs.edges", tmp_path / f"emb{suffix}"
    path.write_text("a b\nb c\nc a\n")
    embed(Communicator(), str(path), replace(SETTINGS, **change), output)
    assert (f"{output} has no room for" in capsys.readouterr().err) == told


def test_both_orders_of_line_are_halves_of_length_1(graph, tmp_path):
    settings = replace(SETTINGS, method="line", samples=600, epochs=2)
    record = embed(Communicator(), str(graph), settings, tmp_path / "both.h5")
    both = read_embedding(tmp_path / "both.h5")
    assert [(each["model"], each["epoch"]) for each in record["losses"]] == [
        ("first order", 1), ("first order", 2), ("second order", 1), ("second order", 2),
    ]  # fmt: skip
    for half in (slice(0, 4), slice(4, 8)):
        for matrix in (both.vectors, both.context):
            np.testing.assert_allclose(np.linalg.norm(matrix[:, half], axis=1), 1, atol=1e-5)
    # Of first order, contexts have the vectors of nodes.
    np.testing.assert_array_equal(both.vectors[:, :4], both.context[:, :4])
    for order, half in (("first", slice(0, 4)), ("second", slice(4, 8))):
        alone = replace(settings, order=order, dim=4)
        embed(Communicator(), str(graph), alone, tmp_path / f"{order}.h5")
        found = read_embedding(tmp_path / f"{order}.h5")
        lengths = np.linalg.norm(found.vectors, axis=1, keepdims=True)
        np.testing.assert_allclose(both.vectors[:, half], found.vectors / lengths, atol=1e-6)
        assert (found.context is None) == (order == "first")


def test_both_orders_of_line_go_on_from_any_window(graph, tmp_path):
    settings = replace(SETTINGS, method="line", samples=600, epochs=2)
    assert go(graph, tmp_path / "whole.h5", settings) is None
    output = tmp_path / "emb.h5"
    while go(graph, output, settings, stop_at=1) is not None:
        pass
    (folder(output) / "UNFINISHED").unlink()
    assert outcome(output) == outcome(tmp_path / "whole.h5")


@pytest.mark.parametrize("suffix", [".txt", ".bin", ".npy"])
def test_other_formats_hold_the_same_vectors(graph, whole, tmp_path, suffix):
    output = tmp_path / f"emb{suffix}"
    assert go(graph, output) is None
    found = read_embedding(output)
    np.testing.assert_allclose(found.vectors, whole["vectors"], rtol=0, atol=1e-6)
    assert found.labels.tolist() == whole["labels"]


def test_what_a_format_cannot_hold_is_found_before_the_work(tmp_path, monkeypatch):
    path = tmp_path / "graph.graphml"
    path.write_text(
        '<graphml><graph edgedefault="undirected"><node id="a b"/><node id="c"/>'
        '<edge source="a b" target="c"/></graph></graphml>'
    )
    monkeypatch.setattr(trainer.Trainer, "train", lambda *_: pytest.fail("work was done"))
    with pytest.raises(SettingsError, match="a b"):
        embed(Communicator(), str(path), SETTINGS, tmp_path / "emb.txt")


def test_divergence_ends_the_run_with_what_to_do(graph, tmp_path):
    wild = replace(SETTINGS, learning_rate=1e30, row_limit=1e30)
    with pytest.raises(DivergedError, match=r"smaller --learning-rate") as error:
        embed(Communicator(), str(graph), wild, tmp_path / "emb.h5")
    assert error.value.collective
    assert error.value.exit_code == 2
    assert not (tmp_path / "emb.h5").exists()


@pytest.mark.parametrize("end", ["finished", "stopped", "diverged"])
def test_what_ranks_share_is_given_back_however_all_of_them_end(graph, tmp_path, monkeypatch, end):
    freed = []
    for kind in (SharedGraph, Partitioned):
        monkeypatch.setattr(kind, "free", lambda self: freed.append(type(self)))
    settings = SETTINGS
    if end == "diverged":
        settings = replace(SETTINGS, learning_rate=1e30, row_limit=1e30)
    came = SIGTERM if end == "stopped" else None
    with nullcontext() if end == "finished" else pytest.raises((StoppedError, DivergedError)):
        embed(Communicator(), str(graph), settings, tmp_path / "emb.h5", stop=lambda: came)
    assert freed == [Partitioned, SharedGraph]


def test_vectors_that_do_not_fit_are_refused_before_they_are_made(graph, tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "usable_memory_bytes", lambda: 1000)
    with pytest.raises(OggError, match=r"vectors of 30 nodes take .* use more hosts, or a smaller"):
        embed(Communicator(), str(graph), SETTINGS, tmp_path / "emb.h5")


def test_network_is_modelled_by_the_bytes_of_a_rank():
    traffic = {"kinds": {"a": {"bytes": 10**9}, "b": {"bytes": 15 * 10**8}}}
    seconds = network_model(traffic, ranks=2)
    assert seconds == {"1 Gb/s": 10.0, "10 Gb/s": 1.0, "100 Gb/s": 0.1}


def test_crash_at_any_point_of_resuming_is_made_good(graph, whole, tmp_path, monkeypatch):
    """Killed while the folder is brought to where the checkpoint was, at each file operation."""
    first = tmp_path / "first.h5"
    killed_at(monkeypatch, graph, first, windows_of_an_epoch(whole) + 1)
    for number in range(12):
        output = tmp_path / f"emb{number}.h5"
        shutil.copytree(folder(first), folder(output))
        calls = iter(range(1000))

        def crash(original, calls=calls, number=number):
            def call(*args, **options):
                if next(calls) == number:
                    raise KilledError
                return original(*args, **options)

            return call

        with monkeypatch.context() as patch:
            for name in ("replace", "truncate", "fsync"):
                patch.setattr(os, name, crash(getattr(os, name)))
            with suppress(KilledError):
                go(graph, output)
        assert go(graph, output) is None
        assert outcome(output) == whole
