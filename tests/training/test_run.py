import json
import os
import signal
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest
import torch

from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.graphs.shards import write_store
from ogg_hpc.policies.degree_messages import TwoMessageForm, message_form
from ogg_hpc.policies.file import load_policy
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.run_folder import resume_settings
from ogg_hpc.settings import build
from ogg_hpc.training.run import train
from ogg_hpc.training.settings import TrainSettings


def run(settings, folder, resume=False):
    return train(Communicator(), settings, folder, resume=resume)


def checkpoint(folder):
    newest = max((folder / "checkpoints").iterdir())
    with np.load(newest / "state.npz") as archive:
        return dict(archive)


def same_state(first, second):
    a, b = checkpoint(first), checkpoint(second)
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


def same_policy(first, second):
    a, b = (load_policy(str(path), "mvc").policy().state_dict() for path in (first, second))
    return all(np.array_equal(a[name].numpy(), b[name].numpy()) for name in a)


def metrics(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def without_seconds(rows):
    return [{key: value for key, value in row.items() if key != "seconds"} for row in rows]


@pytest.fixture(scope="module")
def whole(small_settings, tmp_path_factory):
    """The folder of an undisturbed run."""
    folder = tmp_path_factory.mktemp("whole")
    run(small_settings(), folder)
    return folder


def test_folder_holds_what_a_run_promises(whole, small_settings):
    record = json.loads((whole / "record.json").read_text())
    assert (record["steps"], record["ranks"], record["groups"]) == (24, 1, 1)
    assert record["references"] == {"ba14": "optimum"}
    evaluations = [row for row in metrics(whole) if "ratio" in row]
    assert [row["step"] for row in evaluations] == [0, 10, 20, 24]
    assert all(row["score"] == row["ratio"]["ba14"] >= 1 for row in evaluations)
    best = min(evaluations, key=lambda row: row["score"])
    assert record["best"] == {"step": best["step"], "score": best["score"], "ratios": best["ratio"]}
    assert record["first"]["score"] == evaluations[0]["score"]
    stored = load_policy(str(whole / "best.npz"), "mvc")
    assert stored.training["step"] == best["step"]
    assert stored.training["settings"]["learning"]["steps"] == 24
    assert load_policy(str(whole / "last.npz"), "mvc").training["step"] == 24
    assert resume_settings(TrainSettings, whole, []) == small_settings()


@pytest.mark.parametrize("learning_rate", [1e-3, 1e300])  # the latter ends in an error
def test_torch_has_its_threads_back_after_a_run(
    small_settings, tmp_path, monkeypatch, learning_rate
):
    threads = [5]
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads[-1])
    monkeypatch.setattr(torch, "set_num_threads", threads.append)
    settings = small_settings(
        learning={"engine": "scalar", "learning_rate": learning_rate, "steps": 4}
    )
    with suppress(SettingsError):
        run(settings, tmp_path)
    assert threads == [5, 1, 5]


def test_record_tells_the_engine_and_its_memory(whole, small_settings, tmp_path):
    record = json.loads((whole / "record.json").read_text())
    assert record["engine"] == "scalar"
    # Six trees of 8 to 12 nodes: 4 bytes an entry, 8 a row.
    rows = (record["adjacency_bytes"] - 8 + 6 * 2 * 4) / (8 + 2 * 4)
    assert rows == int(rows)
    assert 6 * 8 <= rows <= 6 * 12
    other = run(small_settings(learning={"engine": "reference", "steps": 2}), tmp_path)
    assert other["engine"] == "reference"
    assert other["adjacency_bytes"] > 0


@pytest.mark.parametrize(
    "learning", [{}, {"targets": "stored", "n_step": 1, "gamma": 0.9}], ids=str
)
def test_engines_learn_alike(small_settings, tmp_path, learning):
    for engine in ("reference", "scalar"):
        run(small_settings(learning={**learning, "engine": engine}), tmp_path / engine)
    reference, scalar = (checkpoint(tmp_path / engine) for engine in ("reference", "scalar"))
    for name, value in reference.items():
        np.testing.assert_allclose(scalar[name], value, rtol=0, atol=1e-9)
    actions = "group/0/actions"
    np.testing.assert_array_equal(scalar[actions], reference[actions])


