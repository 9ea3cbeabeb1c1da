"""An environment that does to its process what a test asks for."""

import json
import os
import subprocess
import sys
import time

import gymnasium
import numpy as np


class Scripted(gymnasium.Env):
    """Obeys the text in ``FOLDER/SLOT`` or ``FOLDER/all`` at its next step; the reward is its pid.

    Other options make it fail when it is made, or end its process after so many steps.
    """

    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, folder, seconds=0.0, fault="", lifetime=-1, apart=False):
        self.folder, self.seconds, self.slot = folder, seconds, 0
        self.lifetime, self.apart = lifetime, apart
        self._obey(fault)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.np_random.uniform(-1, 1, 2).astype(np.float32), {}

    def step(self, action):
        time.sleep(self.seconds)
        if self.lifetime == 0:
            os._exit(1)
        self.lifetime -= 1
        for name in (str(self.slot), "all"):
            path = os.path.join(self.folder, name)
            if os.path.exists(path):
                with open(path) as file:
                    self._obey(file.read(), path)
        return self.np_random.uniform(-1, 1, 2).astype(np.float32), os.getpid(), False, False, {}

    def _obey(self, order, path=None):
        order, _, argument = order.partition(" ")
        if order == "raise":
            raise RuntimeError(argument)
        if order == "once":  # do it, but not another time
            os.remove(path)
            self._obey(argument)
        if order == "exit":
            sys.exit(argument)
        if order == "end":
            os._exit(int(argument))
        if order == "signal":
            os.kill(os.getpid(), int(argument))
        if order == "mpi":  # as a simulator may
            from mpi4py import MPI

            if MPI.COMM_WORLD.Get_size() != 1:
                raise RuntimeError("this is no process of its own")
        if order == "spawn":  # a simulator of its own, which does not end by itself
            os.remove(path)
            child = subprocess.Popen(["sleep", "1000"], start_new_session=self.apart)
            with open(argument, "w") as file:
                file.write(str(child.pid))
        if order == "tell":  # what it has inherited
            os.remove(path)
            known = {
                "modules": sorted(sys.modules),
                "variables": dict(os.environ),
                "descriptors": [os.readlink(f"/proc/self/fd/{fd}") for fd in open_descriptors()],
            }
            with open(argument + ".part", "w") as file:
                json.dump(known, file)
            os.rename(argument + ".part", argument)


def open_descriptors():
    return [name for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}")]
