#!/bin/bash
# Run a scaling study: within one allocation of its largest size, each of its numbers of ranks.
#
#     ARGUMENTS="STUDY.toml DIR [OPTION of `ogg-hpc scale run`]..." \
#         bsub -nnodes 2 < jobscripts/lsf/scaling.sh
#
# `ogg-hpc scale run` starts the ranks of each run by jsrun. What is in DIR already is not run
# again: submit the same line again to go on after the time limit.
#
# To change: nodes, for the largest run; time, for all runs together.
# Leaves behind: DIR, which `ogg-hpc scale report` reads, and the output in scaling-JOB.out.
#
#BSUB -J scaling
#BSUB -nnodes 1
#BSUB -W 2:00
#BSUB -r
#BSUB -o scaling-%J.out

set -euo pipefail
[ $# -gt 0 ] || eval "set -- ${ARGUMENTS:?are missing}"
study=${1:?STUDY.toml is missing} folder=${2:?DIR is missing}
source "${OGG_HPC_SITE:-jobscripts/site.sh}"

ogg-hpc scale run "$study" --output "$folder" "${@:3}"
