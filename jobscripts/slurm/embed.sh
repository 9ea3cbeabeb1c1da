#!/bin/bash
# Give each node of a graph a vector, in as many jobs as it takes.
#
#     sbatch jobscripts/slurm/embed.sh GRAPH EMB.h5 [OPTION of `ogg-hpc embed`]...
#
# The run is started, or continued from its newest checkpoint, which the folder EMB.h5.run holds.
# Shortly before the time limit Slurm signals the ranks: they write a checkpoint and the marker
# EMB.h5.run/UNFINISHED and stop, and the job puts itself into the queue again. When a node fails,
# Slurm does that.
#
# To change: nodes, ranks a node (one a core), time.
# Leaves behind: EMB.h5, its folder with the record, and the output of all parts in embed-JOB.out.
#
#SBATCH --job-name=embed
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=32
#SBATCH --cpus-per-task=1
#SBATCH --time=04:00:00
#SBATCH --signal=URG@120
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.out

set -euo pipefail
graph=${1:?GRAPH is missing} output=${2:?EMB.h5 is missing}
source "${OGG_HPC_SITE:-jobscripts/site.sh}"
source jobscripts/slurm/srun.sh

part_of "$output.run" step ogg-hpc embed "$graph" --output "$output" --resume "${@:3}"
