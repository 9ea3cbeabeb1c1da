#!/bin/bash
# Solve many graphs, each on one GPU.
#
#     ARGUMENTS="LIST RESULTS [OPTION of `ogg-hpc solve`]..." \
#         bsub -J "solve-array[1-16]" < jobscripts/lsf/solve-array.sh
#
# LIST names a graph a line. The elements of the array, which start at 1, deal the lines out among
# themselves, and each element among the GPUs of its nodes, so that any number of elements fits any
# number of graphs. A graph that cannot be solved does not keep the others. Graphs with a record are
# left out: submit the same line again to solve what is missing, whether it failed or time ran out:
# a solve that a signal has stopped leaves its best solution, but no record. One RESULTS is for one
# set of options.
#
# To change: the size of the array, time.
# Leaves behind, in RESULTS, for each graph: NAME.record.json, the record of the solve, and
# NAME.solution.json, where NAME is the graph's path with % for /. The output of an element is in
# solve-array-JOB_ELEMENT.out.
#
#BSUB -J "solve-array[1-4]"
#BSUB -nnodes 1
#BSUB -W 1:00
#BSUB -r
#BSUB -o solve-array-%J_%I.out

set -euo pipefail
[ $# -gt 0 ] || eval "set -- ${ARGUMENTS:?are missing}"
list=${1:?LIST is missing} results=${2:?RESULTS is missing} options=("${@:3}")
source "${OGG_HPC_SITE:-jobscripts/site.sh}"
source jobscripts/lsf/jsrun.sh
source jobscripts/solve_once.sh

if ((${LSB_JOBINDEX_STEP:-1} != 1)); then
    echo "the numbers of the array have gaps, so that graphs would be left out: use [1-N]" >&2
    exit 2
fi
mkdir -p "$results"
mapfile -t graphs < <(grep -v '^[[:space:]]*$' "$list")
gpus=$((GPUS_PER_NODE * nodes))

# Solve every graph that falls to one GPU of the array.
solve_share() {
    local code=0 i
    for ((i = $1; i < ${#graphs[@]}; i += gpus * LSB_JOBINDEX_END)); do
        solve_once "${graphs[i]}" "$results" \
            step -n1 -a1 -g1 -c"$CORES_PER_GPU" -brs -EOMP_NUM_THREADS="$CORES_PER_GPU" \
            ogg-hpc solve "${graphs[i]}" "${options[@]}" || code=1
    done
    return "$code"
}

shares=()
for ((gpu = 0; gpu < gpus; gpu++)); do
    solve_share $(((LSB_JOBINDEX - 1) * gpus + gpu)) &
    shares+=($!)
done
code=0
for share in "${shares[@]}"; do
    wait "$share" || code=1
done
exit "$code"
