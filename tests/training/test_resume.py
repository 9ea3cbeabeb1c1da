"""A run that was stopped, killed or damaged, and resumed, is the undisturbed one, bit for bit."""

import json
import os
import shutil
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from signal import SIGTERM, SIGUSR1

import numpy as np
import pytest

from ogg_hpc.errors import InputError, StoppedError
from ogg_hpc.policies.file import load_policy
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.metrics import Metrics
from ogg_hpc.runtime.run_folder import resume_settings
from ogg_hpc.settings import build
from ogg_hpc.training import run
from ogg_hpc.training.run import train
from ogg_hpc.training.settings import TrainSettings

SOURCE = {"family": "er", "nodes": [20, 30], "p": 0.2, "count": 3}
OUTPUT = {"evaluate_every": 2, "checkpoint_every": 3, "tensorboard": False}
DOCUMENTS = {
    "q-learning": {
        "model": {"width": 4},
        "train": [{**SOURCE, "nodes": [8, 12]}],
        # Evaluated before each step, so that a step that is lost may have found the best policy.
        "validation": [{**SOURCE, "nodes": 14, "seed": 9}],
        "learning": {
            "steps": 10, "batch": 4, "tau": 1, "epsilon_steps": 6, "target_refresh": 4,
            "averaging": 0.5, "learning_rate": 0.05,
        },
        "output": {**OUTPUT, "evaluate_every": 1},
    },
    "evolution": {
        "method": "evolution",
        "policy": "degree-messages",
        "train": [SOURCE],
        "validation": [{**SOURCE, "seed": 9}],
        "evolution": {"generations": 10, "population": 4, "graphs": "fresh"},
        "output": OUTPUT,
    },
}  # fmt: skip
METHODS = list(DOCUMENTS)


def settings(method, **output):
    made = build(TrainSettings, DOCUMENTS[method])
    return replace(made, output=replace(made.output, **output))


def go(settings, folder, stop_at=None, resume=True, signal=SIGUSR1, **options):
    """Run, and be asked to stop before a step; return what is said then, None at the end."""
    calls = iter(range(100))
    start = newest_step(folder)
    try:
        train(
            Communicator(),
            settings,
            folder,
            resume=resume,
            stop=lambda: signal if stop_at is not None and start + next(calls) >= stop_at else None,
            **options,
        )
    except StoppedError as error:
        return str(error)
    return None


def newest_step(folder):
    found = sorted((folder / "checkpoints").glob("step-*"))
    return int(found[-1].name[5:13]) if found else 0


def marker(folder):
    return json.loads((folder / "UNFINISHED").read_text())


def outcome(folder):
    """All that a run leaves but how long it took."""
    newest = sorted((folder / "checkpoints").iterdir())[-1]
    with np.load(newest / "state.npz") as archive:
        state = {name: (value.dtype.str, value.tolist()) for name, value in archive.items()}
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    policies = [load_policy(str(folder / name), "mvc") for name in ("best.npz", "last.npz")]
    record = json.loads((folder / "record.json").read_text())
    return {
        "state": state,
        "rows": [{k: v for k, v in row.items() if k != "seconds"} for row in rows],
        "policies": [
            (p.training["step"], {name: value.tolist() for name, value in p.arrays.items()})
            for p in policies
        ],
        "record": {key: record[key] for key in ("steps", "best", "first", "references")},
        "files": sorted(os.listdir(folder)),
    }


