"""The environment of Alg. 5: one graph being solved."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.graphs.row_block import RowBlock
from ogg_hpc.problems.problem import Problem
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.search.policy_search import Scorer, select, start_solution


class Environment:
    """A graph and its partial solution, advanced one node at a time by all ranks together.

    Parameters
    ----------
    comm
        The ranks that share the graph.
    block
        This rank's rows.
    problem
        The rules.
    collective
        How neighbour sums cross ranks.
    chosen
        Nodes chosen already, when an episode is taken up again.
    """

    def __init__(
        self,
        comm: Communicator,
        block: RowBlock,
        problem: Problem,
        collective: str,
        chosen: NDArray[np.int64],
    ) -> None:
        self.batch = GraphBatch(comm, [block], collective=collective)
        self.problem = problem
        self.solution = start_solution(self.batch)
        problem.choose(self.solution, self._mask(chosen), self.batch)

    def step(self, scorer: Scorer) -> tuple[int, float] | None:
        """Choose the best-scored candidate; return it and its reward, or None at the end."""
        batch, problem = self.batch, self.problem
        degrees, scores = scorer(batch, self.solution)
        candidates = problem.candidates(self.solution, degrees, batch)
        _, nodes, _ = select(batch, scores, candidates)
        if not len(nodes):
            return None
        chosen = self._mask(nodes)
        reward = float(problem.reward(self.solution, chosen, batch)[0, 0])
        problem.choose(self.solution, chosen, batch)
        return int(nodes[0]), reward

    def _mask(self, nodes: NDArray[np.int64]) -> Any:
        return self.batch.mask(np.zeros_like(nodes), nodes, 0)
