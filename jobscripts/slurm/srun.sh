# shellcheck shell=bash
# How the scripts of this folder start ranks. They source this file after the settings of the site.
#
# It is no job of its own. To change: nothing; what MPI needs here belongs to the settings of the
# site, which are environment variables of srun.

# Since Slurm 22.05 srun does not take the cores of a rank from sbatch by itself. The parts of a
# heterogeneous job have numbers of their own.
if [ -n "${SLURM_CPUS_PER_TASK:-}" ]; then
    export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
fi

# Run a job step: `step [OPTION of srun]... COMMAND`. It ends as a whole if one rank fails.
#
# By pmi2 MPICH names its shared memory after the job and the number of the step. Both are the same
# when the job has been put into the queue again, and then ranks would take for their own what
# killed ones have left on a node; so the name tells the restart, too.
steps=0
step() {
    steps=$((steps + 1))
    SLURM_PMI2_PMI_JOBID=$SLURM_JOB_ID.${SLURM_RESTART_COUNT:-0}.$steps \
        srun --kill-on-bad-exit=1 "$@"
}

# Run a command as ranks of both parts of a heterogeneous job, which are one MPI world.
step_on_both() {
    step --het-group=0 --cpus-per-task="$SLURM_CPUS_PER_TASK_HET_GROUP_0" "$@" : \
        --het-group=1 --cpus-per-task="$SLURM_CPUS_PER_TASK_HET_GROUP_1" "$@"
}

# End the job after one part of a training run, `part_of RUN STEP...`: put it into the queue again if
# the step leaves the run unfinished.
part_of() {
    local code=0
    rm -f "$1/UNFINISHED" # of an earlier part; this one may not come as far as to remove it
    "${@:2}" || code=$?
    # An exit code does not tell, since that of one rank may hide that of another.
    if [ -e "$1/UNFINISHED" ]; then
        exec scontrol requeue "$SLURM_JOB_ID"
    fi
    exit "$code"
}
