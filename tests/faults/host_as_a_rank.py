"""Ranks of a job that are hosts, whose environments use MPI themselves, each for itself alone."""

import sys
from pathlib import Path

from mpi4py import MPI
from stand_in_learner import SCRIPTED, StandInLearner

from ogg_hpc.actors.host import Host

rank, folder = MPI.COMM_WORLD.Get_rank(), Path(sys.argv[1]) / str(MPI.COMM_WORLD.Get_rank())
folder.mkdir()
host = Host(2, 1)
learner = StandInLearner(host, 2, SCRIPTED, {"folder": str(folder), "fault": "mpi"})
learner.publish(1)
total = sum(fragment.steps for fragment in learner.collect(5).values())
total = MPI.COMM_WORLD.allreduce(total)
if rank == 0:
    print(total)
if sys.argv[2] == "close":
    host.close()
