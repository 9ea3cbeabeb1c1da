#!/bin/bash
# Convert one graph of any size to a store, by all ranks together.
#
#     ARGUMENTS="INPUT OUTPUT.h5 [OPTION of `ogg-hpc data convert`]..." bsub < jobscripts/lsf/convert.sh
#
# OUTPUT.h5 appears whole or not at all. Finished parts are kept in the hidden folder
# .OUTPUT.h5.parts beside it until then. Two minutes before the time limit LSF signals the job: the
# ranks stop, and LSF puts a job that ends with 75 into the queue again, where it goes on from these
# parts.
#
# To change: nodes, ranks a node, the option --memory, time. Many graphs that are not large are
# rather work for preprocess.sh.
# Leaves behind: OUTPUT.h5, and the output of all its parts in convert-JOB.out.
#
#BSUB -J convert
#BSUB -nnodes 1
#BSUB -W 1:00
#BSUB -wa URG
#BSUB -wt 2
#BSUB -Q "75"
#BSUB -r
#BSUB -o convert-%J.out

set -euo pipefail
[ $# -gt 0 ] || eval "set -- ${ARGUMENTS:?are missing}"
graph=${1:?INPUT is missing} store=${2:?OUTPUT.h5 is missing}
source "${OGG_HPC_SITE:-jobscripts/site.sh}"
source jobscripts/lsf/jsrun.sh

# One rank for the cores of each GPU, without the GPU.
part_of "$(dirname "$store")/.$(basename "$store").parts" \
    step -n$((GPUS_PER_NODE * nodes)) -r"$GPUS_PER_NODE" -a1 -g0 -c"$CORES_PER_GPU" -brs \
    -EOMP_NUM_THREADS=1 ogg-hpc data convert "$graph" "$store" --memory 8G "${@:3}"
