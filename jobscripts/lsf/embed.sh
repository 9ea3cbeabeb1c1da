#!/bin/bash
# Give each node of a graph a vector, in as many jobs as it takes.
#
#     ARGUMENTS="GRAPH EMB.h5 [OPTION of `ogg-hpc embed`]..." bsub < jobscripts/lsf/embed.sh
#
# The run is started, or continued from its newest checkpoint, which the folder EMB.h5.run holds.
# Two minutes before the time limit LSF signals the job: the ranks write a checkpoint and the marker
# EMB.h5.run/UNFINISHED and stop, and LSF puts a job that ends with 75 into the queue again.
#
# To change: nodes, ranks a node, time (`bsub -nnodes 4 -W 6:00 < ...` wins over the lines below).
# Leaves behind: EMB.h5, its folder with the record, and the output of all parts in embed-JOB.out.
#
#BSUB -J embed
#BSUB -nnodes 1
#BSUB -W 2:00
#BSUB -wa URG
#BSUB -wt 2
#BSUB -Q "75"
#BSUB -r
#BSUB -o embed-%J.out

set -euo pipefail
[ $# -gt 0 ] || eval "set -- ${ARGUMENTS:?are missing}"
graph=${1:?GRAPH is missing} output=${2:?EMB.h5 is missing}
source "${OGG_HPC_SITE:-jobscripts/site.sh}"
source jobscripts/lsf/jsrun.sh

# One rank for each core, without GPUs.
part_of "$output.run" \
    step -n$((GPUS_PER_NODE * nodes)) -r"$GPUS_PER_NODE" -a"$CORES_PER_GPU" -g0 \
    -c"$CORES_PER_GPU" -bpacked:1 -EOMP_NUM_THREADS=1 \
    ogg-hpc embed "$graph" --output "$output" --resume "${@:3}"
