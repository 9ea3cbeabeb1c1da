#!/bin/bash
# Step environments for a run of another job, on nodes without GPUs: the run is faster by them, and
# goes on without them when this job ends.
#
#     sbatch jobscripts/slurm/actor.sh FILE [OPTION of `ogg-hpc actors actor`]...
#
# FILE is RUN/controllers/NODE.json, which a run writes on each node with learners when its settings
# say where to listen, such as `--set remote.listen=0.0.0.0:0` of actors.sh. Each task connects to
# that node, has as many environment processes as cores, and leaves when the run is finished.
# Shortly before the time limit Slurm signals them: they hand over what they have, and leave.
#
# To change: nodes, cores, time.
# Leaves behind: the output in actor-JOB.out.
#
#SBATCH --job-name=actor
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=32
#SBATCH --time=04:00:00
#SBATCH --signal=URG@120
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.out

set -euo pipefail
connect=${1:?FILE is missing}
source "${OGG_HPC_SITE:-jobscripts/site.sh}"
source jobscripts/slurm/srun.sh

step ogg-hpc actors actor --connect "$connect" "${@:2}"
