"""Kill a training again and again; it must end as if nothing had happened.

Trains small runs on two ranks undisturbed, and once more while ranks or the launcher are killed
(SIGKILL) at random moments: while the job starts, after a random step, and in the middle of
writing a checkpoint. After each kill no process may be left, and
`ogg-hpc train CONFIG --resume RUN` must go on from the last checkpoint that was due. At the end
the policies, the learning state and the curves must equal those of the undisturbed run, bit for
bit.

    python scripts/kill_soak.py --kills 50 --record benchmarks/kill_soak.json
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from watched_job import WatchedJob

from ogg_hpc.scaling.launcher import MPIEXEC, launch_command

sys.path.append(str(Path(__file__).resolve().parents[1] / "benchmarks"))
from common import write_record

RANKS = 2
LIMIT = 60.0  # seconds for all processes to end after a kill
START_LIMIT = 300.0
GRAPHS = """
[[train]]
family = "ba"
nodes = [8, 16]
d = 2
count = 8

[[validation]]
family = "er"
nodes = 10
p = 0.3
count = 1
"""
# Each step is evaluated, so that the job says on standard error which one it has come to.
RUNS = {
    "q-learning": """
problem = "mvc"
[model]
width = 8
[learning]
steps = {steps}
batch = 8
[parallel]
ranks_per_graph = 1
[output]
evaluate_every = 1
checkpoint_every = {every}
""",
    "evolution": """
problem = "mvc"
policy = "degree-messages"
method = "evolution"
[evolution]
generations = {steps}
population = 6
[output]
evaluate_every = 1
checkpoint_every = {every}
""",
}
VICTIMS = ("rank 0", "rank 1", "launcher")
AIMS = ("start", "step", "checkpoint")


class SoakError(Exception):
    """The promise is broken."""


class Run:
    """One training, killed and resumed.

    Parameters
    ----------
    folder
        For everything.
    method, every, steps
        What is trained, the steps between checkpoints, and all steps.
    chance
        Decides whom a kill hits, and when.
    """

    def __init__(
        self, folder: Path, method: str, every: int, steps: int, chance: random.Random
    ) -> None:
        self.folder, self.every, self.steps, self._chance = folder, every, steps, chance
        folder.mkdir()
        self._config = folder / "config.toml"
        self._config.write_text(RUNS[method].format(steps=steps, every=every) + GRAPHS)

    def start(self, name: str) -> WatchedJob:
        """Start the training, or go on with it."""
        ogg = [sys.executable, "-m", "ogg_hpc", "train", self._config, "--resume", name]
        command = [*launch_command(MPIEXEC, RANKS), *ogg]
        return WatchedJob(command, os.environ, self.folder)

    def finish(self, name: str) -> None:
        """Train to the end."""
        with self.start(name) as job:
            if code := job.wait_for_the_end(10 * START_LIMIT):
                raise SoakError(f"the training ended with exit code {code}: {job.errors}")

    def kill(self, steps_ahead: int) -> dict[str, Any] | None:
        """Go on for some steps, kill, and return what was seen; None if the run ended before."""
        aim, victim = self._chance.choice(AIMS), self._chance.choice(VICTIMS)
        expected = self.newest_checkpoint()
        with self.start("killed") as job:
            if not self._wait_for(job, aim, expected + steps_ahead):
                if job.wait_for_the_end(LIMIT):
                    raise SoakError(f"a resumed training failed: {job.errors}")
                return None
            target = job.process.pid if victim == "launcher" else job.rank(int(victim[-1]))
            if target is None:  # not even that far
                victim, target = "launcher", job.process.pid
            os.kill(target, signal.SIGKILL)
            killed = time.monotonic()
            job.wait_for_the_end(LIMIT)
            seconds = time.monotonic() - killed
            steps = steps_seen(job)
        if steps and steps[0] != expected:
            raise SoakError(f"it went on from step {steps[0]}, not from checkpoint {expected}")
        reached = steps[-1] if steps else expected
        kept = self.newest_checkpoint()
        lost = max(0, reached - kept)
        if kept < expected or lost >= max(2, self.every):
            raise SoakError(f"step {reached} was reached and only checkpoint {kept} is there")
        return {"aim": aim, "victim": victim, "steps_lost": lost, "seconds_to_end": seconds}

    def newest_checkpoint(self) -> int:
        """Return the step of the newest checkpoint, 0 if there is none."""
        names = (self.folder / "killed" / "checkpoints").glob("step-*")
        return max((int(path.name.split("-")[1]) for path in names), default=0)

    def _wait_for(self, job: WatchedJob, aim: str, step: int) -> bool:
        """Wait for the moment; return whether it has come before the end of the run."""
        if aim == "start":
            begun = time.monotonic()
            delay = self._chance.uniform(0.0, 3.0)
            return job.wait_until(lambda: time.monotonic() - begun > delay)
        if not job.wait_until(lambda: steps_seen(job)[-1:] >= [step], START_LIMIT):
            return False
        if aim == "checkpoint":
            folder = self.folder / "killed" / "checkpoints"
            return job.wait_until(lambda: any(folder.glob(".step-*")), START_LIMIT)
        time.sleep(self._chance.uniform(0.0, 0.05))
        return job.process.poll() is None

    def differences(self) -> list[str]:
        """Return what the two runs have not in common."""
        whole, killed = self.folder / "whole", self.folder / "killed"
        state = f"checkpoints/step-{self.steps:08d}/state.npz"
        found = [
            name
            for name in ("best.npz", "last.npz", state)
            if not same_arrays(whole / name, killed / name)
        ]
        for name in ("metrics.jsonl", "record.json"):
            if lasting_values(whole / name) != lasting_values(killed / name):
                found.append(name)
        return found


def steps_seen(job: WatchedJob) -> list[int]:
    """Return the steps that a job has said to have come to."""
    return [int(step) for step in re.findall(r"^step (\d+):", job.errors, re.MULTILINE)]


def same_arrays(first: Path, second: Path) -> bool:
    """Return whether two archives hold equal numbers, whatever their texts tell of the clock."""
    with np.load(first) as a, np.load(second) as b:
        return a.files == b.files and all(
            a[name].dtype.kind == "U" or np.array_equal(a[name], b[name]) for name in a.files
        )


def lasting_values(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file, one a line or one in all, without where and how fast."""
    text = path.read_text(encoding="utf-8")
    objects = [json.loads(text)] if path.suffix == ".json" else map(json.loads, text.splitlines())
    passing = {"seconds", "phases", "folder", "commit", "hosts", "collectives", "peak_memory_bytes"}
    return [{key: value for key, value in each.items() if key not in passing} for each in objects]


