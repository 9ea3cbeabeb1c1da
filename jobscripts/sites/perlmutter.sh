# shellcheck shell=bash
# Settings for Perlmutter (NERSC): Slurm, Cray MPICH, four A100 and 64 cores a node. Written from
# the documentation of the site; not run there.
#
# To change: the path of the environment, which was made once, on a login node, by
#     module load PrgEnv-gnu cudatoolkit craype-accel-nvidia80 python
#     MPICC="cc -target-accel=nvidia80 -shared" jobscripts/install.sh .venv cuda12
# Submit with the account, the kind of node, and 16 of its 64 cores a rank:
#     sbatch -A m1234_g -C gpu -q regular --ntasks-per-node=4 --cpus-per-task=32 jobscripts/slurm/...
# (Slurm counts two hardware threads a core there.)

module load PrgEnv-gnu cudatoolkit craype-accel-nvidia80 python
source "${OGG_HPC_VENV:-.venv}/bin/activate"

# Cray MPICH takes buffers of GPUs only with this switch, and ends the job in MPI_Init if its
# transport layer for GPUs (GTL) is not linked: the compiler wrapper `cc` links it into mpi4py when
# it is told the kind of GPU, as above; `mpicc` does not. Unset it to send by way of the host.
export MPICH_GPU_SUPPORT_ENABLED=1

export SLURM_MPI_TYPE=cray_shasta SLURM_CPU_BIND=cores
# All GPUs of the node are visible to all its ranks, so that MPI can copy between them; each rank
# takes that of its number on the node.
export SLURM_GPU_BIND=none
