"""What the benchmarks share."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import subprocess
import time
from pathlib import Path

import numpy as np

from ogg_hpc.runtime.environment import versions
from ogg_hpc.runtime.files import write_whole

FIRST_STEPS = 100
PATIENCE = 30  # seconds for the first steps of an engine on one graph


class EnoughError(Exception):
    """Ends a search that was only started to time its first steps."""


def first_steps(run):
    """Return the median time of the first steps, at most 100 and at most for some seconds."""
    steps, moments = [0], [time.perf_counter()]

    def on_step(step, left):
        steps.append(step)
        moments.append(time.perf_counter())
        if step >= FIRST_STEPS or moments[-1] - moments[0] > PATIENCE:
            raise EnoughError

    with contextlib.suppress(EnoughError):
        run(on_step)
    return float(np.median(np.diff(moments) / np.diff(steps)))


def write_record(path, results):
    """Write results with the commit, the machine and the versions that they were measured with."""
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    record = {
        "commit": commit,
        "machine": {"processor": processor(), "cores": len(os.sched_getaffinity(0))},
        "versions": versions(),
        "results": results,
    }
    with write_whole(path) as temporary:
        temporary.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def processor():
    """Return the processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":")[1].strip() for line in lines if "model name" in line), "unknown")
