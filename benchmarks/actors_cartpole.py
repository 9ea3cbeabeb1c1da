"""CartPole-v1 by proximal policy optimisation: with local actors, with remote ones, and by a peer.

The peer is Stable-Baselines3 with the settings that its authors have tuned for CartPole; the preset
`cartpole` has the same environments, rounds, minibatches, epochs and decays. All learn for the same
number of steps, in turn, each in processes of its own: one seed of each, then the next seed. Every
some thousand steps the policy plays 50 episodes, with actions that are drawn; the first mean of at
least 475 counts as solved. Playing and checkpoints are no part of the steps per second.

Use: python benchmarks/actors_cartpole.py [--seeds N] [--steps N] [--output actors_cartpole.json]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import gymnasium
import numpy as np
from common import write_record

from ogg_hpc.actors.networks.registry import make_network
from ogg_hpc.actors.policy_file import load_policy
from ogg_hpc.actors.settings import load_actors_settings
from ogg_hpc.runtime.files import read_arrays
from ogg_hpc.runtime.random import hash64

HERE = Path(__file__).parent
COMMAND = [sys.executable, "-m", "ogg_hpc", "actors"]
SOLVED = 475.0
EPISODES = 50
EVERY = 2048  # steps between evaluations, from the first that can be of use
FIRST = 8192
PATIENCE = 60.0  # seconds for a run to tell where remote actors connect, and for these to leave
QUIET = {"stdout": subprocess.DEVNULL, "env": os.environ | {"OMP_NUM_THREADS": "1"}}
REMOTE = ("remote.listen=127.0.0.1:0", "roles.local=false")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--steps", type=int, default=60_000)
    parser.add_argument("--output", type=Path, default=HERE / "actors_cartpole.json")
    parser.add_argument("--peer", type=int, metavar="SEED", help="Stable-Baselines3 alone")
    args = parser.parse_args()
    if args.peer is not None:
        print(json.dumps(peer(args.peer, args.steps)))
        return
    results = {"environment": "CartPole-v1", "steps": args.steps, "episodes": EPISODES}
    ways = {"local": local, "remote": remote, "stable-baselines3": peer_in_own_process}
    found = {name: [] for name in ways}
    for seed in range(args.seeds):
        for name, way in ways.items():
            found[name].append(way(seed, args.steps))
            print(name, f"seed {seed}:", json.dumps(found[name][-1]), flush=True)
    for name, runs in found.items():
        rates = [run["steps_per_second"] for run in runs]
        results[name] = {
            "solved": sum(run["solved_at"] is not None for run in runs),
            "solved_at": [run["solved_at"] for run in runs],
            "last_mean_return": [run["mean_returns"][-1][1] for run in runs],
            "steps_per_second": {"median": float(np.median(rates)), "all": rates},
            "runs": runs,
        }
    theirs = found["stable-baselines3"]
    for name in ("local", "remote"):
        pairs = zip(found[name], theirs, strict=True)
        ratios = [own["steps_per_second"] / other["steps_per_second"] for own, other in pairs]
        results[name]["times_stable_baselines3"] = {
            "median": float(np.median(ratios)), "all": ratios
        }  # fmt: skip
    write_record(args.output, results)


def local(seed, steps):
    """Learn with environment processes of the learner's own."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(run_command(folder, seed, steps), **QUIET, check=True)
        return judged(Path(folder))


def remote(seed, steps):
    """Learn with a host of environments that has joined through the controller."""
    roles = load_actors_settings("cartpole").roles
    places = ["--processes", str(roles.processes), "--environments", str(roles.environments)]
    with tempfile.TemporaryDirectory() as folder:
        command = run_command(folder, seed, steps, *REMOTE)
        with subprocess.Popen(command, **QUIET) as learner:
            file = announced(Path(folder), learner)
            with subprocess.Popen([*COMMAND, "actor", "--connect", file, *places], **QUIET) as host:
                assert learner.wait() == host.wait(PATIENCE) == 0
        return judged(Path(folder))


def run_command(folder, seed, steps, *settings):
    """Return the command of a run whose every version for an evaluation is kept."""
    settings = (
        f"seed={seed}", f"steps={steps}", "output.tensorboard=false",
        f"output.checkpoint_every={EVERY}", f"output.keep_checkpoints={steps // EVERY + 2}",
        *settings,
    )  # fmt: skip
    assignments = [text for setting in settings for text in ("--set", setting)]
    return [*COMMAND, "run", "cartpole", "--output", folder, "--json", *assignments]


