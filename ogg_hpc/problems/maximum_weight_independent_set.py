"""Maximum weight independent set: the heaviest nodes no two of which are adjacent."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.maximum_independent_set import MaximumIndependentSet
from ogg_hpc.problems.node_weights import less_cover_bound, weight_of
from ogg_hpc.problems.problem import Heuristic, PartialSolution, Residual
from ogg_hpc.runtime.stop import Stop, never


class MaximumWeightIndependentSet(MaximumIndependentSet):
    """Choose nodes until none is left, by the rules of `MaximumIndependentSet`.

    Without weights each node counts 1. The solutions are the complements of weighted covers.
    """

    name: ClassVar[str] = "mwis"
    uses_node_weights: ClassVar[bool] = True

    def reward(self, solution: PartialSolution, chosen: Any, batch: Residual) -> Any:
        """Return the weight of the nodes chosen in each graph; see `Problem.reward`."""
        return batch.weight(chosen)

    def objective(self, graph: Graph, nodes: NDArray[np.int64]) -> float:
        """Return the sum of the nodes' weights."""
        return weight_of(graph, nodes)

    def completion(self) -> str | None:
        """Return ``gwmin``, None where `MaximumIndependentSet` returns none."""
        return None if super().completion() is None else "gwmin"

    def complete(self, graph: Graph, actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Choose further nodes; see `greedy_weighted_cover.gwmin`."""
        from ogg_hpc.problems.greedy_weighted_cover import gwmin

        return gwmin(graph, actions)

    def bound(self, graph: Graph, stop: Stop = never) -> float:
        """Return the weight of all nodes less the bound on vertex covers."""
        from ogg_hpc.problems.weighted_bounds import weighted_cover_bound

        return less_cover_bound(graph, weighted_cover_bound(graph, stop))

    def optimum(self, graph: Graph) -> float | None:
        """Return the largest weight in a graph of at most 40 nodes, None if it is not whole."""
        from ogg_hpc.problems.independence import independence_weight

        return independence_weight(graph) if graph.n <= 40 else None

    def heuristics(self) -> dict[str, Heuristic]:
        """Return GWMIN; see `greedy_weighted_cover.gwmin`."""
        from ogg_hpc.problems.greedy_weighted_cover import gwmin

        return {"gwmin": gwmin}

    def greedy(self, graph: Graph) -> NDArray[np.int64]:
        """Return the set of GWMIN, made maximal."""
        from ogg_hpc.problems.greedy_weighted_cover import gwmin

        return self.improve(graph, gwmin(graph))
