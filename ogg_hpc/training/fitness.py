"""How good candidate policies are on training graphs, judged by all ranks together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.row_block import row_block
from ogg_hpc.policies.degree_messages import TwoMessageForm
from ogg_hpc.policies.scalar_form import ScalarForm, inverse_degree_form
from ogg_hpc.problems.problem import Problem
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.search.scalar_search import scalar_search
from ogg_hpc.search.schedule import ONE
from ogg_hpc.training.evaluation import ratio_to
from ogg_hpc.training.graphs import whole_graphs
from ogg_hpc.training.settings import GraphSource

# What sizes of covers are divided by: the least that these exponents of inverse degree find.
_EXPONENTS = (1.25, 1.5, 2.0)


class Fitness:
    """Sizes of covers, relative to inverse-degree greedy, on graphs that every rank holds whole.

    Rank i of P solves the pairs i, i + P, i + 2P, … of a graph and a candidate. Sizes are
    integers, so that their sums are the same for every P.

    Parameters
    ----------
    comm
        All ranks.
    alone
        This rank alone.
    problem
        Minimum vertex cover.
    sources
        The training graphs.

    Attributes
    ----------
    largest : int
        Nodes of the largest graph.
    """

    def __init__(
        self,
        comm: Communicator,
        alone: Communicator,
        problem: Problem,
        sources: Sequence[GraphSource],
    ) -> None:
        self._comm, self._alone, self._problem = comm, alone, problem
        sets = comm.on_all(lambda: [list(whole_graphs(source)) for source in sources])
        self._counts = [len(graphs) for graphs in sets]
        self._graphs = [graph.unweighted() for graphs in sets for graph in graphs]
        self._blocks = [row_block(graph, 0, 1) for graph in self._graphs]
        self.largest = max(graph.n for graph in self._graphs)
        forms = [inverse_degree_form(self.largest, exponent) for exponent in _EXPONENTS]
        self._references = self._sizes(forms).min(axis=1, keepdims=True).astype(float)

    def __call__(self, forms: Sequence[TwoMessageForm]) -> NDArray[np.float64]:
        """Return the mean ratio of each candidate, all sources alike (collective).

        Parameters
        ----------
        forms
            The candidates, for graphs of up to `largest` nodes.
        """
        ratios = ratio_to(self._sizes(forms).astype(float), self._references)
        parts = np.split(ratios, np.cumsum(self._counts)[:-1])
        means: NDArray[np.float64] = np.mean([part.mean(axis=0) for part in parts], axis=0)
        return means

    def _sizes(self, forms: Sequence[ScalarForm | TwoMessageForm]) -> NDArray[np.int64]:
        """Return (graphs, forms) sizes of covers (collective)."""
        sizes = np.zeros((len(self._graphs), len(forms)), np.int64)
        for pair in range(self._comm.rank, sizes.size, self._comm.size):
            graph, form = divmod(pair, len(forms))
            sizes.flat[pair] = self._size(graph, forms[form])
        total: NDArray[np.int64] = self._comm.allreduce(sizes)
        return total

    def _size(self, number: int, form: ScalarForm | TwoMessageForm) -> int:
        graph, block = self._graphs[number], self._blocks[number]
        forced = self._problem.forced(graph)
        [nodes] = scalar_search(self._alone, block, form, ONE, forced).solutions
        # Scores beyond all bounds end a search early: the worst of candidates.
        if self._problem.violation(graph, nodes):
            return graph.n
        return len(self._problem.improve(graph, nodes))
