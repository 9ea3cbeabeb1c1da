# shellcheck shell=bash
# Settings for a machine like Summit: IBM POWER9 nodes with six V100, LSF, jsrun and Spectrum MPI.
# Summit itself was switched off on 15 November 2024. Not run on such a machine.
#
# To change: the modules, the environment, and, for nodes of another shape, the numbers at the end.
# The environment is made on a login node with these modules, by
#     MPICC=mpicc PIP_CONSTRAINT=constraints/v100.txt jobscripts/install.sh .venv
# PyPI has neither torch nor CuPy for POWER9: have builds for Python 3.11 or later, from the site or
# from source, installed in .venv before. On x86-64 nodes with V100 the extra is cuda12.

module load gcc cuda spectrum-mpi python
source "${OGG_HPC_VENV:-.venv}/bin/activate"

# A node has two sockets of 21 cores (and one for the system), 4 hardware threads a core, 3 GPUs.
export GPUS_PER_NODE=6 CORES_PER_GPU=7 THREADS_PER_CORE=4
