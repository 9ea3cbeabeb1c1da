#!/bin/bash
# Measure all cases of the scaling study @STUDY@ on @RANKS@ ranks; report with `ogg-hpc scale report`.
#
#     sbatch @FOLDER@/jobs/@NAME@.sh
#
# From the folder that holds jobscripts/, as all jobs. What has a record is left out: submit the
# same line again to measure what is missing, whether it failed or time ran out.
#
# To change: time; what the machine wants beside it, by options of sbatch.
# Leaves behind: the records, in @FOLDER@/records, and the output in its logs.
#
#SBATCH --job-name=@NAME@
#SBATCH --nodes=@NODES@
#SBATCH --ntasks=@RANKS@
#SBATCH --ntasks-per-node=@RANKS_PER_NODE@
#SBATCH --gpus-per-task=@GPUS@
#SBATCH --cpus-per-task=@THREADS@
#SBATCH --time=@MINUTES@
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=@FOLDER@/logs/%x-%j.out

set -euo pipefail
# shellcheck source=/dev/null
source "${OGG_HPC_SITE:-jobscripts/site.sh}"
export OMP_NUM_THREADS=@THREADS@

folder=@FOLDER@
points=(@POINTS@)
code=0
for ((i = 0; i < ${#points[@]}; i++)); do
    point=${points[i]} record=$folder/records/${points[i]}.json
    [ ! -e "$record" ] || continue
    # MPICH names its shared memory after this: not as before a requeue, whose ranks were killed.
    export SLURM_PMI2_PMI_JOBID=$SLURM_JOB_ID.${SLURM_RESTART_COUNT:-0}.$i
    @LAUNCH@ ogg-hpc scale measure "$folder/points/$point.json" \
        --output "$record" --device @DEVICE@ ||
        { echo "not measured: $point" >&2; code=1; }
done
exit "$code"
