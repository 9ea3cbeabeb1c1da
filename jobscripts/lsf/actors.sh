#!/bin/bash
# Learn from actors: a learner on each GPU, and beside it an actor on the other cores that the node
# has for each GPU. The ranks of both are one MPI world.
#
#     ARGUMENTS="CONFIG RUN [OPTION of `ogg-hpc actors run`]..." bsub < jobscripts/lsf/actors.sh
#
# Each actor is a host of as many environment processes as it has cores. Actors of other jobs may
# join, too: see actor.sh. Time limits and failures of nodes are survived as in train.sh; episodes
# that were running start anew.
#
# To change: nodes, time (`bsub -nnodes 4 -W 6:00 < ...` wins over the lines below).
# Leaves behind: RUN, actors-JOB.erf, and the output of all its parts in actors-JOB.out.
#
#BSUB -J actors
#BSUB -nnodes 1
#BSUB -W 2:00
#BSUB -wa URG
#BSUB -wt 2
#BSUB -Q "75"
#BSUB -r
#BSUB -o actors-%J.out

set -euo pipefail
[ $# -gt 0 ] || eval "set -- ${ARGUMENTS:?are missing}"
config=${1:?CONFIG is missing} run=${2:?RUN is missing}
source "${OGG_HPC_SITE:-jobscripts/site.sh}"
source jobscripts/lsf/jsrun.sh

part_of "$run" step_on_gpus_and_cores "actors-$LSB_JOBID.erf" $((CORES_PER_GPU - 1)) \
    ogg-hpc actors run "$config" --resume "$run" "${@:3}"
