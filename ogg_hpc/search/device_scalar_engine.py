"""Alg. 4 for policies in scalar form, on a device with kernels.

The twin of `ScalarEngine`: a step removes nodes, scores all rows and finds the best by a reduction
over keys, integers that order rows by their score and then by the lowest id. Integers and the
same operations on them give the same scores, hence the same covers, as on a CPU.

A lone rank submits a number of steps at a time and reads their chosen nodes together; many ranks
send what `scalar_search` sends.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.row_block import RowBlock
from ogg_hpc.policies.scalar_form import ScalarForm
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.search.device_scalar_state import DeviceScalarState
from ogg_hpc.search.policy_search import SearchResult
from ogg_hpc.search.schedule import Schedule

_SOURCE = Path(__file__).with_name("scalar_engine.cu")
_LOWEST_ROW = np.uint64(2**32 - 1)
# Steps that a lone rank submits between two looks at what they chose.
_STEPS_AT_ONCE = 32
# Forced nodes leave so many at a time, or as many as a step chooses.
_WIDTH = 16


def scalar_search_on_device(
    comm: Communicator,
    block: RowBlock,
    form: ScalarForm,
    schedule: Schedule,
    forced: NDArray[np.int64],
    on_step: Callable[[int, NDArray[np.int64]], None] | None = None,
) -> SearchResult:
    """Do what `scalar_search` does, on devices with kernels (collective).

    Parameters
    ----------
    comm
        The ranks; their devices have kernels.
    block, form, schedule, forced, on_step
        As for `scalar_search`.

    Returns
    -------
    SearchResult
        What `scalar_search` returns.
    """
    engine = DeviceScalarEngine(comm, block, form, schedule)
    forced = np.asarray(forced, np.int64)
    engine.remove(forced)
    chosen, seconds = [forced], list[float]()
    while engine.candidates:
        start, left = time.perf_counter(), engine.candidates
        nodes, steps = engine.run() if comm.size == 1 else (engine.step(), 1)
        if not len(nodes):
            break  # no candidate has a finite score
        chosen.append(nodes)
        seconds += [(time.perf_counter() - start) / steps] * steps
        if on_step is not None:
            on_step(len(seconds), np.array([left]))
    return SearchResult([np.concatenate(chosen)], seconds, engine.state.adjacency_bytes)


class DeviceScalarEngine:
    """A residual graph whose nodes are ranked by a policy in scalar form.

    Parameters
    ----------
    comm
        The ranks; their devices have kernels.
    block
        This rank's rows of an unweighted graph.
    form
        The policy.
    schedule
        Nodes a step.

    Attributes
    ----------
    state : DeviceScalarState
        The residual graph.
    candidates : int
        Number of nodes with an edge.
    """

    def __init__(
        self, comm: Communicator, block: RowBlock, form: ScalarForm, schedule: Schedule
    ) -> None:
        device, xp = comm.device, comm.device.xp
        self.comm, self._n, self._schedule = comm, block.n, schedule
        self.state = DeviceScalarState(comm, block, form.messages, max(_WIDTH, schedule.most))
        self.candidates = int(xp.count_nonzero(self.state.degrees))
        self._kernels = device.kernels(_SOURCE)
        self._form = tuple(map(device.from_host, (form.starts, form.intercepts, form.slopes)))
        self._table = device.from_host(np.array(schedule.table, np.float64).reshape(-1, 2))
        self._keys = xp.empty(block.rows, np.uint64)
        self._log = xp.zeros(1 + _STEPS_AT_ONCE * (2 + schedule.most), np.int64)
        self._score()

    def run(self) -> tuple[NDArray[np.int64], int]:
        """Make some steps on a lone rank; return the nodes they chose and how many they were."""
        most = self._most()
        candidates, counts, nodes = self._parts(self._log)
        candidates[0] = self.candidates
        for step in range(_STEPS_AT_ONCE):
            left, count = candidates[step : step + 2], counts[step : step + 1]
            taken = nodes[step, :most]
            self._kernels.choose(
                1, self._n, self._best(most), most, len(self._table), self._table,
                left, taken, count,
            )  # fmt: skip
            self.state.remove(taken, count, left)
            self._score()
        candidates, counts, nodes = self._parts(self.comm.device.to_host(self._log))
        self.candidates = int(candidates[-1])
        chosen = [taken[:count] for taken, count in zip(nodes, counts, strict=True)]
        return np.concatenate(chosen), int(np.count_nonzero(counts))

    def step(self) -> NDArray[np.int64]:
        """Choose the best nodes over all ranks and remove them (collective)."""
        device = self.comm.device
        d = int(self._schedule.nodes(np.array(self.candidates), np.array(self._n)))
        best = device.to_host(self._best(min(d, self.state.rows)))[::-1]
        ids, scores = np.zeros((1, d), np.int64), np.full((1, d), -np.inf)
        ids[0, : len(best)] = (_LOWEST_ROW - (best & _LOWEST_ROW)).astype(np.int64) + self.state.lo
        scores[0, : len(best)] = score_of_key(best)
        values, nodes, _ = self.comm.best(
            device.from_host(scores), device.from_host(ids), device.xp.zeros(1)
        )
        chosen: NDArray[np.int64] = nodes[0][np.isfinite(values[0])]
        self.remove(chosen)
        return chosen

    def remove(self, nodes: NDArray[np.int64]) -> None:
        """Remove chosen nodes, given on the host, and score the rest (collective)."""
        device, width = self.comm.device, self.state.width
        for start in range(0, len(nodes), width):
            part = np.sort(nodes[start : start + width])
            candidates = device.from_host(np.array([self.candidates, 0]))
            self.state.remove(
                device.from_host(part),
                device.from_host(np.array([len(part)])),
                candidates,
                self.state.counts(part) if self.comm.size > 1 else None,
            )
            self.candidates = int(candidates[1])
        self._score()

    def _parts(self, log: Any) -> tuple[Any, Any, Any]:
        """Return the parts of a log: candidates before each step and at last, counts, nodes."""
        first, second = _STEPS_AT_ONCE + 1, 2 * _STEPS_AT_ONCE + 1
        nodes = log[second:].reshape(_STEPS_AT_ONCE, -1)
        return log[:first], log[first:second], nodes

    def _most(self) -> int:
        """Return how many nodes a step may choose from now on."""
        reached = [d for above, d in self._schedule.table if self.candidates > above * self._n]
        return min(max(reached, default=1), self.state.rows)

    def _best(self, d: int) -> Any:
        """Return the d best keys, ascending."""
        if d == 1:
            return self._keys.max(keepdims=True)
        return self.comm.device.xp.sort(self._keys)[len(self._keys) - d :]

    def _score(self) -> None:
        state = self.state
        self._kernels.score(
            state.rows, state.rows, state.lo, state.degrees, state.sums,
            len(self._form[0]), *self._form, self._keys,
        )  # fmt: skip


def score_of_key(keys: NDArray[np.uint64]) -> NDArray[np.float32]:
    """Return the scores that keys stand for, minus infinity for none."""
    bits = (keys >> np.uint64(32)).astype(np.uint32)
    sign = np.uint32(2**31)
    scores = np.where(bits & sign, bits ^ sign, ~bits).view(np.float32)
    return np.where(keys == 0, np.float32(-np.inf), scores)
