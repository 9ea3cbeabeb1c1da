#!/bin/bash
# Train a policy, in as many jobs as it takes.
#
#     sbatch jobscripts/slurm/train.sh CONFIG RUN [OPTION of `ogg-hpc train`]...
#
# RUN is started, or continued from its newest checkpoint. Shortly before the time limit Slurm
# signals the ranks: they write a checkpoint and the marker RUN/UNFINISHED and stop, and the job
# puts itself into the queue again. When a node fails, Slurm does that.
#
# To change: nodes, ranks a node (one a GPU; --gpus-per-task=0 for none), cores a rank, time.
# Leaves behind: RUN, and the output of all its parts in train-JOB.out.
#
#SBATCH --job-name=train
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-task=1
#SBATCH --cpus-per-task=8
#SBATCH --time=04:00:00
#SBATCH --signal=URG@120
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.out

set -euo pipefail
config=${1:?CONFIG is missing} run=${2:?RUN is missing}
source "${OGG_HPC_SITE:-jobscripts/site.sh}"
source jobscripts/slurm/srun.sh

part_of "$run" step ogg-hpc train "$config" --resume "$run" "${@:3}"
