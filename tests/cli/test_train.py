import json
import os
import signal

import pytest

from ogg_hpc.cli import train
from ogg_hpc.runtime.signals import SIGNALS
from ogg_hpc.training.q_learning import QLearner

CONFIG = """\
seed = 2
[model]
width = 4
[[train]]
family = "ba"
nodes = 8
d = 1
count = 3
[[validation]]
family = "ba"
nodes = 9
d = 1
count = 2
seed = 5
[learning]
steps = 6
batch = 4
tau = 1
[output]
checkpoint_every = 3
evaluate_every = 3
tensorboard = false
"""


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(CONFIG)
    return tmp_path / "mine.toml"


def test_json_is_one_object(ogg, one_object, config):
    code, out, err = ogg("train", config, "--output", "run", "--json")
    record = one_object(out)
    assert code == 0
    assert (record["folder"], record["steps"]) == ("run", 6)
    assert record["best"]["score"] >= 1
    assert [line.partition(":")[0] for line in err.splitlines()] == ["step 0", "step 3", "step 6"]


def test_run_is_named_after_its_configuration(ogg, config, tmp_path):
    code, out, _ = ogg("train", config, "--set", "learning.steps=4")
    assert code == 0
    assert out.startswith("best policy at step ")
    assert "runs/mine/best.npz written after " in out
    assert json.loads((tmp_path / "runs/mine/settings.json").read_text())["learning"]["steps"] == 4


def test_trained_policy_solves(ogg, config, one_object, tmp_path):
    assert ogg("train", config, "--output", "run")[0] == 0
    (tmp_path / "g.edges").write_text("0 1\n1 2\n2 3\n")
    code, out, _ = ogg("solve", "g.edges", "--policy", "run/best.npz", "--json")
    assert (code, one_object(out)["objective"]) == (0, 2)


def test_one_line_starts_a_run_and_goes_on_with_it(ogg, config):
    code, _, err = ogg("train", config, "--resume", "run")
    assert code == 0
    assert [line.partition(":")[0] for line in err.splitlines()] == ["step 0", "step 3", "step 6"]
    code, _, err = ogg("train", config, "--resume", "run", "--set", "learning.steps=9")
    assert code == 0
    assert err.startswith("resumed at step 6 of 9\nstep 6: ")
    assert "step 9: " in err


@pytest.mark.parametrize("arguments", [["mine.toml", "--resume", "run"], ["--resume", "run"]])
def test_finished_run_has_nothing_to_do(ogg, one_object, config, arguments):
    code, out, _ = ogg("train", config, "--output", "run", "--json")
    assert code == 0
    record = one_object(out)
    code, out, err = ogg("train", *arguments, "--json")
    assert (code, err) == (0, "run is finished at step 6: nothing to do\n")
    assert one_object(out) == record


def signal_within_step(monkeypatch, number, step):
    advance = QLearner.advance

    def signalled(learner, at):
        if at == step:
            os.kill(os.getpid(), number)
        return advance(learner, at)

    monkeypatch.setattr(QLearner, "advance", signalled)


@pytest.mark.parametrize("number", SIGNALS)
def test_signal_leaves_a_checkpoint_a_marker_and_exit_code_75(ogg, config, monkeypatch, number):
    with monkeypatch.context() as patch:
        signal_within_step(patch, number, 3)
        code, out, err = ogg("train", config, "--resume", "run", "--json")
    name = signal.Signals(number).name
    assert (code, out) == (75, "")
    assert err.splitlines()[-1] == (
        f"ogg-hpc: stopped by {name} at step 4 of 6: resume with ogg-hpc train --resume run"
    )
    run = config.parent / "run"
    assert json.loads((run / "UNFINISHED").read_text()) == {
        "step": 4, "steps": 6, "signal": name, "requeues": 0
    }  # fmt: skip
    assert (run / "checkpoints" / "step-00000004" / "manifest.json").exists()
    code, out, err = ogg("train", "--resume", "run")
    assert (code, err.splitlines()[0]) == (0, "resumed at step 4 of 6")
    assert not (run / "UNFINISHED").exists()


