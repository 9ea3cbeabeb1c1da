"""Site files leave a jobscript what it needs, and the environment they name can be installed."""

import os
import subprocess
from pathlib import Path

import pytest

JOBSCRIPTS = Path(__file__).parents[2] / "jobscripts"
SITES = sorted(JOBSCRIPTS.glob("sites/*.sh"))


@pytest.fixture
def environment(tmp_path):
    """A virtual environment that does nothing, and a Python that makes one like it."""
    venv = tmp_path / "venv"
    commands = tmp_path / "commands"
    for folder in (commands, venv / "bin"):
        folder.mkdir(parents=True)
    log = f'#!/bin/sh\necho "$(basename "$0") $* MPICC=${{MPICC:-}}" >>"{tmp_path}/log"\n'
    for command in ("python", "pip", "ogg-hpc"):
        (venv / "bin" / command).write_text(log)
    (commands / "python3").write_text(log + 'touch "$3/first.json"\n')
    for command in (*commands.iterdir(), *venv.glob("bin/*")):
        command.chmod(0o755)
    (venv / "bin" / "activate").write_text(f'PATH="{venv}/bin:$PATH"\n')
    return {
        "PATH": f"{commands}:{os.environ['PATH']}",
        "USER": "somebody",
        "OGG_HPC_VENV": str(venv),
    }


@pytest.mark.parametrize("site", SITES, ids=lambda path: path.stem)
def test_site_puts_the_command_on_the_path(site, environment):
    script = f"""
set -euo pipefail
module() {{ [ "$1" = load ]; }}
source {site}
command -v ogg-hpc
env
"""
    run = subprocess.run(
        ["bash", "-c", script], env=environment, cwd=JOBSCRIPTS.parent, capture_output=True,
        text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    command, *variables = run.stdout.splitlines()
    assert os.access(command, os.X_OK)
    names = {variable.partition("=")[0] for variable in variables}
    launcher = {"GPUS_PER_NODE", "CORES_PER_GPU"} if site.stem == "summit" else {"SLURM_MPI_TYPE"}
    assert launcher <= names or site.stem == "frontier"


def install(environment, *arguments):
    return subprocess.run(
        [JOBSCRIPTS / "install.sh", *arguments], env=environment, cwd=JOBSCRIPTS.parent,
        capture_output=True, text=True,
    )  # fmt: skip


def test_mpi4py_is_built_by_the_compiler_of_the_site(environment, tmp_path):
    venv = environment["OGG_HPC_VENV"]
    run = install({**environment, "MPICC": "cc -shared"}, venv, "cuda12", "solvers")
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "log").read_text().splitlines()[:3] == [
        f"python3 -m venv {venv} MPICC=cc -shared",
        "pip install --no-cache-dir --no-binary=mpi4py mpi4py>=4.0 MPICC=cc -shared",
        "pip install .[cuda12,solvers] MPICC=cc -shared",
    ]


def test_no_extra_is_no_extra(environment, tmp_path):
    assert install(environment, environment["OGG_HPC_VENV"]).returncode == 0
    log = (tmp_path / "log").read_text()
    assert "pip install --no-cache-dir --no-binary=mpi4py mpi4py>=4.0 MPICC=mpicc\n" in log
    assert "pip install . MPICC=\n" in log


def test_a_second_mpi_is_refused(environment, tmp_path):
    run = install(environment, environment["OGG_HPC_VENV"], "cuda12", "mpi")
    assert (run.returncode, (tmp_path / "log").exists()) == (2, False)
    assert "the extra mpi is for machines without an MPI" in run.stderr
