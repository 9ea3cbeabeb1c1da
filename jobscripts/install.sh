#!/bin/bash
# Install ogg-hpc on a cluster, against the MPI of the site: run it once, on a login node, from the
# root of the project, with the site's modules loaded.
#
#     module load ...
#     MPICC="cc -shared" jobscripts/install.sh VENV [EXTRA]...
#
# MPICC is the site's compiler for MPI (default: mpicc). EXTRA is `cuda12` or `cuda13`, by the
# driver's CUDA; V100 needs PIP_CONSTRAINT=constraints/v100.txt as well.
#
# To change: nothing. Leaves behind: VENV, with the compiled code of Numba in it. What to check next
# is the last line that it prints.

set -euo pipefail
venv=${1:?VENV is missing} extras=("${@:2}")
extra_list=$(IFS=, && echo "${extras[*]}")

# The `mpi` extra would bring a second MPI, which knows neither the network nor the launcher.
if [[ ,$extra_list, == *,mpi,* ]]; then
    echo "the extra mpi is for machines without an MPI: leave it out" >&2
    exit 2
fi

python3 -m venv "$venv"
MPICC=${MPICC:-mpicc} "$venv/bin/pip" install --no-cache-dir --no-binary=mpi4py "mpi4py>=4.0"
"$venv/bin/pip" install ".${extra_list:+[$extra_list]}"

# MPI itself may refuse to start on a login node; its name can be asked for before that.
"$venv/bin/python" - <<'PYTHON'
import mpi4py
mpi4py.rc.initialize = False
from mpi4py import MPI
print("mpi4py is built with", MPI.Get_library_version().splitlines()[0])
PYTHON

# Compiled once here, and kept beside the package, rather than by every rank of the first job.
"$venv/bin/ogg-hpc" solve datasets/debian-bookworm.h5 --device cpu --output "$venv/first.json"
"$venv/bin/ogg-hpc" verify datasets/debian-bookworm.h5 "$venv/first.json"
rm "$venv/first.json"

echo "Check in a job: the launcher, 'ogg-hpc info', once on two nodes: as many ranks as started."
