"""Kill conversions at random moments; each must end, after a resume, as if nothing had happened.

Converts an edge list with names undisturbed, and then again and again: each time a rank or the
launcher is killed (SIGKILL) at a moment drawn evenly from the time that a whole conversion takes.
No process and no half-written store may be left. The same command, on another number of ranks,
must then give the bytes of the undisturbed store and leave nothing beside it.

    python scripts/kill_conversions.py --kills 20 --record benchmarks/kill_conversions.json
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from watched_job import WatchedJob

from ogg_hpc.runtime.files import sha256_of_file
from ogg_hpc.scaling.launcher import MPIEXEC, launch_command

sys.path.append(str(Path(__file__).resolve().parents[1] / "benchmarks"))
from common import write_record

LIMIT = 60.0  # seconds for all processes to end after a kill
END_LIMIT = 600.0
OUTPUT = "output.h5"


class SoakError(Exception):
    """The promise is broken."""


class Conversion:
    """One edge list, converted again and again.

    Parameters
    ----------
    folder
        For everything.
    edges
        Lines of the list.
    chance
        Decides whom a kill hits, and when.
    """

    def __init__(self, folder: Path, edges: int, chance: random.Random) -> None:
        self._folder, self._chance = folder, chance
        numbers = np.random.default_rng(chance.getrandbits(32))
        ends = np.sort(numbers.integers(0, edges // 4, (edges, 2)), axis=0)
        numbers.shuffle(ends)
        lines = (f"user-{u}\tuser-{v}\n" for u, v in ends.tolist())
        (folder / "edges.txt").write_text("".join(lines), encoding="utf-8")
        start = time.monotonic()
        self._finish(2)
        self._seconds = time.monotonic() - start
        self._digest = sha256_of_file(folder / OUTPUT)

    def _start(self, ranks: int) -> WatchedJob:
        ogg = [sys.executable, "-m", "ogg_hpc", "data", "convert", "edges.txt", OUTPUT]
        return WatchedJob([*launch_command(MPIEXEC, ranks), *ogg], os.environ, self._folder)

    def _finish(self, ranks: int) -> None:
        with self._start(ranks) as job:
            if code := job.wait_for_the_end(END_LIMIT):
                raise SoakError(f"the conversion ended with exit code {code}: {job.errors}")

    def kill(self) -> dict[str, Any] | None:
        """Convert, kill, convert to the end; return what was seen, None if it ended before."""
        (self._folder / OUTPUT).unlink()
        ranks, again = self._chance.choice([(1, 2), (2, 1), (2, 2)])
        victim = self._chance.choice(["launcher", *(f"rank {rank}" for rank in range(ranks))])
        moment = self._chance.uniform(0.0, self._seconds)
        with self._start(ranks) as job:
            begun = time.monotonic()
            if not job.wait_until(lambda: time.monotonic() - begun > moment):
                return None
            target = job.process.pid if victim == "launcher" else job.rank(int(victim[-1]))
            if target is None:  # not even that far
                victim, target = "launcher", job.process.pid
            os.kill(target, signal.SIGKILL)
            killed = time.monotonic()
            job.wait_for_the_end(LIMIT)
            seconds = time.monotonic() - killed
            if "Traceback" in job.errors:
                raise SoakError(f"a killed conversion says {job.errors}")
        seen = {
            "ranks": ranks,
            "victim": victim,
            "moment": moment,
            "seconds_to_end": seconds,
            "finished_parts": len(list(self._folder.glob(".*.parts/[!.]*.npz"))),
            "ranks_after": again,
        }
        if (self._folder / OUTPUT).exists():
            self._check()  # whole, if it is there
        self._finish(again)
        self._check()
        if left := [path.name for path in self._folder.glob(".*")]:
            raise SoakError(f"left beside the store: {', '.join(left)}")
        return seen

    def _check(self) -> None:
        if sha256_of_file(self._folder / OUTPUT) != self._digest:
            raise SoakError("the store is not that of the undisturbed conversion")


def main() -> None:
    """Run the soak and write its record."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=20, help="in all (default: 20)")
    parser.add_argument("--edges", type=int, default=3_000_000, help="(default: 3,000,000)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments (default: 0)")
    parser.add_argument("--record", type=Path, help="where the record goes (default: nowhere)")
    args = parser.parse_args()
    begun = time.monotonic()
    kills: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="ogg-hpc-soak-") as scratch:
        conversion = Conversion(Path(scratch), args.edges, random.Random(args.seed))
        while len(kills) < args.kills:
            if (seen := conversion.kill()) is not None:
                kills.append(seen)
                print(f"kill {len(kills)}: {seen}", file=sys.stderr, flush=True)
    summary = {
        "edges": args.edges,
        "seed": args.seed,
        "kills": len(kills),
        "stores_equal_to_undisturbed": len(kills),
        "most_seconds_to_end": max(kill["seconds_to_end"] for kill in kills),
        "seconds": time.monotonic() - begun,
        "each_kill": kills,
    }
    print(json.dumps({key: value for key, value in summary.items() if key != "each_kill"}))
    if args.record is not None:
        write_record(args.record, summary)


if __name__ == "__main__":
    main()
