#!/bin/bash
# Convert graphs to stores, several at a time, and check every store.
#
#     sbatch jobscripts/slurm/preprocess.sh STORES GRAPH...
#
# A graph in any format becomes STORES/NAME.h5, which appears whole or not at all; NAME is the name
# of the file without its suffixes. Stores that exist are checked only: submit the same line again
# to convert what is missing.
#
# To change: cores, which is how many graphs are converted at a time; memory for as many; time.
# Leaves behind: the stores, and the output in preprocess-JOB.out. A graph that cannot be read, or
# a store that is broken, fails the job when all others are done.
#
#SBATCH --job-name=preprocess
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=8
#SBATCH --time=01:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.out

set -euo pipefail
source "${OGG_HPC_SITE:-jobscripts/site.sh}"

jobscripts/convert_each.sh "$SLURM_CPUS_PER_TASK" "$@"