@pytest.fixture(scope="module", params=METHODS)
def whole(request, tmp_path_factory):
    """A method and what an undisturbed run of it leaves."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    assert go(settings(request.param), folder, resume=False) is None
    return request.param, outcome(folder)


@pytest.mark.parametrize("step", [0, 1, 3, 8, 10])
def test_stopped_run_tells_how_it_goes_on_and_then_does(whole, tmp_path, step):
    method, expected = whole
    folder = tmp_path / "run"
    text = go(settings(method), folder, step)
    assert text == (
        f"stopped by SIGUSR1 at step {step} of 10: resume with ogg-hpc train --resume {folder}"
    )
    assert marker(folder) == {"step": step, "steps": 10, "signal": "SIGUSR1", "requeues": 0}
    assert newest_step(folder) == step
    assert not (folder / "record.json").exists()
    (folder / "UNFINISHED").unlink()
    assert go(settings(method), folder) is None
    assert outcome(folder) == expected


def test_run_that_is_stopped_before_every_step_gets_there(whole, tmp_path):
    method, expected = whole
    folder = tmp_path / "run"
    for requeues, step in enumerate([1, 2, 2, 2, 2, 4, 5, 7]):
        assert go(settings(method), folder, step) is not None
        assert marker(folder)["requeues"] == requeues
    assert len(list((folder / "checkpoints").iterdir())) == 3
    assert go(settings(method), folder) is None
    (folder / "UNFINISHED").unlink()
    assert outcome(folder) == expected


def test_run_asks_to_be_requeued_only_so_often(tmp_path):
    folder = tmp_path / "run"
    for requeues in range(2):
        assert go(settings("q-learning"), folder, 0, max_requeues=2) is not None
        assert marker(folder)["requeues"] == requeues
        (folder / "UNFINISHED").unlink()
    text = go(settings("q-learning"), folder, 5, max_requeues=2, signal=SIGTERM)
    assert not (folder / "UNFINISHED").exists()
    assert text.startswith(
        "stopped by SIGTERM at step 5 of 10 after 2 of 2 requeues (--max-requeues): resume with"
    )
    assert newest_step(folder) == 5
    assert go(settings("q-learning"), folder) is None


class KilledError(BaseException):
    """Stands for SIGKILL: nobody catches it."""


def killed_at(monkeypatch, settings, folder, step):
    """Run until a step is about to be made, and leave everything as it then is."""
    calls = iter(range(100))
    start = newest_step(folder)
    method = run.METHODS[settings.method]

    class Killed(method):
        def advance(self, number):
            if start + next(calls) == step:
                raise KilledError
            return super().advance(number)

    with monkeypatch.context() as patch, suppress(KilledError):
        patch.setitem(run.METHODS, settings.method, Killed)
        train(Communicator(), settings, folder, resume=True)
        pytest.fail("the run was to be killed")


def tear(path):
    file = path / "state.npz"
    file.write_bytes(file.read_bytes()[:-10])


def flip(path):
    file = path / "progress.json"
    file.write_text(file.read_text().replace('"step": ', '"step": 1', 1))


def lose_manifest(path):
    (path / "manifest.json").unlink()


def unknown_version(path):
    file = path / "manifest.json"
    file.write_text(file.read_text().replace("ogg-hpc-training/1", "ogg-hpc-training/2"))


@pytest.mark.parametrize("damage", [tear, flip, lose_manifest, unknown_version])
def test_run_goes_on_from_an_older_checkpoint_if_the_newest_is_damaged(
    whole, tmp_path, monkeypatch, capsys, damage
):
    method, expected = whole
    folder = tmp_path / "run"
    killed_at(monkeypatch, settings(method), folder, 8)
    newest = folder / "checkpoints" / "step-00000006"
    damage(newest)
    damaged = {path.name: path.read_bytes() for path in newest.iterdir()}
    capsys.readouterr()
    assert go(settings(method), folder) is None
    first, second = capsys.readouterr().err.splitlines()[:2]
    assert first.startswith(f"warning: {newest}: ")
    assert first.endswith(": skipped")
    assert second == "resumed at step 3 of 10"
    # It was not written over.
    assert {path.name: path.read_bytes() for path in newest.iterdir()} == damaged
    assert outcome(folder) == expected


def test_best_policy_of_steps_that_are_lost_is_lost_with_them(tmp_path, monkeypatch):
    folder = tmp_path / "run"
    chosen = settings("q-learning")
    killed_at(monkeypatch, chosen, folder, 8)
    kept = (folder / "checkpoints" / "step-00000006" / "best.npz").read_bytes()
    (folder / "best.npz").write_bytes(b"found at step 7, and not to be found again")
    rarely = replace(chosen, output=replace(chosen.output, evaluate_every=100))
    assert go(rarely, folder, 7) is not None
    assert (folder / "best.npz").read_bytes() == kept


def test_run_killed_before_its_first_checkpoint_starts_again(whole, tmp_path, monkeypatch, capsys):
    method, expected = whole
    folder = tmp_path / "run"
    killed_at(monkeypatch, settings(method), folder, 2)
    half_made = folder / "checkpoints" / ".step-00000003.1234567.part"
    half_made.mkdir(parents=True)
    (folder / ".last.1234567.part.npz").write_text("half")
    capsys.readouterr()
    assert go(resume_settings(TrainSettings, folder, ()), folder) is None
    assert f"{folder} holds no checkpoint: starting from step 0\n" in capsys.readouterr().err
    assert not half_made.exists()
    assert outcome(folder) == expected


@pytest.mark.parametrize("name", ["metrics.jsonl", "best.npz", "record.json", "last.npz"])
def test_what_a_kill_has_left_behind_the_checkpoint_does_not_matter(
    whole, tmp_path, monkeypatch, name
):
    method, expected = whole
    folder = tmp_path / "run"
    killed_at(monkeypatch, settings(method), folder, 8)
    with open(folder / name, "a") as stream:
        stream.write('{"half": "a li')
    assert go(settings(method), folder) is None
    assert outcome(folder) == expected


def test_no_valid_checkpoint_is_an_error_and_changes_nothing(tmp_path, monkeypatch):
    folder = tmp_path / "run"
    killed_at(monkeypatch, settings("q-learning"), folder, 8)
    for path in (folder / "checkpoints").iterdir():
        tear(path)
    before = (folder / "metrics.jsonl").read_bytes()
    with pytest.raises(InputError, match=r"no checkpoint is valid \(step-00000006: .*-00000003: "):
        go(settings("q-learning"), folder)
    assert (folder / "metrics.jsonl").read_bytes() == before


@pytest.mark.parametrize("method", METHODS)
def test_failed_write_of_the_curves_ends_the_run_at_the_next_step(tmp_path, monkeypatch, method):
    folder = tmp_path / "run"
    assert go(settings(method), folder, 4) is not None
    write = Metrics.write

    def fail(metrics, step, values):
        write(metrics, step, values)
        if step == 5:
            metrics.failure = InputError(folder / "metrics.jsonl", "cannot be written: disk full")

    with monkeypatch.context() as patch:
        patch.setattr(Metrics, "write", fail)
        with pytest.raises(InputError, match="disk full") as error:
            go(settings(method), folder)
    assert error.value.collective
    assert newest_step(folder) == 4
    assert go(settings(method), folder) is None


def test_as_many_checkpoints_are_kept_as_asked_for(tmp_path):
    folder = tmp_path / "run"
    go(settings("q-learning", checkpoint_every=1, keep_checkpoints=2), folder)
    assert sorted(os.listdir(folder / "checkpoints")) == ["step-00000009", "step-00000010"]


def test_checkpoints_by_the_clock_change_nothing_else(whole, tmp_path, monkeypatch):
    method, expected = whole
    now = iter(range(0, 10_000, 40))  # 40 s later at each look
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    folder = tmp_path / "run"
    chosen = settings(method, checkpoint_every=100, checkpoint_minutes=1.5, keep_checkpoints=9)
    assert go(chosen, folder) is None
    steps = [int(path.name[5:]) for path in sorted((folder / "checkpoints").iterdir())]
    assert steps[-1] == 10
    assert 3 <= len(steps) < 9
    assert outcome(folder) == expected


def test_none_is_written_by_the_clock_where_that_is_switched_off(tmp_path, monkeypatch):
    now = iter(range(0, 10_000_000, 40_000))
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    go(settings("q-learning", checkpoint_every=100, checkpoint_minutes=0), tmp_path / "run")
    assert os.listdir(tmp_path / "run" / "checkpoints") == ["step-00000010"]


def test_crash_at_any_point_of_resuming_is_made_good(whole, tmp_path, monkeypatch):
    """Killed while the folder is brought to where the checkpoint was, at each file operation."""
    method, expected = whole
    first = tmp_path / "first"
    killed_at(monkeypatch, settings(method), first, 8)
    for number in range(20):
        folder = tmp_path / f"run{number}"
        shutil.copytree(first, folder)
        calls = iter(range(100))

        def crash(original, calls=calls, number=number):
            def call(*args, **options):
                if next(calls) == number:
                    raise KilledError
                return original(*args, **options)

            return call

        with monkeypatch.context() as patch:
            for module, name in ((os, "replace"), (os, "truncate"), (os, "fsync")):
                patch.setattr(module, name, crash(getattr(module, name)))
            try:
                go(settings(method), folder, 6)
                crashed = False
            except KilledError:
                crashed = True
        (folder / "UNFINISHED").unlink(missing_ok=True)
        assert go(settings(method), folder) is None
        if not crashed:
            break
    assert outcome(folder) == expected
    assert number > 6


def test_signal_to_one_rank_stops_all_and_costs_nothing(run_ranks, tmp_path):
    script = Path(__file__).with_name("signalled_ranks.py")
    (tmp_path / "documents.json").write_text(json.dumps(DOCUMENTS))
    done = run_ranks(2, [script, tmp_path], limit=180)
    assert done.returncode == 75, done.stderr
    last = tmp_path / METHODS[0] / "at start"
    assert done.stderr.splitlines()[-1] == (
        f"ogg-hpc: stopped by SIGTERM at step 0 of 10: resume with ogg-hpc train --resume {last}"
    )
    assert marker(last) == {"step": 0, "steps": 10, "signal": "SIGTERM", "requeues": 0}
    for method in METHODS:
        found = json.loads((tmp_path / method / "stops.json").read_text())
        # Asked to within a step: all stop before the next one.
        assert found == [["SIGUSR1", 5], ["SIGURG", 8], ["SIGINT", 10], None]
        run, undisturbed = tmp_path / method / "run", tmp_path / method / "undisturbed"
        assert outcome(run) == outcome(undisturbed)


def test_other_numbers_of_ranks_and_groups_go_on_with_the_same_state(run_ranks, tmp_path):
    script = Path(__file__).with_name("regrouped_ranks.py")
    done = run_ranks(4, [script, tmp_path], limit=180)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        # groups, steps that they hold, whether the networks are the same, the last step
        "4 ranks, 4 groups": [4, [6, 6, 6, 6], True, None],
        "4 ranks, 2 groups": [2, [12, 12], True, 12],
        "4 ranks, 1 group": [1, [24], True, 12],
        "1 rank": [1, [24], True, 12],
        "3 ranks, 3 groups": [3, [12, 6, 6], True, 12],
        "from 1 rank to 4 groups": [4, [24, 24, 24, 24], True, 12],
    }
    line = "2 groups of ranks go on with what 4 held: their replay buffers and running episodes are"
    assert line in done.stderr
