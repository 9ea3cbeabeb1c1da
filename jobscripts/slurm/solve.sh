#!/bin/bash
# Solve one graph, shared by all ranks.
#
#     sbatch jobscripts/slurm/solve.sh GRAPH [OPTION of `ogg-hpc solve`]...
#
# Shortly before the time limit Slurm signals the ranks, and the best solution so far is verified
# and written.
#
# To change: nodes, ranks a node (one a GPU; --gpus-per-task=0 for none), cores a rank, time.
# Leaves behind: the solution (--output, else GRAPH's name with .PROBLEM.json in this folder), and
# the output in solve-JOB.out.
#
#SBATCH --job-name=solve
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-task=1
#SBATCH --cpus-per-task=8
#SBATCH --time=01:00:00
#SBATCH --signal=URG@120
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.out

set -euo pipefail
source "${OGG_HPC_SITE:-jobscripts/site.sh}"
source jobscripts/slurm/srun.sh

step ogg-hpc solve "$@"