def main() -> None:
    """Run the soak and write its record."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=50, help="in all (default: 50)")
    parser.add_argument("--steps", type=int, default=48, help="of each run (default: 48)")
    parser.add_argument("--methods", nargs="+", choices=RUNS, default=list(RUNS))
    parser.add_argument(
        "--every",
        nargs="+",
        type=int,
        default=[1, 10],
        help="steps between checkpoints (default: 1, always writing one, and 10, with a loss)",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the moments (default: 0)")
    parser.add_argument("--record", type=Path, help="where the record goes (default: nowhere)")
    args = parser.parse_args()
    chance = random.Random(args.seed)
    kinds = [(method, every) for method in args.methods for every in args.every]
    kills: list[dict[str, Any]] = []
    rounds = 0
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="ogg-hpc-soak-") as scratch:
        while len(kills) < args.kills:
            method, every = kinds[rounds % len(kinds)]
            rounds += 1
            wanted = min(args.kills - len(kills), max(1, args.kills // len(kinds)))
            run = Run(Path(scratch, str(rounds)), method, every, args.steps, chance)
            run.finish("whole")
            for _ in range(wanted):
                seen = run.kill(chance.randint(0, max(1, 2 * args.steps // wanted)))
                if seen is None:
                    break
                kills.append({"method": method, "checkpoint_every": every, **seen})
                print(f"kill {len(kills)}: {kills[-1]}", file=sys.stderr, flush=True)
            run.finish("killed")
            if different := run.differences():
                raise SoakError(f"{method}, every {every}: not the same: {', '.join(different)}")
            shutil.rmtree(run.folder)
    lost = [kill["steps_lost"] for kill in kills]
    summary = {
        "ranks": RANKS,
        "steps": args.steps,
        "seed": args.seed,
        "kills": len(kills),
        "runs": rounds,
        "runs_equal_to_undisturbed": rounds,
        "steps_lost": {
            "min": min(lost), "median": statistics.median(lost), "max": max(lost),
        },
        "most_seconds_to_end": max(kill["seconds_to_end"] for kill in kills),
        "seconds": time.monotonic() - begun,
        "each_kill": kills,
    }  # fmt: skip
    print(json.dumps({key: value for key, value in summary.items() if key != "each_kill"}))
    if args.record is not None:
        write_record(args.record, summary)


if __name__ == "__main__":
    main()
