#!/bin/bash
# Convert graphs to stores, several at a time, and check every store: the work of preprocess.sh on
# any batch system, or by hand on one machine.
#
#     jobscripts/convert_each.sh AT_A_TIME STORES GRAPH...
#
# To change: nothing. Leaves behind: STORES/NAME.h5 for each graph, NAME being that of the file
# without its suffixes. Stores that exist are checked only.

set -euo pipefail
at_a_time=${1:?AT_A_TIME is missing} stores=${2:?STORES is missing}
export OMP_NUM_THREADS=1
# Each conversion is one rank of its own, though a launcher may have started this script.
unset JSM_NAMESPACE_SIZE OMPI_COMM_WORLD_SIZE PMI_SIZE SLURM_STEP_NUM_TASKS

mkdir -p "$stores"
declare -A graph_of
for graph in "${@:3}"; do
    name=${graph##*/}
    [[ ! $name =~ \.(gz|bz2|xz|zst)$ ]] || name=${name%.*}
    store=$stores/${name%.*}.h5
    if [ -n "${graph_of[$store]:-}" ]; then
        echo "$graph and ${graph_of[$store]} would both be $store: rename one" >&2
        exit 2
    fi
    graph_of[$store]=$graph
done

# shellcheck disable=SC2016 # for the inner shell to expand
for store in "${!graph_of[@]}"; do
    printf '%s\0' "$store" "${graph_of[$store]}"
done | xargs -0 -r -n 2 -P "$at_a_time" bash -c '
    [ -e "$0" ] || ogg-hpc data convert "$1" "$0" && ogg-hpc data check "$0"'