def announced(folder, learner):
    """Return the file that tells remote actors where to connect, once it is there."""
    deadline = time.monotonic() + PATIENCE
    while not (files := list(folder.glob("controllers/[!.]*.json"))):
        assert learner.poll() is None, "the learner has ended"
        assert time.monotonic() < deadline, "the learner tells no address"
        time.sleep(0.05)
    return files[0]


def judged(folder):
    """Return how fast a run was, and what its versions reach."""
    record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    policy = load_policy(folder / "policy.safetensors")
    model = policy.settings.network
    returns = Returns()
    versions = sorted((folder / "checkpoints").iterdir())
    for version in versions:
        step = int(version.name.rpartition("-")[2])
        if returns.wanted(step, last=version is versions[-1]):
            network = make_network(model.name, policy.schema, model.model)
            state = read_arrays(version / "state.npz", "a learning state")
            network.load({name.removeprefix("network/"): state[name] for name in state})
            returns.add(step, partial(drawn, network))
    phases = {name: seconds["median"] for name, seconds in record["phases"].items()}
    busy = phases["total"] - phases["setup"] - phases["checkpoint"]
    parts = {name: phases[name] for name in ("broadcast", "collect", "wait", "learn")}
    return {**returns.told(), "steps_per_second": record["steps"] / busy, "seconds": parts}


def drawn(network, observations, keys):
    return network.act({"value": observations}, keys).actions["value"]


class Returns:
    """Mean returns at some steps of a run, up to the first that is high enough, and at its end."""

    def __init__(self):
        self.curve, self.solved_at = [], None

    def wanted(self, step, last):
        """Return whether to play at this step."""
        return last or (self.solved_at is None and step >= FIRST)

    def add(self, step, act):
        """Play."""
        mean = mean_return(act)
        self.curve.append((step, mean))
        if self.solved_at is None and mean >= SOLVED:
            self.solved_at = step

    def told(self):
        """Return what is recorded."""
        return {"solved_at": self.solved_at, "mean_returns": self.curve}


def mean_return(act):
    """Return the mean return of some episodes at a time, whose actions `act` draws by keys."""
    envs = [gymnasium.make("CartPole-v1") for _ in range(EPISODES)]
    rows = {i: env.reset(seed=1000 + i)[0] for i, env in enumerate(envs)}
    total, step = 0, 0
    while rows:
        playing = list(rows)
        actions = act(np.stack(list(rows.values())), hash64(17, playing, step))
        total, step = total + len(playing), step + 1
        for i, action in zip(playing, actions, strict=True):
            rows[i], _, terminated, truncated, _ = envs[i].step(int(action))
            if terminated or truncated:
                del rows[i]
    return total / EPISODES


def peer_in_own_process(seed, steps):
    command = [sys.executable, __file__, "--peer", str(seed), "--steps", str(steps)]
    done = subprocess.run(command, **QUIET | {"stdout": subprocess.PIPE}, check=True)
    return json.loads(done.stdout)


def peer(seed, steps):
    """Learn by Stable-Baselines3."""
    from stable_baselines3 import PPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.env_util import make_vec_env

    returns = Returns()

    class Evaluate(BaseCallback):
        due, seconds = FIRST, 0.0

        def _on_step(self):
            return True

        def _on_rollout_start(self):
            self.evaluate(last=False)

        def _on_training_end(self):
            self.evaluate(last=True)

        def evaluate(self, last):
            step, begin = self.num_timesteps, time.perf_counter()
            if last or (step >= self.due and returns.wanted(step, last)):
                self.due += EVERY
                returns.add(step, lambda rows, _: self.model.predict(rows)[0])
            self.seconds += time.perf_counter() - begin

    model = PPO(
        "MlpPolicy", make_vec_env("CartPole-v1", n_envs=8, seed=seed), n_steps=32, batch_size=256,
        n_epochs=20, gae_lambda=0.8, gamma=0.98, ent_coef=0.0, seed=seed, device="cpu",
        learning_rate=lambda left: 1e-3 * left, clip_range=lambda left: 0.2 * left,
    )  # fmt: skip
    evaluate = Evaluate()
    begin = time.perf_counter()
    model.learn(steps, callback=evaluate)
    seconds = time.perf_counter() - begin - evaluate.seconds
    return {**returns.told(), "steps_per_second": model.num_timesteps / seconds}


if __name__ == "__main__":
    main()
