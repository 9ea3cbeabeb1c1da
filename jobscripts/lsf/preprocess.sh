#!/bin/bash
# Convert graphs to stores, several at a time, and check every store.
#
#     ARGUMENTS="STORES GRAPH..." bsub < jobscripts/lsf/preprocess.sh
#
# A graph in any format becomes STORES/NAME.h5, which appears whole or not at all; NAME is the name
# of the file without its suffixes. Stores that exist are checked only: submit the same line again
# to convert what is missing.
#
# To change: time. All cores of one node convert a graph each at a time.
# Leaves behind: the stores, and the output in preprocess-JOB.out. A graph that cannot be read, or
# a store that is broken, fails the job when all others are done.
#
#BSUB -J preprocess
#BSUB -nnodes 1
#BSUB -W 1:00
#BSUB -r
#BSUB -o preprocess-%J.out

set -euo pipefail
[ $# -gt 0 ] || eval "set -- ${ARGUMENTS:?are missing}"
source "${OGG_HPC_SITE:-jobscripts/site.sh}"
source jobscripts/lsf/jsrun.sh

cores=$((GPUS_PER_NODE * CORES_PER_GPU))
step -n1 -a1 -g0 -c"$cores" -brs -EOMP_NUM_THREADS=1 jobscripts/convert_each.sh "$cores" "$@"
