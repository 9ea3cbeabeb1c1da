# shellcheck shell=bash
# Settings for Frontier (OLCF): Slurm, Cray MPICH, four MI250X, which are eight GPUs of 64 GB, and
# 56 cores for users a node. Written from the documentation of the site; not run there, nor has
# ogg-hpc been run on an AMD GPU.
#
# To change: the project's paths, and the environment, which was made once, on a login node, by
#     module load PrgEnv-gnu rocm craype-accel-amd-gfx90a cray-python
#     python3 -m venv .venv
#     .venv/bin/pip install torch --index-url https://download.pytorch.org/whl/rocmX.Y
#     MPICC="cc -shared" jobscripts/install.sh .venv
#     .venv/bin/pip install cupy-rocm-7-0     # for ROCm 7; for others from source:
#     CUPY_INSTALL_USE_HIP=1 ROCM_HOME=$ROCM_PATH HCC_AMDGPU_TARGET=gfx90a CC=gcc CXX=g++ \
#         .venv/bin/pip install --no-cache-dir --no-binary=cupy cupy
# with torch and CuPy for the ROCm of the module. Submit with the account, and 7 cores a rank:
#     sbatch -A ABC123 --ntasks-per-node=8 --cpus-per-task=7 jobscripts/slurm/...

module load PrgEnv-gnu rocm craype-accel-amd-gfx90a cray-python
source "${OGG_HPC_VENV:-.venv}/bin/activate"

# See perlmutter.sh. `cc` links the GTL into mpi4py where the module craype-accel-amd-gfx90a is.
export MPICH_GPU_SUPPORT_ENABLED=1

# Each GPU has cores of its own; Slurm shows a rank the one that is closest to its cores, by
# ROCR_VISIBLE_DEVICES.
export SLURM_GPU_BIND=closest

# Compute nodes cannot write home folders, where CuPy would keep compiled kernels.
export CUPY_CACHE_DIR=/tmp/cupy-$USER
