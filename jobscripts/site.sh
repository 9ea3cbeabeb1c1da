# shellcheck shell=bash
# Settings of this site. Every jobscript sources this file, or the one that OGG_HPC_SITE names,
# from the folder in which the job was submitted, under `set -euo pipefail`.
#
# Afterwards `ogg-hpc` is on PATH, and the launcher of the batch system (srun, jsrun) starts it as
# the ranks of one MPI world: options that it needs for that are given by its environment variables.
#
# To change: the environment, and the modules that it needs; SLURM_MPI_TYPE.

source .venv/bin/activate

# How srun wires up MPI. pmi2 is right for the MPICH that `pip install '.[mpi]'` brings;
# `srun --mpi=list` names what there is. A wrong choice is refused with an explanation.
export SLURM_MPI_TYPE=pmi2
