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
for point in "${points[@]}"; do
    record=$folder/records/$point.json
    [ ! -e "$record" ] || continue
    @LAUNCH@ ogg-hpc scale measure "$folder/points/$point.json" \
        --output "$record" --device @DEVICE@ ||
        { echo "not measured: $point" >&2; code=1; }
done
exit "$code"
