"""Alg. 4 by an engine of scalar states."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.row_block import RowBlock
from ogg_hpc.policies.degree_messages import TwoMessageForm
from ogg_hpc.policies.scalar_form import ScalarForm
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.search.policy_search import SearchResult
from ogg_hpc.search.proposals import Proposals
from ogg_hpc.search.ranking import Ranking
from ogg_hpc.search.scalar_engine import ScalarEngine
from ogg_hpc.search.scalar_state import Neighbours, ScalarState
from ogg_hpc.search.schedule import Schedule
from ogg_hpc.search.two_message_engine import TwoMessageEngine

# Steps that a lone rank makes between two looks at the clock.
_STEPS_AT_ONCE = 16


class Engine(Protocol):
    """A residual graph whose nodes are ranked."""

    state: ScalarState
    ranking: Ranking

    def run(
        self, table: NDArray[np.float64], nodes: NDArray[np.int64], steps: int
    ) -> tuple[int, int]:
        """Make up to `steps` steps on a lone rank, by a schedule's table.

        The ids of the chosen nodes go to `nodes`. Returns the numbers of steps and of nodes.
        """

    def remove(self, neighbours: Neighbours) -> None:
        """Remove nodes from the residual graph, given with it, and rank the rest (collective)."""


def scalar_search(
    comm: Communicator,
    block: RowBlock,
    form: ScalarForm | TwoMessageForm,
    schedule: Schedule,
    forced: NDArray[np.int64],
    on_step: Callable[[int, NDArray[np.int64]], None] | None = None,
) -> SearchResult:
    """Build a vertex cover as `search` does, by scores in scalar form (collective).

    Parameters
    ----------
    comm
        The ranks.
    block
        This rank's rows of an unweighted graph.
    form
        The policy.
    schedule, forced, on_step
        As for `search`.

    Returns
    -------
    SearchResult
        What `search` returns; a lone rank's step times are means over a few steps.
    """
    forced = np.asarray(forced, np.int64)
    engine: Engine
    if isinstance(form, TwoMessageForm):
        engine = TwoMessageEngine(comm, block, form, forced)
    else:
        engine = ScalarEngine(comm, block, form, forced)
    chosen = [forced]
    seconds: list[float] = []
    proposals = Proposals(engine.state, engine.ranking)
    table = np.array(schedule.table, np.float64).reshape(-1, 2)
    while engine.state.candidates:
        start = time.perf_counter()
        left = engine.state.candidates
        if comm.size == 1:
            nodes = np.empty(_STEPS_AT_ONCE * schedule.most, np.int64)
            steps, count = engine.run(table, nodes, _STEPS_AT_ONCE)
            nodes = nodes[:count]
        else:
            d = int(schedule.nodes(np.array(left), np.array(block.n)))
            nodes, neighbours = proposals.best(d)
            engine.remove(neighbours)
            steps = 1
        if not len(nodes):
            break  # no candidate has a finite score
        chosen.append(nodes)
        seconds += [(time.perf_counter() - start) / steps] * steps
        if on_step is not None:
            on_step(len(seconds), np.array([left]))
    return SearchResult([np.concatenate(chosen)], seconds, engine.state.adjacency_bytes)
