#!/bin/bash
# Train a policy, in as many jobs as it takes.
#
#     ARGUMENTS="CONFIG RUN [OPTION of `ogg-hpc train`]..." bsub < jobscripts/lsf/train.sh
#
# RUN is started, or continued from its newest checkpoint. Two minutes before the time limit LSF
# signals the job: the ranks write a checkpoint and the marker RUN/UNFINISHED and stop, and LSF puts
# a job that ends with 75 into the queue again.
#
# To change: nodes, time (`bsub -nnodes 4 -W 6:00 < ...` wins over the lines below).
# Leaves behind: RUN, and the output of all its parts in train-JOB.out.
#
#BSUB -J train
#BSUB -nnodes 1
#BSUB -W 2:00
#BSUB -wa URG
#BSUB -wt 2
#BSUB -Q "75"
#BSUB -r
#BSUB -o train-%J.out

set -euo pipefail
[ $# -gt 0 ] || eval "set -- ${ARGUMENTS:?are missing}"
config=${1:?CONFIG is missing} run=${2:?RUN is missing}
source "${OGG_HPC_SITE:-jobscripts/site.sh}"
source jobscripts/lsf/jsrun.sh

part_of "$run" step_on_gpus ogg-hpc train "$config" --resume "$run" "${@:3}"
