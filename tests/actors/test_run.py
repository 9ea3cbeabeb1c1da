import json
import os
import re
import signal
from pathlib import Path

import numpy as np
import pytest

from ogg_hpc.actors.evaluation import Player
from ogg_hpc.actors.policy_file import load_policy
from ogg_hpc.actors.ppo import PPO
from ogg_hpc.actors.run import run
from ogg_hpc.actors.settings import ActorsSettings
from ogg_hpc.errors import OggError, SettingsError, StoppedError
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.run_folder import resume_settings
from ogg_hpc.runtime.signals import noted_signals

BROKEN = """
import gymnasium

class Broken(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1, 1, (2,))
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, when="step"):
        self.when = when
        if when == "made":
            raise RuntimeError("no licence")

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        return self.observation_space.sample(), {}

    def step(self, action):
        raise RuntimeError("the pole is missing")
"""


def go(settings, folder, resume=False, **options):
    return run(Communicator(), settings, folder, resume=resume, device="cpu", **options)


def metrics(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def checkpoint(folder):
    newest = max((folder / "checkpoints").iterdir())
    with np.load(newest / "state.npz") as archive:
        return dict(archive)


def same_policy(first, second):
    a, b = (load_policy(folder / "policy.safetensors").arrays for folder in (first, second))
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


@pytest.fixture(scope="module")
def whole(small_settings, tmp_path_factory):
    """The folder of an undisturbed run."""
    folder = tmp_path_factory.mktemp("whole")
    go(small_settings(), folder)
    return folder


def test_folder_holds_what_a_run_promises(whole, small_settings):
    record = json.loads((whole / "record.json").read_text())
    assert (record["steps"], record["ranks"], record["learners"]) == (192, 1, 1)
    assert record["environment"] == "gymnasium:CartPole-v1"
    assert record["steps_per_second"] > 0
    assert record["phases"].keys() > {"collect", "wait", "broadcast", "learn", "checkpoint"}
    collection = record["collection"]
    assert (collection["rounds"], collection["steps"], collection["joined"]) == (3, 192, 1)
    assert (collection["staleness"], collection["dropped"]) == ({"0": 6}, {})
    assert [row["step"] for row in metrics(whole)] == [64, 128, 192]
    assert len(list((whole / "checkpoints").iterdir())) == 3
    assert resume_settings(ActorsSettings, whole, []) == small_settings()
    (start,) = json.loads((whole / "environment.json").read_text())
    assert start["step"] == 0


def test_saved_policy_plays(whole):
    policy = load_policy(whole / "policy.safetensors")
    assert policy.origin["step"] == 192
    assert len(list(Player(policy, 0, greedy=True).episodes(2))) == 2


def test_the_page_on_actors_reads_a_policy(whole, monkeypatch):
    page = (Path(__file__).parents[2] / "docs" / "actors.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    monkeypatch.chdir(whole)
    found = {}
    exec(example, found)
    assert found["arrays"].keys() == load_policy(Path("policy.safetensors")).arrays.keys()
    assert found["fields"]["origin"]["step"] == 192


def test_a_run_repeats_exactly(whole, small_settings, tmp_path):
    go(small_settings(), tmp_path)
    assert same_policy(tmp_path, whole)


def test_slots_may_live_in_any_processes(whole, small_settings, tmp_path):
    go(small_settings(roles={"processes": 2, "environments": 1}), tmp_path)
    assert same_policy(tmp_path, whole)


def test_another_seed_gives_another_run(whole, small_settings, tmp_path):
    go(small_settings(seed=1), tmp_path)
    assert not same_policy(tmp_path, whole)


def test_curves_are_written_for_tensorboard(small_settings, tmp_path):
    pytest.importorskip("tensorboard")
    go(small_settings(steps=64, output={"tensorboard": True}), tmp_path)
    assert list((tmp_path / "tensorboard").glob("events.*"))


def test_finished_run_has_nothing_to_do(whole, small_settings, capsys):
    before = (whole / "metrics.jsonl").read_bytes()
    record = go(small_settings(), whole, resume=True)
    assert record == json.loads((whole / "record.json").read_text())
    assert "is finished at step 192: nothing to do" in capsys.readouterr().err
    assert (whole / "metrics.jsonl").read_bytes() == before


def test_finished_run_is_extended(small_settings, tmp_path, capsys):
    go(small_settings(steps=64), tmp_path)
    record = go(resume_settings(ActorsSettings, tmp_path, ["steps=128"]), tmp_path, resume=True)
    assert record["steps"] == 128
    assert "resumed at step 64 of 128" in capsys.readouterr().err
    assert [row["step"] for row in metrics(tmp_path)] == [64, 128]
    assert checkpoint(tmp_path)["rounds"] == 2


def test_folder_of_another_run_is_refused(whole, small_settings):
    with pytest.raises(SettingsError, match="holds a run already; continue it with --resume"):
        go(small_settings(), whole)


def test_a_resumed_run_does_not_repeat_its_beginning(small_settings, tmp_path, monkeypatch):
    learn, seen = PPO.learn, []

    def learn_noted(self, fragments):
        seen.append([each.arrays["observation/value"][0].tolist() for each in fragments])
        return learn(self, fragments)

    monkeypatch.setattr(PPO, "learn", learn_noted)
    go(small_settings(steps=64), tmp_path)
    go(resume_settings(ActorsSettings, tmp_path, ["steps=128"]), tmp_path, resume=True)
    first, resumed = seen
    assert all(one != other for one, other in zip(first, resumed, strict=True))


@pytest.mark.parametrize("change", ["seed=1", "ppo.gamma=0.5", "environment.name=synthetic"])
def test_resume_with_other_settings_is_refused(whole, change):
    key = change.partition("=")[0].replace(".", r"\.")
    with pytest.raises(SettingsError, match=f"holds a run with {key} = .*only steps, "):
        go(resume_settings(ActorsSettings, whole, [change]), whole, resume=True)


def signalled(monkeypatch, at, number):
    """Let a signal come within the round that begins at a step."""
    learn = PPO.learn

    def learn_signalled(self, fragments):
        advance = learn(self, fragments)
        if self._steps == at:
            os.kill(os.getpid(), number)
        return advance

    monkeypatch.setattr(PPO, "learn", learn_signalled)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGURG])
