#!/bin/bash
# Learn from actors: learners on nodes with GPUs, actors on nodes without, a heterogeneous job. The
# ranks of both are one MPI world.
#
#     sbatch jobscripts/slurm/actors.sh CONFIG RUN [OPTION of `ogg-hpc actors run`]...
#
# Each rank of the part below is a host of as many environment processes as it has cores. Actors of
# other jobs may join, too: see actor.sh. Time limits and failures of nodes are survived as in
# train.sh; episodes that were running start anew.
#
# To change: the two parts of the job, above and below `#SBATCH hetjob`. Options of sbatch are for
# the part above; those after a colon for the part below:
#     sbatch --partition=gpu : --partition=cpu --nodes=8 jobscripts/slurm/actors.sh ...
# Leaves behind: RUN, and the output of all its parts in actors-JOB.out.
#
#SBATCH --job-name=actors
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-task=1
#SBATCH --cpus-per-task=8
#SBATCH --time=04:00:00
#SBATCH --signal=URG@120
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.out
#SBATCH hetjob
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=32
#SBATCH --time=04:00:00
#SBATCH --signal=URG@120
#SBATCH --requeue

set -euo pipefail
config=${1:?CONFIG is missing} run=${2:?RUN is missing}
source "${OGG_HPC_SITE:-jobscripts/site.sh}"
source jobscripts/slurm/srun.sh

part_of "$run" step_on_both ogg-hpc actors run "$config" --resume "$run" "${@:3}"