def test_signal_while_the_command_starts_is_not_its_end(ogg, config, monkeypatch):
    start_ranks = train.start_ranks

    def signalled(args):
        os.kill(os.getpid(), signal.SIGUSR1)
        return start_ranks(args)

    monkeypatch.setattr(train, "start_ranks", signalled)
    code, _, err = ogg("train", config, "--resume", "run")
    assert code == 75
    assert "stopped by SIGUSR1 at step 0 of 6" in err


def test_marker_is_left_only_so_often(ogg, config, monkeypatch):
    signal_within_step(monkeypatch, signal.SIGUSR1, 3)
    code, _, err = ogg("train", config, "--resume", "run", "--max-requeues", "0")
    assert code == 75
    assert "at step 4 of 6 after 0 of 0 requeues (--max-requeues): resume with" in err
    assert not (config.parent / "run" / "UNFINISHED").exists()


@pytest.mark.parametrize("fault", [["--set", "learning.stepz=1"], ["--set", "seed=9"]])
def test_run_that_fails_when_it_is_resumed_does_not_ask_for_more(ogg, config, fault):
    assert ogg("train", config, "--resume", "run")[0] == 0
    (config.parent / "run" / "UNFINISHED").write_text("{}")
    assert ogg("train", config, "--resume", "run", *fault)[0] == 2
    assert not (config.parent / "run" / "UNFINISHED").exists()


def test_marker_that_cannot_be_removed_is_an_error(ogg, config):
    (config.parent / "run" / "UNFINISHED").mkdir(parents=True)
    code, _, err = ogg("train", config, "--resume", "run")
    assert (code, err) == (2, "ogg-hpc: run/UNFINISHED: cannot be written: Is a directory\n")


def test_given_settings_win_or_are_refused(ogg, config):
    assert ogg("train", config, "--resume", "run")[0] == 0
    longer = ["--set", "learning.steps=9", "--set", "output.evaluate_every=4"]
    assert ogg("train", config, "--resume", "run", *longer)[0] == 0
    settings = json.loads((config.parent / "run/settings.json").read_text())
    assert (settings["learning"]["steps"], settings["output"]["evaluate_every"]) == (9, 4)
    code, _, err = ogg("train", config, "--resume", "run", "--set", "seed=3")
    assert code == 2
    assert "run holds a run with seed = 2, not 3; only learning.steps" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "mvc-evolution, mwvc-evolution, paper), or a run to --resume"),
        (["none.toml"], "none.toml: cannot read the settings"),
        (["mine.toml", "--set", "learning.stepz=3"], "unknown key learning.stepz; did you mean"),
        (["mine.toml", "--set", "model.width=0"], "model.width and model.layers must be"),
        (["mine.toml", "--set", "policy=gcn"], "policy network 'gcn' is unknown"),
        (["mine.toml", "--set", "problem=tsp"], "unknown problem 'tsp'"),
        (["mine.toml", "--set", "parallel.ranks_per_graph=2"], "1 ranks cannot form groups of 2"),
        (["mine.toml", "--ranks-per-graph", "3"], "1 ranks cannot form groups of 3"),
        (["mine.toml", "--ranks-per-graph", "two"], "must be an integer, not 'two'"),
        (["--resume", "none"], "cannot resume: No such file or directory; is this a run?"),
        (["mine.toml", "--resume", "run", "--output", "run"], "leave out --output"),
        (["mine.toml", "--max-requeues", "-1"], "--max-requeues must not be negative"),
        (["mine.toml", "--set", "output.keep_checkpoints=0"], "keep_checkpoints must be at least"),
        (["mine.toml", "--set", "output.checkpoint_minutes=-1"], "must be finite and not negat"),
    ],
)
def test_user_error_is_one_message_and_exit_code_two(ogg, config, arguments, message):
    code, out, err = ogg("train", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("ogg-hpc: ")
    assert err.count("\n") == 1
    assert message in err
    assert not (config.parent / "runs").exists()


def test_settings_are_listed_with_brackets(ogg):
    code, out, _ = ogg("train", "--settings")
    assert code == 0
    assert "[[train]] family" in out
    assert "[least, most]" in out
    for line in ("learning.gamma", "parallel.ranks_per_graph", "output.evaluate_every"):
        assert line in out
