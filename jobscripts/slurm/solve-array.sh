#!/bin/bash
# Solve many graphs, each on the ranks of one task of an array.
#
#     sbatch --array=0-15 jobscripts/slurm/solve-array.sh LIST RESULTS [OPTION of `ogg-hpc solve`]...
#
# LIST names a graph a line. The tasks of the array deal the lines out among themselves, so that
# any number of tasks fits any number of graphs. A graph that cannot be solved does not keep a
# task from the others. Graphs with a record are left out: submit the same line again to solve
# what is missing, whether it failed or time ran out: a solve that a signal has stopped leaves its
# best solution, but no record. One RESULTS is for one set of options.
#
# To change: the size of the array, ranks and cores a task (--gpus-per-task=0 for no GPU), time.
# Leaves behind, in RESULTS, for each graph: NAME.record.json, the record of the solve, and
# NAME.solution.json, where NAME is the graph's path with % for /. The output of a task is in
# solve-array-JOB_TASK.out.
#
#SBATCH --job-name=solve-array
#SBATCH --array=0-3
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-task=1
#SBATCH --cpus-per-task=8
#SBATCH --time=01:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%A_%a.out

set -euo pipefail
list=${1:?LIST is missing} results=${2:?RESULTS is missing}
source "${OGG_HPC_SITE:-jobscripts/site.sh}"
source jobscripts/slurm/srun.sh
source jobscripts/solve_once.sh

if (((SLURM_ARRAY_TASK_MAX - SLURM_ARRAY_TASK_MIN) / SLURM_ARRAY_TASK_STEP + 1 != SLURM_ARRAY_TASK_COUNT)); then
    echo "the numbers of the array have gaps, so that graphs would be left out: use --array=0-N" >&2
    exit 2
fi
mkdir -p "$results"
task=$(((SLURM_ARRAY_TASK_ID - SLURM_ARRAY_TASK_MIN) / SLURM_ARRAY_TASK_STEP))
mapfile -t graphs < <(grep -v '^[[:space:]]*$' "$list")
code=0
for ((i = task; i < ${#graphs[@]}; i += SLURM_ARRAY_TASK_COUNT)); do
    solve_once "${graphs[i]}" "$results" step ogg-hpc solve "${graphs[i]}" "${@:3}" || code=1
done
exit "$code"
