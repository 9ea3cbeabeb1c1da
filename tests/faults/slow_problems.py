"""Vertex covers whose search takes as long as a test wants, and says that it has begun."""

import ctypes
import time
from pathlib import Path

from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover


class ManySteps(MinimumVertexCover):
    """Steps of some milliseconds, with collectives in between."""

    def candidates(self, solution, degrees, batch):
        Path("begun").touch()
        time.sleep(0.01)
        return super().candidates(solution, degrees, batch)


class OneLongCall(MinimumVertexCover):
    """A step that does not come back, in a call that keeps Python's lock as compiled ones do."""

    def candidates(self, solution, degrees, batch):
        Path("begun").touch()
        ctypes.PyDLL(None).sleep(600)
        return super().candidates(solution, degrees, batch)
