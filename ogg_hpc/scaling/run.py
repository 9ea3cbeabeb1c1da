"""Measure the points of a study that have no record yet, one after another, or submit them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from ogg_hpc.errors import OggError, SettingsError, StoppedError
from ogg_hpc.runtime.launch import die_with_parent
from ogg_hpc.runtime.signals import noted_signals
from ogg_hpc.scaling.folder import StudyFolder
from ogg_hpc.scaling.jobscripts import SCHEDULERS, job_file
from ogg_hpc.scaling.launcher import LSF, SLURM, launch_command, step_name, submit_command
from ogg_hpc.scaling.points import Point
from ogg_hpc.scaling.records import read_record

_PATIENCE = 10.0  # seconds that a launcher has to end its ranks


def run_points(folder: StudyFolder, launcher: str, say: Callable[[str], None]) -> dict[str, str]:
    """Measure what has no record yet; go on after a point that fails.

    Each point is a run of ``ogg-hpc scale measure`` under the launcher. This process starts no
    MPI: it may itself be no rank.

    Parameters
    ----------
    folder
        The planned study.
    launcher
        As for `launch_command`.
    say
        Told of each point.

    Returns
    -------
    dict of str to str
        By the name of each point that failed what its program said last.

    Raises
    ------
    StoppedError
        A signal has come; the same command goes on with what is left.
    """
    failures = {}
    missing = folder.missing()
    with noted_signals() as stop:
        for number, point in enumerate(missing, start=1):
            failure = _measure(folder, point, launcher, stop)
            if stop():
                left = len(folder.missing())
                raise StoppedError(
                    f"stopped by a signal with {left} of {len(folder.points)} points to measure; "
                    "the same command goes on"
                )
            if failure is None:
                seconds = read_record(folder.record_file(point)).seconds
                outcome = f"{seconds:.4g} s a step"
            else:
                failures[point.name] = failure
                outcome = f"failed: {failure} (see {folder.log_file(point)})"
            say(f"[{number}/{len(missing)}] {point.name}: {outcome}")
    return failures


def submit(folder: StudyFolder) -> dict[str, str]:
    """Submit the jobscripts of what has no record yet.

    Returns
    -------
    dict of str to str
        By the name of each script what the batch system answered.

    Raises
    ------
    OggError
        No jobscripts, no such command, or a script that was refused.
    """
    answers = {}
    for ranks in sorted({point.ranks for point in folder.missing()}):
        script = job_file(folder, ranks)
        if not script.exists():
            raise SettingsError(
                f"{script}: no such jobscript; plan with --scheduler {' or '.join(SCHEDULERS)}"
            )
        text = script.read_text(encoding="utf-8")
        command = submit_command(SLURM if "#SBATCH" in text else LSF)
        done = subprocess.run([command], input=text, capture_output=True, text=True)
        if done.returncode:
            raise OggError(f"{command} < {script}: {done.stderr.strip() or done.stdout.strip()}")
        answers[script.name] = done.stdout.strip()
    return answers


def _measure(
    folder: StudyFolder, point: Point, launcher: str, stop: Callable[[], object]
) -> str | None:
    """Measure a point; return what was said last if that failed."""
    study, record, log = folder.study, folder.record_file(point), folder.log_file(point)
    command = [
        *launch_command(launcher, point.ranks, study.threads, study.device == "cuda"),
        *(sys.executable, "-m", "ogg_hpc", "scale", "measure"),
        *(str(folder.point_file(point)), "--output", str(record), "--device", study.device),
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": str(study.threads)}
    if launcher == SLURM:
        environment["SLURM_PMI2_PMI_JOBID"] = step_name(folder.points.index(point))
    log.parent.mkdir(exist_ok=True)
    with log.open("w", encoding="utf-8") as output:
        code = _until_stopped(command, environment, output.fileno(), stop)
    if code == 0 and record.exists():
        return None
    return _last_words(log) or f"exit code {code}"


def _until_stopped(
    command: Sequence[str], environment: dict[str, str], output: int, stop: Callable[[], object]
) -> int:
    """Run a command; end it where `stop` says so, or where this process fails."""
    try:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            # A launcher left alone would measure beside the next run of the study.
            preexec_fn=partial(die_with_parent, signal.SIGTERM),
        )
    except OSError as error:
        raise SettingsError(f"{command[0]} cannot be started: {error.strerror}") from None
    try:
        while not stop():
            try:
                return process.wait(timeout=0.5)
            except subprocess.TimeoutExpired:
                continue
        return process.wait(timeout=0)
    except subprocess.TimeoutExpired:
        return -1
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _last_words(log: Path) -> str:
    """Return our own message if there is one, else the last line."""
    lines = [line.strip() for line in log.read_text("utf-8", "replace").splitlines()]
    said = [line for line in lines if line]
    own = [line for line in said if line.startswith("ogg-hpc: ")]
    return (own or said or [""])[-1].removeprefix("ogg-hpc: ")
