#!/bin/bash
# Run a scaling study: within one allocation of its largest size, each of its numbers of ranks.
#
#     sbatch --nodes=2 jobscripts/slurm/scaling.sh STUDY.toml DIR [OPTION of `ogg-hpc scale run`]...
#
# `ogg-hpc scale run` starts the ranks of each measurement by srun. What has a record in DIR is not
# measured again: submit the same line again to go on after the time limit.
#
# To change: nodes and ranks a node, for the largest number of ranks; cores a rank (`threads` of
# the study); GPUs (--gpus-per-task=0 for none); time, for all measurements together.
# Leaves behind: DIR, with report.md, tables and plots, and the output in scaling-JOB.out.
#
#SBATCH --job-name=scaling
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-task=1
#SBATCH --cpus-per-task=8
#SBATCH --exclusive
#SBATCH --time=02:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.out

set -euo pipefail
study=${1:?STUDY.toml is missing} folder=${2:?DIR is missing}
source "${OGG_HPC_SITE:-jobscripts/site.sh}"

ogg-hpc scale run "$study" --output "$folder" "${@:3}"
