#!/bin/bash
# Learn a policy by evolution strategies on nodes with GPUs and on nodes without, a heterogeneous
# job: the ranks of both are one MPI world and share the evaluations, so that idle CPU nodes help.
#
#     sbatch jobscripts/slurm/evolve.sh CONFIG RUN [OPTION of `ogg-hpc train`]...
#
# CONFIG has method = "evolution", such as the preset mvc-evolution. Time limits and failures of
# nodes are survived as in train.sh.
#
# To change: the two parts of the job, above and below `#SBATCH hetjob`. Options of sbatch are for
# the part above; those after a colon for the part below:
#     sbatch --partition=gpu : --partition=cpu --nodes=8 jobscripts/slurm/evolve.sh ...
# Leaves behind: RUN, and the output of all its parts in evolve-JOB.out.
#
#SBATCH --job-name=evolve
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-task=1
#SBATCH --cpus-per-task=8
#SBATCH --time=01:00:00
#SBATCH --signal=URG@120
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.out
#SBATCH hetjob
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=32
#SBATCH --cpus-per-task=1
#SBATCH --time=01:00:00
#SBATCH --signal=URG@120
#SBATCH --requeue

set -euo pipefail
config=${1:?CONFIG is missing} run=${2:?RUN is missing}
source "${OGG_HPC_SITE:-jobscripts/site.sh}"
source jobscripts/slurm/srun.sh

part_of "$run" step_on_both ogg-hpc train "$config" --resume "$run" "${@:3}"
