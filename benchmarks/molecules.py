"""What the molecule environment costs beside RDKit, and what a policy that knows nothing reaches.

Random policies that keep to the masks play finished episodes. For each reward: steps a second of
one core, processor time of a step by what it is for, and how many steps a second there would be if
all but RDKit were free. Then the molecules themselves: a baseline for what is learned.

Use: python benchmarks/molecules.py [--episodes 1000] [--stop 0.05] [--output molecules.json]
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from pathlib import Path

import numpy as np
from common import write_record
from rdkit import Chem

from ogg_hpc.actors.environments.molecules import environment, oracle, scores
from ogg_hpc.actors.environments.molecules.random_policy import random_action

REWARDS = {
    "qed": {"reward": "qed"},
    "plogp": {"reward": "plogp"},
    "qed, filter zinc": {"reward": "qed", "filters": ["zinc"]},
    "qed, filter steric": {"reward": "qed", "filters": ["steric"]},
}
EPISODES_WITH_FILTER = 100
LEAST_ATOMS = (1, 12)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--stop", type=float, default=0.05, help="probability of a stop")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".json"))
    args = parser.parse_args()
    results = {"episodes": args.episodes, "stop": args.stop, "cost": {}, "random": {}}
    seconds_in_rdkit = watch_rdkit()
    for name, options in REWARDS.items():
        count = min(args.episodes, EPISODES_WITH_FILTER if "steric" in name else args.episodes)
        results["cost"][name] = cost(options, count, args.stop, seconds_in_rdkit)
        print(name, json.dumps(results["cost"][name], indent=1), flush=True)
    for least in LEAST_ATOMS:
        name = f"min_atoms = {least}"
        results["random"][name] = baseline(args.episodes, args.stop, least)
        print(name, json.dumps(results["random"][name], indent=1), flush=True)
    write_record(args.output, results)


def watch_rdkit():
    """Let all that calls RDKit add up its processor time from now on, and return the seconds."""
    seconds = Counter()

    def timed(work, name):
        def with_time(*arguments):
            start = time.process_time()
            result = work(*arguments)
            seconds[name] += time.process_time() - start
            return result

        return with_time

    for module, function, name in (
        (environment, "molecule_of", "molecule"),
        (environment, "smiles_of", "smiles"),
        (scores, "qed", "reward"),
        (scores, "penalised_log_p", "reward"),
    ):
        setattr(module, function, timed(getattr(module, function), name))
    make_filters = oracle.make_filters
    oracle.make_filters = lambda names: {
        name: timed(refuses, "filter") for name, refuses in make_filters(names).items()
    }
    return seconds


def cost(options, episodes, stop, seconds_in_rdkit):
    """Return what steps cost with a reward."""
    played = environment.MoleculeEnvironment(**options)
    list(episodes_of(played, 2, stop))  # tables are loaded by the first molecules
    seconds_in_rdkit.clear()
    resets, ordinary, last = [], [], []
    for _, seconds in episodes_of(played, episodes, stop):
        resets.append(seconds[0])
        ordinary += seconds[1:-1]
        last.append(seconds[-1])
    steps = len(ordinary) + len(last)
    total, rdkit = sum(resets + ordinary + last), sum(seconds_in_rdkit.values())
    return {
        "episodes": episodes,
        "steps": steps,
        "steps_per_second": steps / total,
        "steps_per_second_if_rdkit_were_all": steps / rdkit,
        "rdkit_share": rdkit / total,
        "microseconds_a_step": {
            "environment": 1e6 * (total - rdkit) / steps,
            **{f"rdkit {name}": 1e6 * spent / steps for name, spent in seconds_in_rdkit.items()},
        },
        "reset_microseconds": quantiles(resets, 1e6),
        "ordinary_step_microseconds": quantiles(ordinary, 1e6),
        "last_step_milliseconds": quantiles(last, 1e3),
    }


def episodes_of(played, episodes, stop):
    """Yield what each episode tells, and the processor seconds of its reset and of each step."""
    generator = np.random.default_rng(0)
    ends = int(played.action_space.nvec[1])
    played.reset(seed=0)
    for _ in range(episodes):
        start = time.process_time()
        observation, _ = played.reset()
        seconds, terminated = [time.process_time() - start], False
        while not terminated:
            action = random_action(observation, ends, generator, stop)
            start = time.process_time()
            observation, _, terminated, _, info = played.step(action)
            seconds.append(time.process_time() - start)
        yield info["episode"], seconds


def baseline(episodes, stop, least):
    """Return how random molecules are distributed."""
    played = environment.MoleculeEnvironment(reward="plogp", min_atoms=least)
    found = {"qed": [], "plogp": [], "synthetic_accessibility": [], "atoms": [], "rings": []}
    smiles = []
    for episode, _ in episodes_of(played, episodes, stop):
        smiles.append(episode["smiles"])
        for name in ("plogp", "synthetic_accessibility"):
            found[name].append(episode["parts"][name])
        for name in ("atoms", "rings"):
            found[name].append(episode[name])
        found["qed"].append(scores.qed(Chem.MolFromSmiles(episode["smiles"])))
    return {
        "distinct": len(set(smiles)) / episodes,
        **{name: quantiles(values) for name, values in found.items()},
    }


def quantiles(values, unit=1.0):
    """Return mean, quantiles and extremes."""
    values = unit * np.array(values)
    names = {"median": 0.5, "p95": 0.95, "p99": 0.99, "largest": 1.0}
    found = {name: float(np.quantile(values, share)) for name, share in names.items()}
    return {"mean": float(values.mean()), **found}


if __name__ == "__main__":
    main()
