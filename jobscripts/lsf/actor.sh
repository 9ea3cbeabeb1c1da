#!/bin/bash
# Step environments for a run of another job, on all cores of its nodes: the run is faster by them,
# and goes on without them when this job ends.
#
#     ARGUMENTS="FILE [OPTION of `ogg-hpc actors actor`]..." bsub < jobscripts/lsf/actor.sh
#
# FILE is RUN/controllers/NODE.json, which a run writes on each node with learners when its settings
# say where to listen, such as `--set remote.listen=0.0.0.0:0` of actors.sh. Each task connects to
# that node, has as many environment processes as cores, and leaves when the run is finished. Two
# minutes before the time limit LSF signals them: they hand over what they have, and leave.
#
# To change: nodes, time (`bsub -nnodes 4 -W 6:00 < ...` wins over the lines below).
# Leaves behind: the output in actor-JOB.out.
#
#BSUB -J actor
#BSUB -nnodes 1
#BSUB -W 2:00
#BSUB -wa URG
#BSUB -wt 2
#BSUB -r
#BSUB -o actor-%J.out

set -euo pipefail
[ $# -gt 0 ] || eval "set -- ${ARGUMENTS:?are missing}"
connect=${1:?FILE is missing}
source "${OGG_HPC_SITE:-jobscripts/site.sh}"
source jobscripts/lsf/jsrun.sh

step -n"$nodes" -r1 -a1 -g0 -c$((GPUS_PER_NODE * CORES_PER_GPU)) -brs -EOMP_NUM_THREADS=1 \
    ogg-hpc actors actor --connect "$connect" "${@:2}"
