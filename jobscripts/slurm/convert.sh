#!/bin/bash
# Convert one graph of any size to a store, by all ranks together.
#
#     sbatch jobscripts/slurm/convert.sh INPUT OUTPUT.h5 [OPTION of `ogg-hpc data convert`]...
#
# OUTPUT.h5 appears whole or not at all. Finished parts are kept in the hidden folder
# .OUTPUT.h5.parts beside it until then. Shortly before the time limit Slurm signals the ranks: they
# stop, and the job puts itself into the queue again, where it goes on from these parts. When a node
# fails, Slurm does that.
#
# To change: nodes, ranks a node, time; the option --memory, which has to be less than what the job
# has for each rank. Many graphs that are not large are rather work for preprocess.sh.
# Leaves behind: OUTPUT.h5, and the output of all its parts in convert-JOB.out.
#
#SBATCH --job-name=convert
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=1
#SBATCH --time=01:00:00
#SBATCH --signal=URG@120
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.out

set -euo pipefail
graph=${1:?INPUT is missing} store=${2:?OUTPUT.h5 is missing}
source "${OGG_HPC_SITE:-jobscripts/site.sh}"
source jobscripts/slurm/srun.sh

part_of "$(dirname "$store")/.$(basename "$store").parts" \
    step ogg-hpc data convert "$graph" "$store" --memory 2G "${@:3}"
