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

# Run a command as one rank on each GPU of the job, with one core, and ranks on the other cores:
# `step_on_gpus_and_cores FILE.erf CORES COMMAND...`, with so many cores for each of those. All
# resource sets of one jsrun are alike unless a resource file, FILE.erf, says otherwise.
step_on_gpus_and_cores() {
    local resources=$1 cores=$2 rank=0 node gpu core
    {
        # Processors are numbered as hardware threads.
        echo "cpu_index_using: logical"
        for ((node = 1; node <= nodes; node++)); do
            for ((gpu = 0; gpu < GPUS_PER_NODE; gpu++)); do
                core=$((gpu * CORES_PER_GPU))
                rank_on $((core++)) 1 "; gpu: {$gpu}"
                for (( ; cores && core + cores <= (gpu + 1) * CORES_PER_GPU; core += cores)); do
                    rank_on "$core" "$cores" ""
                done
            done
        done
    } >"$resources"
    step --erf_input="$resources" -EOMP_NUM_THREADS=1 --smpiargs="-gpu" "${@:3}"
}

# Add a line of the resource file: `rank_on CORE CORES REST`.
rank_on() {
    local first=$(($1 * THREADS_PER_CORE)) end=$((($1 + $2) * THREADS_PER_CORE))
    echo "rank: $rank: { host: $node; cpu: {$first-$((end - 1))}$3 }"
    rank=$((rank + 1))
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
