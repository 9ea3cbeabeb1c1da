# shellcheck shell=bash
# Settings for a site where ogg-hpc runs in an Apptainer image, built from
# jobscripts/containers/ogg-hpc.def. Not run on such a site.
#
# To change: OGG_HPC_IMAGE, and below it one of the two ways in which ranks speak to one another.

export OGG_HPC_IMAGE=${OGG_HPC_IMAGE:-$PWD/ogg-hpc.sif}
# An executable `ogg-hpc` that starts the image.
export PATH=$PWD/jobscripts/containers:$PATH

# 1. The image's own MPICH, started by srun (hybrid model). It knows no fast network: right for one
#    node, and to begin with.
export SLURM_MPI_TYPE=pmi2

# 2. The MPI of the site in place of the image's (bind model): any with the ABI of MPICH, such as
#    Cray MPICH or Intel MPI. Its folders are bound, and mpi4py is told its library:
# module load cray-mpich-abi
# export APPTAINER_BIND=/opt/cray,/var/spool/slurmd
# export APPTAINERENV_LD_LIBRARY_PATH=$CRAY_LD_LIBRARY_PATH:$LD_LIBRARY_PATH
# export APPTAINERENV_MPI4PY_LIBMPI=$CRAY_MPICH_DIR/lib-abi-mpich/libmpi.so.12
# export SLURM_MPI_TYPE=cray_shasta