def test_signal_stops_after_the_round_with_a_checkpoint_and_a_marker(
    small_settings, tmp_path, monkeypatch, number, capsys
):
    with monkeypatch.context() as patch, noted_signals() as stop:
        signalled(patch, 128, number)
        with pytest.raises(StoppedError, match=f"stopped by {number.name} at step 128 of 192"):
            go(small_settings(), tmp_path, stop=stop)
    marker = json.loads((tmp_path / "UNFINISHED").read_text())
    assert (marker["step"], marker["steps"]) == (128, 192)
    assert not (tmp_path / "policy.safetensors").exists()
    record = go(small_settings(), tmp_path, resume=True)
    assert "resumed at step 128 of 192" in capsys.readouterr().err
    assert (record["steps"], record["rounds"]) == (192, 3)
    assert [row["step"] for row in metrics(tmp_path)] == [64, 128, 192]


def test_signal_while_steps_are_collected_does_not_wait_for_them(small_settings, tmp_path):
    slow = {"name": "synthetic", "options": {"seconds": 30.0}}
    asked = iter([None, None, None])
    with pytest.raises(StoppedError, match="stopped by SIGTERM at step 0 of 192"):
        go(
            small_settings(environment=slow, collection={"lease": 60.0}),
            tmp_path,
            stop=lambda: next(asked, signal.SIGTERM),
        )


def test_no_process_is_left_of_a_run_that_fails(small_settings, tmp_path, monkeypatch):
    processes = []

    def fail(self, fragments):
        processes.extend(children())
        raise SettingsError("no")

    monkeypatch.setattr(PPO, "learn", fail)
    with pytest.raises(SettingsError):
        go(small_settings(), tmp_path)
    assert processes
    assert not set(processes) & set(children())


def children():
    """Return the processes that this one has started."""
    with open(f"/proc/self/task/{os.getpid()}/children") as listed:
        return listed.read().split()


@pytest.fixture
def broken(tmp_path):
    (tmp_path / "broken.py").write_text(BROKEN)
    return f"{tmp_path / 'broken.py'}:Broken"


def test_an_environment_that_cannot_be_made_is_told(small_settings, tmp_path, broken):
    environment = {"name": broken, "options": {"when": "made"}}
    with pytest.raises(SettingsError, match="cannot be made: RuntimeError: no licence"):
        go(small_settings(environment=environment), tmp_path / "run")


def test_an_environment_that_fails_at_each_step_ends_the_run(small_settings, tmp_path, broken):
    with pytest.raises(OggError, match=r"(?s)gave up: .*the pole is missing"):
        go(small_settings(environment={"name": broken}), tmp_path / "run")