def test_metrics_hold_each_step_once(whole):
    steps = [row for row in metrics(whole) if "epsilon" in row]
    assert [row["step"] for row in steps] == list(range(24))
    assert steps[0]["loss"] is None
    assert all(row["loss"] >= 0 for row in steps[2:])
    assert [row["epsilon"] for row in steps[:13:6]] == pytest.approx([0.9, 0.5, 0.1])
    returns = [row["return"] for row in steps if row["return"] is not None]
    assert returns
    assert all(-1 <= value < 0 for value in returns)


def test_curves_are_written_for_tensorboard(small_settings, tmp_path):
    pytest.importorskip("tensorboard")
    run(small_settings(learning={"steps": 2}, output={"tensorboard": True}), tmp_path)
    assert list((tmp_path / "tensorboard").glob("events.*"))


def test_two_runs_are_identical(whole, small_settings, tmp_path):
    run(small_settings(), tmp_path)
    assert same_state(tmp_path, whole)
    assert same_policy(tmp_path / "last.npz", whole / "last.npz")
    assert same_policy(tmp_path / "best.npz", whole / "best.npz")
    assert without_seconds(metrics(tmp_path)) == without_seconds(metrics(whole))


def test_another_seed_gives_another_run(whole, small_settings, tmp_path):
    run(small_settings(seed=1), tmp_path)
    assert not same_policy(tmp_path / "last.npz", whole / "last.npz")


