"""A host at work: writes the processes that there are to a file, and goes on until it is killed."""

import os
import sys
from pathlib import Path

from stand_in_learner import SCRIPTED, StandInLearner

from ogg_hpc.actors.host import Host

folder = Path(sys.argv[1])
host = Host(3, 1)
learner = StandInLearner(host, 3, SCRIPTED, {"folder": str(folder), "apart": True, "seconds": 0.01})
learner.publish(1)
(folder / "0").write_text(f"spawn {folder / 'spawned'}")
fragments = learner.collect(2)
pids = [int(fragment.arrays["reward"][0]) for fragment in fragments.values()]
spawned = int((folder / "spawned").read_text())
(folder / "part").write_text(" ".join(map(str, [os.getpid(), *pids, spawned])))
(folder / "part").rename(folder / "processes")
while True:
    learner.collect(100)
