import json
import os
import signal
import subprocess
import sys

import pytest

from ogg_hpc.actors.ppo import PPO

CONFIG = """\
steps = 128
[network.model]
hidden = [8]
[roles]
processes = 1
environments = 2
[ppo]
round_steps = 64
minibatch = 64
epochs = 1
[output]
tensorboard = false
"""

MAZE = """\
import gymnasium

class Maze(gymnasium.Env):
    action_space = gymnasium.spaces.Discrete(3)

    def __init__(self, size=4):
        self.size = size
        self.observation_space = gymnasium.spaces.Discrete(size)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.place = 0
        return 0, {}

    def step(self, action):
        self.place = min(self.place + 1, self.size - 1)
        ended = self.place == self.size - 1
        info = {"episode": {"path": "east", "solved": True}} if ended else {}
        return self.place, float(ended), ended, False, info
"""


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(CONFIG)
    (tmp_path / "maze.py").write_text(MAZE)
    return tmp_path / "mine.toml"


def test_json_is_one_object(ogg, one_object, config):
    code, out, err = ogg("actors", "run", config, "--output", "run", "--json")
    record = one_object(out)
    assert (code, err) == (0, "")
    assert (record["folder"], record["steps"], record["algorithm"]) == ("run", 128, "ppo")


def test_own_environment_is_learned_and_evaluated_without_a_configuration(ogg, one_object, config):
    small = [f"--set={line}" for line in ("ppo.round_steps=64", "ppo.minibatch=64", "steps=64")]
    options = ["--set=environment.options.size=3", "--set=roles.processes=1"]
    code, out, _ = ogg("actors", "run", "--environment", "maze.py:Maze", *options, *small)
    assert code == 0
    assert "runs/Maze/policy.safetensors written" in out
    code, out, _ = ogg("actors", "evaluate", "runs/Maze", "--episodes", "5", "--json")
    found = one_object(out)
    assert code == 0
    assert found["length"] == {"mean": 2, "min": 2, "max": 2}
    assert (found["path"], found["solved"]) == ({"distinct": 1}, {"share": 1})
    assert len(found["played"]) == 5
    code, out, _ = ogg("actors", "evaluate", "runs/Maze", "--greedy", "--csv", "episodes.csv")
    assert code == 0
    assert out.split()[:2] == ["50", "episodes"]
    lines = (config.parent / "episodes.csv").read_text().splitlines()
    assert lines[:2] == ["path,solved,return,length", "east,True,1.0,2"]
    assert len(lines) == 51


def test_one_line_starts_a_run_and_goes_on_with_it(ogg, config, monkeypatch):
    learn = PPO.learn

    def learn_signalled(self, fragments):
        os.kill(os.getpid(), signal.SIGUSR1)
        return learn(self, fragments)

    with monkeypatch.context() as patch:
        patch.setattr(PPO, "learn", learn_signalled)
        code, out, err = ogg("actors", "run", config, "--resume", "run", "--json")
    assert (code, out) == (75, "")
    assert err == (
        "ogg-hpc: stopped by SIGUSR1 at step 64 of 128: resume with ogg-hpc actors run "
        "--resume run\n"
    )
    assert (config.parent / "run" / "UNFINISHED").exists()
    code, _, err = ogg("actors", "run", config, "--resume", "run")
    assert (code, err.splitlines()[0]) == (0, "resumed at step 64 of 128")
    assert not (config.parent / "run" / "UNFINISHED").exists()
    code, _, err = ogg("actors", "run", "--resume", "run")
    assert (code, err) == (0, "run is finished at step 128: nothing to do\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "a preset (cartpole"),
        (["none.toml"], "none.toml: cannot read the settings"),
        (["mine.toml", "--set", "ppo.gama=3"], "unknown key ppo.gama; did you mean gamma?"),
        (["mine.toml", "--set", "network.name=gnn"], "network 'gnn' is unknown"),
        (["mine.toml", "--set", "network.model.hiden=3"], "unknown key network.model.hiden"),
        (["mine.toml", "--environment", "chess"], "there is no environment 'chess'"),
        (["--environment", "none.py:Maze"], "no such file: none.py"),
        (["--environment", "maze.py:Labyrinth"], "defines no class Labyrinth"),
        (["--environment", "gymnasium:Pool-v1"], "Pool"),
        (["--environment", "maze.py:Maze", "--set", "environment.options.a=1"], "'a'"),
        (["mine.toml", "--set", "roles.local=false"], "remote.listen has to be set"),
        (["--resume", "none"], "cannot resume: No such file or directory; is this a run?"),
        (["mine.toml", "--resume", "run", "--output", "run"], "leave out --output"),
        (["mine.toml", "--max-requeues", "-1"], "--max-requeues must not be negative"),
    ],
)
def test_user_error_is_one_message_and_exit_code_two(ogg, config, arguments, message):
    code, out, err = ogg("actors", "run", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("ogg-hpc: ")
    assert err.count("\n") == 1
    assert message in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none"], "none: no policy: No such file"),
        (["mine.toml"], "mine.toml: no policy, or a damaged one"),
        (["none", "--episodes", "0"], "--episodes must be at least 1"),
    ],
)
def test_what_is_no_policy_is_one_message_and_exit_code_two(ogg, config, arguments, message):
    code, out, err = ogg("actors", "evaluate", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_settings_of_all_tables_are_listed(ogg):
    code, out, _ = ogg("actors", "run", "--settings")
    assert code == 0
    for key in ("steps", "roles.processes", "collection.patience", "ppo.gamma", "remote.listen"):
        assert any(line.split()[:1] == [key] for line in out.splitlines()), key


@pytest.mark.parametrize("missing", ["gymnasium", "safetensors"])
def test_a_missing_extra_is_named(config, clean_environment, missing):
    program = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        "from ogg_hpc.cli.main import main\n"
        "main(['actors', 'run', 'mine.toml'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=clean_environment, capture_output=True, text=True
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr == (
        f"ogg-hpc: {missing} is not installed; run: pip install 'ogg-hpc[actors]'\n"
    )


def test_learner_takes_remote_actors_alone(ogg, config, clean_environment):
    command = [sys.executable, "-m", "ogg_hpc", "actors"]
    with subprocess.Popen(
        [*command, "learner", config, "--output", "run", "--json"],
        env=clean_environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as learner:  # fmt: skip
        told = learner.stderr.readline()
        connect = told.split("ogg-hpc actors actor ")[1].split()
        actor = subprocess.run(
            [*command, "actor", *connect, "--processes", "1", "--environments", "2"],
            env=clean_environment, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        out, err = learner.communicate(timeout=60)
    assert (learner.returncode, actor.returncode) == (0, 0), err + actor.stderr
    record = json.loads(out)
    assert record["collection"]["joined"] == 1
    assert record["steps"] == 128