def test_killed_run_resumes_bit_for_bit(whole, small_document, tmp_path, clean_environment):
    config, folder = tmp_path / "small.toml", tmp_path / "run"
    config.write_text(to_toml(small_document))
    command = [sys.executable, "-m", "ogg_hpc", "train"]
    with subprocess.Popen(
        [*command, config, "--output", folder],
        env=clean_environment, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        for line in process.stderr:
            if line.startswith("step 20:"):
                # Twelve steps after the only evaluation before it, four after a checkpoint.
                os.kill(process.pid, signal.SIGKILL)
                break
    assert process.returncode == -signal.SIGKILL
    assert not (folder / "record.json").exists()

    subprocess.run(
        [*command, "--resume", folder], env=clean_environment, check=True, capture_output=True
    )
    assert same_state(folder, whole)
    assert same_policy(folder / "last.npz", whole / "last.npz")
    assert same_policy(folder / "best.npz", whole / "best.npz")
    assert without_seconds(metrics(folder)) == without_seconds(metrics(whole))
    first, again = (json.loads((f / "record.json").read_text()) for f in (whole, folder))
    assert again["best"] == first["best"]


def test_finished_run_is_extended(whole, small_settings, tmp_path):
    run(small_settings(learning={"steps": 16}), tmp_path)
    changes = ["learning.steps=24", "output.evaluate_every=10", "graph_cache=1"]
    longer = resume_settings(TrainSettings, tmp_path, changes)
    run(longer, tmp_path, resume=True)
    assert same_state(tmp_path, whole)
    assert [row["step"] for row in metrics(tmp_path) if "epsilon" in row] == list(range(24))
    assert resume_settings(TrainSettings, tmp_path, []) == longer  # so that it may be killed again


def test_run_is_not_resumed_to_an_earlier_step(whole):
    with pytest.raises(SettingsError, match=r"of step 24, beyond learning\.steps = 20"):
        run(resume_settings(TrainSettings, whole, ["learning.steps=20"]), whole, resume=True)


def test_stored_targets_and_no_target_network_resume_too(small_settings, tmp_path):
    learning = {"steps": 24, "targets": "stored", "target_refresh": 0, "n_step": 1}
    run(small_settings(learning=learning), tmp_path / "whole")
    run(small_settings(learning={**learning, "steps": 8}), tmp_path / "part")
    run(
        resume_settings(TrainSettings, tmp_path / "part", ["learning.steps=24"]),
        tmp_path / "part",
        resume=True,
    )
    assert same_state(tmp_path / "part", tmp_path / "whole")


def test_averaged_parameters_are_kept_and_resume_bit_for_bit(whole, small_settings, tmp_path):
    learning = {"averaging": 0.9}
    run(small_settings(learning=learning), tmp_path / "whole")
    run(small_settings(learning={**learning, "steps": 8}), tmp_path / "part")
    run(
        resume_settings(TrainSettings, tmp_path / "part", ["learning.steps=24"]),
        tmp_path / "part",
        resume=True,
    )
    assert same_state(tmp_path / "part", tmp_path / "whole")
    assert same_policy(tmp_path / "part" / "last.npz", tmp_path / "whole" / "last.npz")
    kept = load_policy(str(tmp_path / "whole" / "last.npz"), "mvc").policy().state_dict()
    state = checkpoint(tmp_path / "whole")
    for name, value in kept.items():
        np.testing.assert_array_equal(state[f"averaged/{name}"], value)
    # What is learned does not depend on it.
    plain = checkpoint(whole)
    learned = [name for name in plain if not name.startswith("averaged/")]
    assert all(np.array_equal(state[name], plain[name]) for name in learned)
    assert not same_policy(tmp_path / "whole" / "last.npz", whole / "last.npz")


@pytest.mark.parametrize("change", ["learning.gamma=0.5", "seed=1", "model.width=4"])
def test_resume_with_other_settings_is_refused(whole, change):
    before = (whole / "metrics.jsonl").read_bytes()
    key = change.partition("=")[0].replace(".", r"\.")
    with pytest.raises(SettingsError, match=f"holds a run with {key} = .*only learning.steps"):
        run(resume_settings(TrainSettings, whole, [change]), whole, resume=True)
    assert (whole / "metrics.jsonl").read_bytes() == before


def test_folder_of_another_run_is_refused(whole, small_settings):
    with pytest.raises(SettingsError, match="holds a run already; continue it with --resume"):
        run(small_settings(), whole)


def test_resume_needs_a_run(tmp_path):
    with pytest.raises(InputError, match=r"cannot resume: No such file.*is this a run\?"):
        resume_settings(TrainSettings, tmp_path, [])


def test_run_without_held_out_graphs_writes_the_last_policy(small_settings, tmp_path):
    record = run(small_settings(validation=[], learning={"steps": 4}), tmp_path)
    assert (record["best"], record["first"]) == (None, None)
    assert (tmp_path / "last.npz").exists()
    assert not (tmp_path / "best.npz").exists()


def test_training_finds_the_centres_of_stars(small_settings, star, tmp_path):
    for name, sizes in (("train", (3, 5, 8)), ("validation", (4, 6, 7))):
        write_store(tmp_path / f"{name}.h5", [star(leaves) for leaves in sizes])
    settings = small_settings(
        seed=6,
        train=[{"path": str(tmp_path / "train.h5")}],
        validation=[{"path": str(tmp_path / "validation.h5")}],
        learning={"steps": 80, "batch": 16, "learning_rate": 1e-2, "epsilon_steps": 60},
    )
    record = run(settings, tmp_path / "run")
    assert record["first"]["score"] == (4 + 6 + 7) / 3  # all leaves, at first
    assert record["best"]["score"] < 2


def to_toml(document):
    """Write tables, arrays of tables and plain values, which JSON writes as TOML does."""
    lines, tables = [], []
    for key, value in document.items():
        if isinstance(value, dict):
            tables += [f"[{key}]", *(f"{k} = {json.dumps(v)}" for k, v in value.items())]
        elif isinstance(value, list):
            for row in value:
                tables += [f"[[{key}]]", *(f"{k} = {json.dumps(v)}" for k, v in row.items())]
        else:
            lines.append(f"{key} = {json.dumps(value)}")
    return "\n".join([*lines, *tables]) + "\n"


def test_q_learning_makes_a_policy_of_messages_better_than_its_start(tmp_path):
    source = {"family": "ba", "nodes": 40, "d": 2, "count": 30}
    document = {
        "policy": "degree-messages",
        "model": {"start": [0.0] * 9},  # maximum degree
        "train": [source],
        "validation": [{**source, "seed": 9, "nodes": 200, "count": 10}],
        "learning": {
            "steps": 1600, "train_frequency": 8, "tau": 1, "batch": 32, "n_step": 4,
            "reward": "count", "epsilon_start": 0.5, "epsilon_end": 0.5, "target_refresh": 400,
            "learning_rate": 0.02,
        },
        "output": {"evaluate_every": 400, "checkpoint_every": 1600, "tensorboard": False},
    }  # fmt: skip
    record = run(build(TrainSettings, document), tmp_path / "run")
    assert record["first"]["score"] == pytest.approx(1.0, abs=0.01)  # of maximum-degree greedy
    assert record["best"]["score"] < record["first"]["score"] - 0.01
    form = message_form(load_policy(str(tmp_path / "run" / "best.npz"), "mvc"), 200, 0.05)
    assert isinstance(form, TwoMessageForm)


def test_a_policy_of_messages_learns_no_problem_but_its_own(tmp_path, small_document):
    document = small_document | {"policy": "degree-messages", "model": {}, "problem": "mds"}
    with pytest.raises(SettingsError, match="by their own rules, not mds; use 's2v'"):
        run(build(TrainSettings, document), tmp_path / "run")
