"""Solutions under construction, side by side: the rules of a problem on several graphs at once.

Nothing here is larger than the graphs themselves, and a step on all of them is one product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.graphs.row_block import RowBlock
from ogg_hpc.problems.problem import PartialSolution, Problem
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.search.policy_search import chosen_mask, start_solution


@dataclass(frozen=True, eq=False)
class Construction:
    """A graph and its partial solution.

    Parameters
    ----------
    block
        The whole graph.
    solution
        Its masks, (nodes, 1) each.
    """

    block: RowBlock
    solution: PartialSolution

    @classmethod
    def begun(cls, block: RowBlock) -> Construction:
        """Return a graph of which nothing is chosen yet."""
        return cls(block, start_solution(GraphBatch(Communicator(), [block])))


class Constructions:
    """Some constructions as one batch, with `candidates` always up to date.

    Parameters
    ----------
    problem
        The rules.
    constructions
        At least one.

    Attributes
    ----------
    batch : GraphBatch
        The graphs, on one rank; a graph is a group.
    solution : PartialSolution
        The masks of all of them.
    candidates : (nodes, 1) bool
        Which nodes may be chosen next.
    """

    def __init__(self, problem: Problem, constructions: Sequence[Construction]) -> None:
        self.problem = problem
        self._blocks = [each.block for each in constructions]
        self.batch = GraphBatch(Communicator(), self._blocks)
        self.solution = PartialSolution(
            np.concatenate([each.solution.selected for each in constructions]),
            np.concatenate([each.solution.active for each in constructions]),
        )
        self._first = np.concatenate([[0], np.cumsum(self.batch.sizes)])
        self._find_candidates()

    def __getitem__(self, graph: int) -> Construction:
        """Return one of them as it is now."""
        rows = self.rows(graph)
        masks = self.solution.selected[rows], self.solution.active[rows]
        return Construction(self._blocks[graph], PartialSolution(*(mask.copy() for mask in masks)))

    def rows(self, graph: int) -> slice:
        """Return where the nodes of a graph are in arrays."""
        return slice(int(self._first[graph]), int(self._first[graph + 1]))

    @property
    def finished(self) -> NDArray[np.bool_]:
        """(graphs,) bool: no node may be chosen any more."""
        left: NDArray[np.bool_] = self.batch.count(self.candidates)[:, 0] == 0
        return left

    def choose(self, graphs: NDArray[np.int64], actions: NDArray[np.int64]) -> NDArray[np.float64]:
        """Choose one action in each of some graphs; return what each earns."""
        chosen = chosen_mask(self.batch, self.problem, graphs, actions, 0)
        rewards = np.asarray(self.problem.reward(self.solution, chosen, self.batch), np.float64)
        self.problem.choose(self.solution, chosen, self.batch)
        self._find_candidates()
        earned: NDArray[np.float64] = rewards[graphs, 0]
        return earned

    def _find_candidates(self) -> None:
        degrees = self.batch.degrees(self.solution.active)
        self.candidates: Any = self.problem.candidates(self.solution, degrees, self.batch)
