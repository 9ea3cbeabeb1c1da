# shellcheck shell=bash
# How the scripts of this folder start ranks. They source this file after the settings of the site,
# which may export the shape of a node; the one below is Summit's.
#
# It is no job of its own. To change: nothing; a machine of another shape is a site file.

: "${GPUS_PER_NODE:=6}" "${CORES_PER_GPU:=7}" "${THREADS_PER_CORE:=4}"

# The script itself runs on a launch node, which is one of the job's hosts; ranks run on the others.
nodes=$(($(sort -u "$LSB_DJOB_HOSTFILE" | wc -l) - 1))

# Run a job step: `step [OPTION of jsrun]... COMMAND`. The warning before the time limit is handed on
# to its ranks: LSF may signal this shell alone, or all processes of the job, and then the ranks get
# it twice, which does no harm.
step() {
    jsrun "$@" &
    jsrun=$!
    trap 'kill -s URG "$jsrun" 2>/dev/null || true' URG
    # A trap interrupts `wait`: the step is over when its process is gone.
    while kill -0 "$jsrun" 2>/dev/null; do wait "$jsrun" || true; done
    wait "$jsrun"
}

# Run a command as one rank on each GPU of the job, each with its share of the cores. Spectrum MPI
# takes buffers of GPUs by its option -gpu.
step_on_gpus() {
    step -n$((GPUS_PER_NODE * nodes)) -r"$GPUS_PER_NODE" -a1 -g1 -c"$CORES_PER_GPU" -brs -dpacked \
        -EOMP_NUM_THREADS="$CORES_PER_GPU" --smpiargs="-gpu" "$@"
}

# End the job after one part of a training run, `part_of RUN STEP...`: with 75, by which LSF puts it
# into the queue again (`#BSUB -Q`), if the step leaves the run unfinished.
part_of() {
    local code=0
    rm -f "$1/UNFINISHED" # of an earlier part; this one may not come as far as to remove it
    "${@:2}" || code=$?
    # An exit code does not tell, since that of one rank may hide that of another.
    if [ -e "$1/UNFINISHED" ]; then
        exit 75
    fi
    exit "$code"
}
