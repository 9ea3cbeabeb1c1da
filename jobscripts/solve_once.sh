# shellcheck shell=bash
# How the scripts that solve many graphs keep what is done. They source this file.
#
# It is no job of its own. To change: nothing.

# Solve a graph that has no record yet: `solve_once GRAPH RESULTS STEP...`, where the step runs
# `ogg-hpc solve GRAPH`. A solve that fails, or that a signal has stopped, leaves no record.
solve_once() {
    local name=$2/${1//\//%}
    [ ! -e "$name.record.json" ] || return 0
    "${@:3}" --output "$name.solution.json" --json >"$name.part" || return 1
    if grep -Eq '"stopped": ?"signal"' "$name.part"; then
        return 1
    fi
    mv "$name.part" "$name.record.json"
}
