"""Drug-like molecules by the shipped preset: quality, variety and size while it learns.

Runs `ogg-hpc actors run molecules-qed` on the cores of this machine. The policy of each checkpoint
then makes molecules by actions that are drawn as in the run, which RDKit reads from their SMILES
and scores anew. The goal: a mean QED of 0.7, half of the molecules distinct, 12 heavy atoms in the
mean, all valid, within 30 minutes on 2 cores.
Where others use the machine too, `processor_seconds` (of all processes) tell more than times.

Use: python benchmarks/molecules_qed.py [--steps N] [--seed S] [--output molecules_qed.json]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from common import write_record
from rdkit import Chem
from rdkit.Chem import QED

from ogg_hpc.actors.evaluation import Player
from ogg_hpc.actors.folder import STATE
from ogg_hpc.actors.policy_file import load_policy
from ogg_hpc.actors.ppo_batch import part
from ogg_hpc.runtime.files import read_arrays

HERE = Path(__file__).parent
PRESET = "molecules-qed"
MOLECULES = 256
GOAL = {"qed": 0.7, "distinct": 0.5, "atoms": 12.0, "valid": 1.0}
POINTS = 20  # of the curve


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=500_000, help="environment steps")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", action="append", default=[], help="another setting of the run")
    parser.add_argument("--output", type=Path, default=HERE / "molecules_qed.json")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        learn(run, args)
        made = {moment: molecules(run, arrays) for moment, arrays in checkpoints(run)}
        record = json.loads((run / "record.json").read_text(encoding="utf-8"))
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    curve = [
        {"step": step, "seconds": round(seconds, 1), **worth(smiles)}
        for (step, seconds), smiles in made.items()
    ]
    last = {smiles: QED.qed(Chem.MolFromSmiles(smiles)) for smiles in list(made.values())[-1]}
    results = {
        "preset": PRESET,
        "seed": args.seed,
        "set": args.set,
        "steps": record["steps"],
        "seconds": round(record["seconds"], 1),
        "processor_seconds": round(usage.ru_utime + usage.ru_stime, 1),
        "steps_per_second": round(record["steps_per_second"], 1),
        "phases": record["phases"],
        "molecules_of_a_point": MOLECULES,
        "goal": GOAL,
        "reached": next((each for each in curve if reached(each)), None),
        "end": curve[-1],
        "best": dict(sorted(last.items(), key=lambda each: -each[1])[:8]),
        "curve": curve,
    }
    write_record(args.output, results)
    print(json.dumps({name: results[name] for name in ("reached", "end", "best")}, indent=1))


def learn(run, args):
    """Run the preset to its end, keeping a checkpoint for each point of the curve."""
    settings = {
        "steps": args.steps,
        "seed": args.seed,
        "output.checkpoint_every": max(1, args.steps // POINTS),
        "output.keep_checkpoints": 2 * POINTS,
        "output.checkpoint_minutes": 0,
    }
    assignments = [*(f"{name}={value}" for name, value in settings.items()), *args.set]
    subprocess.run(
        [
            sys.executable, "-m", "ogg_hpc", "actors", "run", PRESET, "--output", run,
            *(text for each in assignments for text in ("--set", each)),
        ],
        check=True,
    )  # fmt: skip


def checkpoints(run):
    """Yield the step of each checkpoint, with the seconds since the start, and its arrays."""
    rows = map(json.loads, (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines())
    seconds = {row["step"]: row["seconds"] for row in rows}
    for folder in sorted((run / "checkpoints").iterdir()):
        step = int(folder.name.removeprefix("step-"))
        if step:
            state = read_arrays(folder / STATE, "a learning state")
            yield (step, seconds[step]), part(state, "network/")


def molecules(run, arrays):
    """Return the SMILES of what a policy makes whose parameters are given."""
    learned = load_policy(run / "policy.safetensors")
    player = Player(replace(learned, arrays=arrays), seed=1, greedy=False)
    smiles = [each["smiles"] for each in player.episodes(MOLECULES)]
    player.close()
    return smiles


def worth(smiles):
    """Return what the goal is about, and how many rings molecules have."""
    read = [molecule for molecule in map(Chem.MolFromSmiles, smiles) if molecule is not None]
    return {
        "qed": round(float(np.mean([QED.qed(each) for each in read])), 4),
        "distinct": len(set(smiles)) / len(smiles),
        "atoms": float(np.mean([each.GetNumHeavyAtoms() for each in read])),
        "rings": float(np.mean([each.GetRingInfo().NumRings() for each in read])),
        "valid": len(read) / len(smiles),
    }


def reached(found):
    """Return whether a point of the curve is as good as the goal in all respects."""
    return all(found[name] >= least for name, least in GOAL.items())


if __name__ == "__main__":
    main()
