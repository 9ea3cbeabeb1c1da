"""What the scalar engines on a device have in common: to choose nodes by keys and remove them.

Keys are those of `tournament`, so that the best is a maximum over integers. A lone rank submits a
number of steps at a time and reads their chosen nodes together; many ranks agree on each step.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.row_block import RowBlock
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.search.device_scalar_state import DeviceScalarState
from ogg_hpc.search.schedule import Schedule
from ogg_hpc.search.tournament import LAST_ROW

SOURCE = Path(__file__).with_name("scalar_engine.cu")
# Steps that a lone rank submits between two looks at what they chose.
_STEPS_AT_ONCE = 32
# Forced nodes leave so many at a time, or as many as a step chooses.
_WIDTH = 16


class DeviceEngine(ABC):
    """A residual graph whose nodes are ranked.

    Parameters
    ----------
    comm
        The ranks; their devices have kernels.
    block
        This rank's rows of an unweighted graph.
    messages
        As for `DeviceScalarState`.
    schedule
        Nodes a step.
    forced
        Ids of nodes that have left before anything is ranked.

    Attributes
    ----------
    state : DeviceScalarState
        The residual graph.
    candidates : int
        Number of nodes with an edge.
    """

    def __init__(
        self,
        comm: Communicator,
        block: RowBlock,
        messages: NDArray[np.int64] | None,
        schedule: Schedule,
        forced: NDArray[np.int64],
    ) -> None:
        device, xp = comm.device, comm.device.xp
        self.comm, self._n, self._schedule = comm, block.n, schedule
        self._kernels = device.kernels(SOURCE)
        self._table = device.from_host(np.array(schedule.table, np.float64).reshape(-1, 2))
        self._keys = xp.zeros(block.rows, np.int64)
        self._log = xp.zeros(1 + _STEPS_AT_ONCE * (2 + schedule.most(block.n)), np.int64)
        self.state = DeviceScalarState(comm, block, messages, max(_WIDTH, schedule.most(block.n)))
        self.candidates = int(xp.count_nonzero(self.state.degrees))
        for start in range(0, len(forced), self.state.width):
            self._remove(forced[start : start + self.state.width], self.state.remove)

    @abstractmethod
    def _advance(
        self, nodes: Any, count: Any, candidates: Any, counts: NDArray[np.int64] | None = None
    ) -> None:
        """Remove nodes as `DeviceScalarState.remove` does and rank the rest (collective)."""

    @property
    def adjacency_bytes(self) -> int:
        """Bytes of the adjacency form."""
        return self.state.adjacency_bytes

    def advance(self, stop: bool) -> tuple[NDArray[np.int64], int] | None:
        """Make a step, or some; see `scalar_search.Engine` (collective)."""
        if self.comm.size == 1:
            return None if stop else self._run()
        chosen = self._step(stop)
        return None if chosen is None else (chosen, 1)

    def _run(self) -> tuple[NDArray[np.int64], int]:
        """Make some steps on a lone rank; return the nodes they chose and how many they were."""
        most = self._most()
        candidates, counts, nodes = _parts(self._log)
        candidates[0] = self.candidates
        for step in range(_STEPS_AT_ONCE):
            left, count = candidates[step : step + 2], counts[step : step + 1]
            chosen = nodes[step, :most]
            table = (len(self._table), self._table)
            self._kernels.choose(1, self._n, self._best(most), most, *table, left, chosen, count)
            self._advance(chosen, count, left)
        candidates, counts, nodes = _parts(self.comm.device.to_host(self._log))
        self.candidates = int(candidates[-1])
        taken = [chosen[:count] for chosen, count in zip(nodes, counts, strict=True)]
        return np.concatenate(taken), int(np.count_nonzero(counts))

    def _step(self, stop: bool) -> NDArray[np.int64] | None:
        """Choose the best nodes over all ranks and remove them, unless one stops (collective)."""
        d = int(self._schedule.nodes(np.array(self.candidates), np.array(self._n)))
        own = self.comm.device.to_host(self._best(min(d, self.state.rows)))
        message = np.zeros((1, 1 + d), np.int64)
        message[0, 0] = stop
        message[0, 1 : 1 + len(own)] = np.where(own > 0, own - self.state.lo, 0)  # by id, not row
        everyone = self.comm.allgatherv(message, [1] * self.comm.size)
        if everyone[:, 0].any():
            return None
        best = np.sort(everyone[:, 1:].reshape(-1))[::-1][:d]
        chosen: NDArray[np.int64] = LAST_ROW - (best[best > 0] & LAST_ROW)
        self._remove(chosen, self._advance)
        return chosen

    def _remove(self, nodes: NDArray[np.int64], remove: Any) -> None:
        """Remove nodes that the host knows, in one of two ways (collective)."""
        device, nodes = self.comm.device, np.sort(nodes)
        candidates = device.from_host(np.array([self.candidates, 0]))
        count = device.from_host(np.array([len(nodes)]))
        counts = self.state.counts(nodes) if self.comm.size > 1 else None
        remove(device.from_host(nodes), count, candidates, counts)
        self.candidates = int(candidates[1])

    def _most(self) -> int:
        """Return how many nodes a step may choose from now on."""
        reached = [int(d) for above, d in self._schedule.table if self.candidates > above * self._n]
        return min(max(reached, default=1), self.state.rows)

    def _best(self, d: int) -> Any:
        """Return the d best keys, ascending."""
        if d == 1:
            return self._keys.max(keepdims=True)
        return self.comm.device.xp.sort(self._keys)[len(self._keys) - d :]


def _parts(log: Any) -> tuple[Any, Any, Any]:
    """Return candidates before each step and at last, how many nodes each chose, and which."""
    first, second = _STEPS_AT_ONCE + 1, 2 * _STEPS_AT_ONCE + 1
    return log[:first], log[first:second], log[second:].reshape(_STEPS_AT_ONCE, -1)
