import importlib.metadata
import os
import shutil
import sys
import tempfile
from collections import namedtuple
from pathlib import Path

import pytest
from local_slurm import Job, LocalSlurm, missing

JOBSCRIPTS = Path(__file__).parents[2] / "jobscripts"

# Where a rank of a job ran; GPUs are those of CUDA_VISIBLE_DEVICES, or none.
Place = namedtuple("Place", "rank node gpus threads")

# MPICH hands memory that it has not written to Slurm's PMI-2, with addresses, in a short form of
# zeros. What Python has left there may be longer than Slurm takes, so it is overwritten by zeros.
_SITE = """
export PATH={programs}:$PATH
export SLURM_MPI_TYPE={mpi}
export MALLOC_PERTURB_=255
"""

# As a site that starts a container would do it; here it only notes where it runs.
_OGG_HPC = """#!/bin/bash
echo "$SLURM_PROCID $SLURMD_NODENAME ${{CUDA_VISIBLE_DEVICES:-none}} ${{OMP_NUM_THREADS:-none}}" \\
    >>"$SLURM_SUBMIT_DIR/places-${{SLURM_JOB_ID_HET_GROUP_0:-$SLURM_JOB_ID}}"
exec {ogg_hpc} "$@"
"""


@pytest.fixture(scope="session")
def cluster(clean_environment):
    """A running Slurm, for all tests."""
    lacking = missing()
    try:
        importlib.metadata.distribution("mpich")
    except importlib.metadata.PackageNotFoundError:
        lacking = lacking or "MPICH, whose ranks Slurm can start: pip install 'ogg-hpc[mpi]'"
    if lacking:
        # Where everything is installed, a missing part must not pass unnoticed.
        give_up = pytest.fail if os.environ.get("CI") else pytest.skip
        give_up(f"needs a Slurm: {lacking}")
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    try:
        with LocalSlurm(folder, clean_environment) as cluster:
            yield cluster
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def make_site(tmp_path_factory):
    """Write the settings of a site whose srun starts MPI in a given way."""

    def make(mpi):
        folder = tmp_path_factory.mktemp("site")
        program = folder / "ogg-hpc"
        program.write_text(_OGG_HPC.format(ogg_hpc=Path(sys.executable).with_name("ogg-hpc")))
        program.chmod(0o755)
        site = folder / "site.sh"
        site.write_text(_SITE.format(programs=folder, mpi=mpi))
        return site

    return make


@pytest.fixture(scope="session")
def site(make_site):
    """The settings of this site."""
    return make_site("pmi2")


@pytest.fixture
def submit(cluster, site, tmp_path):
    """Submit a shipped jobscript as it is, with options of sbatch; return the job.

    With an empty `site` it takes the shipped settings.
    """
    (tmp_path / "jobscripts").symlink_to(JOBSCRIPTS)
    jobs = []

    def submit(script, *arguments, options=(), site=site):
        number = cluster.run(
            "sbatch", "--parsable", f"--export=ALL,OGG_HPC_SITE={site}", *options,
            JOBSCRIPTS / "slurm" / script, *arguments, folder=tmp_path,
        )  # fmt: skip
        jobs.append(Job(cluster, int(number), tmp_path))
        return jobs[-1]

    yield submit
    for job in jobs:
        cluster.run("scancel", "--quiet", str(job.number))


@pytest.fixture
def places(tmp_path):
    """Tell where the ranks of a job ran."""

    def of(job):
        lines = (tmp_path / f"places-{job.number}").read_text().splitlines()
        return sorted(Place(*line.split()) for line in lines)

    return of


@pytest.fixture
def graphs(tmp_path):
    """Small graphs by path, with the sizes of their least vertex covers."""
    edges = {
        "star.txt": "a b\na c\na d\n",
        "path.txt": "1 2\n2 3\n3 4\n",
        "five.txt": "0 1\n1 2\n2 3\n3 4\n4 0\n",
    }
    folder = tmp_path / "graphs"
    folder.mkdir()
    for name, lines in edges.items():
        (folder / name).write_text(lines)
    return {"graphs/star.txt": 1, "graphs/path.txt": 2, "graphs/five.txt": 3}
