#!/bin/bash
# Solve one graph, shared by all ranks.
#
#     ARGUMENTS="GRAPH [OPTION of `ogg-hpc solve`]..." bsub < jobscripts/lsf/solve.sh
#
# Two minutes before the time limit LSF signals the job, and the best solution so far is verified
# and written.
#
# To change: nodes, time (`bsub -nnodes 4 -W 6:00 < ...` wins over the lines below).
# Leaves behind: the solution (--output, else GRAPH's name with .PROBLEM.json in this folder), and
# the output in solve-JOB.out.
#
#BSUB -J solve
#BSUB -nnodes 1
#BSUB -W 1:00
#BSUB -wa URG
#BSUB -wt 2
#BSUB -r
#BSUB -o solve-%J.out

set -euo pipefail
[ $# -gt 0 ] || eval "set -- ${ARGUMENTS:?are missing}"
source "${OGG_HPC_SITE:-jobscripts/site.sh}"
source jobscripts/lsf/jsrun.sh

step_on_gpus ogg-hpc solve "$@"
