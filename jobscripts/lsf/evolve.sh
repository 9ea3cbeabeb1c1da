#!/bin/bash
# Learn a policy by evolution strategies with ranks on the GPUs and ranks on single cores of the
# same nodes: both are one MPI world and share the evaluations, so that idle cores help.
#
#     ARGUMENTS="CONFIG RUN [OPTION of `ogg-hpc train`]..." bsub < jobscripts/lsf/evolve.sh
#
# CONFIG has method = "evolution", such as the preset mvc-evolution. Time limits and failures of
# nodes are survived as in train.sh.
#
# All resource sets of one `jsrun` are alike unless an explicit resource file says otherwise: one
# core and the GPU for a rank on a GPU, one core for each of the other ranks.
#
# To change: nodes, time (`bsub -nnodes 4 -W 6:00 < ...` wins over the lines below).
# Leaves behind: RUN, evolve-JOB.erf, and the output of all its parts in evolve-JOB.out.
#
#BSUB -J evolve
#BSUB -nnodes 1
#BSUB -W 2:00
#BSUB -wa URG
#BSUB -wt 2
#BSUB -Q "75"
#BSUB -r
#BSUB -o evolve-%J.out

set -euo pipefail
[ $# -gt 0 ] || eval "set -- ${ARGUMENTS:?are missing}"
config=${1:?CONFIG is missing} run=${2:?RUN is missing}
source "${OGG_HPC_SITE:-jobscripts/site.sh}"
source jobscripts/lsf/jsrun.sh

part_of "$run" step_on_gpus_and_cores "evolve-$LSB_JOBID.erf" 1 \
    ogg-hpc train "$config" --resume "$run" "${@:3}"
