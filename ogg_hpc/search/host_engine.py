"""What the scalar engines on the host have in common: to choose nodes and remove them."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.row_block import RowBlock
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.stop import amounts, never
from ogg_hpc.search.proposals import Proposals
from ogg_hpc.search.ranking import Ranking
from ogg_hpc.search.scalar_state import Neighbours, ScalarState
from ogg_hpc.search.schedule import Schedule

# Steps that a lone rank makes at most between two looks at the clock.
_STEPS_AT_ONCE = 16


class HostEngine(ABC):
    """A residual graph whose nodes are ranked.

    Parameters
    ----------
    comm
        The ranks.
    block
        This rank's rows of an unweighted graph.
    messages, factors
        As for `ScalarState`.
    schedule
        Nodes a step.
    forced
        Ids of nodes that have left before anything is ranked.

    Attributes
    ----------
    state : ScalarState
        The residual graph.
    ranking : Ranking
        This rank's rows by score.
    """

    def __init__(
        self,
        comm: Communicator,
        block: RowBlock,
        messages: NDArray[np.int64] | None,
        schedule: Schedule,
        forced: NDArray[np.int64],
        factors: NDArray[np.int64] | None = None,
    ) -> None:
        self.comm, self._schedule = comm, schedule
        self._amounts = amounts(never, _STEPS_AT_ONCE)
        self.state = ScalarState(comm, block, messages, factors)
        self.state.remove(forced)
        self.ranking = Ranking(block.rows)
        self._proposals = Proposals(self.state, self.ranking)
        self._table = np.array(schedule.table, np.float64).reshape(-1, 2)

    @abstractmethod
    def _run(self, table: NDArray[np.float64], nodes: NDArray[np.int64], steps: int) -> int:
        """Make up to `steps` steps on a lone rank, by a schedule's table; return how many.

        The chosen nodes of all steps go to `nodes`, one after another, and -1 after the last.
        """

    @abstractmethod
    def _remove(self, neighbours: Neighbours) -> None:
        """Remove nodes from the residual graph, given with it, and rank the rest (collective)."""

    @property
    def candidates(self) -> int:
        """Number of nodes with an edge."""
        return self.state.candidates

    @property
    def adjacency_bytes(self) -> int:
        """Bytes of the adjacency form."""
        return self.state.adjacency_bytes

    def advance(self, stop: bool) -> tuple[NDArray[np.int64], int] | None:
        """Make a step, or some; see `scalar_search.Engine` (collective)."""
        if self.comm.size == 1:
            if stop:
                return None
            steps = next(self._amounts)
            nodes = np.full(steps * self._schedule.most(self.state.block.n) + 1, -1)
            steps = self._run(self._table, nodes, steps)
            return nodes[: int(np.argmax(nodes < 0))], steps
        n = np.array(self.state.block.n)
        best = self._proposals.best(int(self._schedule.nodes(np.array(self.candidates), n)), stop)
        if best is None:
            return None
        chosen, neighbours = best
        self._remove(neighbours)
        return chosen, 1
