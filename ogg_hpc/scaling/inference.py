"""Steps of inference: the first ones of a search (Alg. 4), on the code path of a solve."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.clock import Clock
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.scaling.graph import graph_rows
from ogg_hpc.scaling.points import Point
from ogg_hpc.scaling.traffic import Shape, paper_inference, reference_search
from ogg_hpc.scaling.workload import Moment, Traffic, Window
from ogg_hpc.search import policy_search, proposals
from ogg_hpc.search.approach import Approach
from ogg_hpc.search.rollout import prepare
from ogg_hpc.search.settings import SolveSettings
from ogg_hpc.search.solve import check_settings


class _EnoughStepsError(Exception):
    """Ends a search of which only the first steps are wanted; raised by all ranks at once."""


class Inference:
    """A policy's search of a graph; see `ogg_hpc.scaling.workload.Workload` (collective).

    No exact reductions, and no forced nodes: the policy alone.

    Parameters
    ----------
    comm
        The ranks.
    point
        What is measured.
    clock
        Where ``graph`` and ``setup`` count.
    """

    def __init__(self, comm: Communicator, point: Point, clock: Clock) -> None:
        self._comm, self._graph, case = comm, point.graph, point.case
        settings = SolveSettings(
            problem=case.problem,
            policy=case.policy,
            select=case.select,
            engine=case.engine,
            collective=case.collective,
            balance=case.balance,
            reduce=False,
        )
        problem, approach, schedule = comm.on_all(lambda: check_settings(settings))
        if approach.heuristic is not None:
            raise SettingsError(
                f"{case.policy} runs on rank 0 alone, so that nothing scales; name a policy"
            ).shared()
        with clock("graph"):
            block = graph_rows(comm, point.graph, case.balance)
            if not problem.uses_weights:
                block = replace(block, weights=None)
        with clock("setup"):
            nothing: NDArray[np.int64] = np.empty(0, np.int64)
            self._run, self.engine = prepare(comm, block, approach, settings, schedule, nothing)
        self.nodes, self.entries = block.n, block.entries
        self.traffic = self._traffic(approach, schedule.most(block.n), case.collective)

    def run(self, steps: int) -> Window:
        """See `Workload.run`: the steps after the first of a new search."""
        first: Moment | None = None
        window: Window | None = None

        def on_step(step: int, left: NDArray[np.int64]) -> None:
            nonlocal first, window
            if first is None:
                first = Moment.now(self._comm, step)
                return
            window = Window.since(first, self._comm, step)
            if window.steps >= steps:
                raise _EnoughStepsError

        self._comm.barrier()
        with suppress(_EnoughStepsError):
            self._run(on_step)
        if window is None:
            raise SettingsError(
                f"{self._graph}: solved before a second step could be timed; a larger graph"
            ).shared()
        return window

    def _traffic(self, approach: Approach, most: int, collective: str) -> Traffic:
        comm, stored = self._comm, approach.stored
        shape = Shape.of(stored.model) if stored is not None and stored.network == "s2v" else None
        paper = None if shape is None else paper_inference(shape, self.nodes, comm.size)
        if self.engine == "scalar":
            return Traffic(proposals.message_bytes(most), "degree", paper=paper)
        exact = None
        if self.engine == "reference" and shape is not None:
            exact = reference_search(shape, self.nodes, comm.size, collective, most)
        return Traffic(policy_search.message_bytes(most), "nodes", exact, paper)
