"""How the ranks of a measurement are started, and jobs are submitted."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from ogg_hpc.errors import MissingExtraError, SettingsError

MPIEXEC, SLURM, LSF = "mpiexec", "slurm", "lsf"


def launch_command(launcher: str, ranks: int, threads: int = 1, gpu: bool = False) -> list[str]:
    """Return the words that come before a command to start it on P ranks.

    Parameters
    ----------
    launcher
        `MPIEXEC`, `SLURM` (srun), `LSF` (jsrun), or a command with ``{ranks}`` in it.
    ranks, threads
        P, and the cores of each rank.
    gpu
        Whether each rank gets a GPU from the batch system.

    Raises
    ------
    SettingsError
        A command without ``{ranks}``.
    MissingExtraError
        There is no mpiexec, for more than one rank.
    """
    if launcher == SLURM:
        gpus = ["--gpus-per-task=1"] if gpu else []
        each = f"--cpus-per-task={threads}"
        return ["srun", "--kill-on-bad-exit=1", f"--ntasks={ranks}", each, *gpus]
    if launcher == LSF:
        sets = [f"-n{ranks}", "-a1", f"-g{int(gpu)}", f"-c{threads}", "-brs", "-dpacked"]
        smpi = ["--smpiargs=-gpu"] if gpu else []
        return ["jsrun", *sets, f"-EOMP_NUM_THREADS={threads}", *smpi]
    if launcher == MPIEXEC:
        return _mpiexec(ranks)
    if "{ranks}" not in launcher:
        raise SettingsError(
            f"--launcher {launcher!r}: write {{ranks}} where the number of ranks goes, as in "
            "--launcher 'mpiexec -n {ranks}'"
        )
    return [word.replace("{ranks}", str(ranks)) for word in shlex.split(launcher)]


def launcher_here(environment: Mapping[str, str] = os.environ) -> str:
    """Return the launcher of the allocation that this process is in, mpiexec without one."""
    for launcher, variable, command in (
        (SLURM, "SLURM_JOB_ID", "srun"),
        (LSF, "LSB_JOBID", "jsrun"),
    ):
        if environment.get(variable) and shutil.which(command):
            return launcher
    return MPIEXEC


def step_name(number: int, environment: Mapping[str, str] = os.environ) -> str:
    """Return a name for a step of a Slurm job that no step before a requeue has had.

    By pmi2 MPICH names its shared memory after it. The numbers of job and step alone are the same
    after a requeue, and then ranks would take for their own what killed ones have left.
    """
    restarts = environment.get("SLURM_RESTART_COUNT", "0")
    return f"{environment.get('SLURM_JOB_ID', '')}.{restarts}.{number}"


def submit_command(scheduler: str) -> str:
    """Return the name of the command that submits the script on its standard input.

    Raises
    ------
    SettingsError
        There is no such command here.
    """
    command = {SLURM: "sbatch", LSF: "bsub"}[scheduler]
    if shutil.which(command) is None:
        raise SettingsError(f"there is no {command} here; submit on a login node")
    return command


def _mpiexec(ranks: int) -> list[str]:
    # That of the environment before any other: it belongs to the library that mpi4py loads.
    beside = Path(sys.executable).with_name("mpiexec")
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    if found is not None:
        return [found, "-n", str(ranks)]
    if ranks > 1:
        raise MissingExtraError("mpiexec", "mpi")
    return []  # one rank needs none
