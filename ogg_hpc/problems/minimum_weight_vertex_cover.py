"""Minimum weight vertex cover: nodes that touch every edge, of the least weight in all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.binary_program import BinaryProgram, vertex_cover_program
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.problems.node_weights import node_weights, weight_of
from ogg_hpc.problems.problem import Heuristic, PartialSolution, Reduction, Residual
from ogg_hpc.runtime.stop import Stop, never


class MinimumWeightVertexCover(MinimumVertexCover):
    """Choose nodes until no edge is left, by the rules of `MinimumVertexCover`.

    Without weights each node counts 1.
    """

    name: ClassVar[str] = "mwvc"
    uses_node_weights: ClassVar[bool] = True

    def reward(self, solution: PartialSolution, chosen: Any, batch: Residual) -> Any:
        """Return minus the weight of the nodes chosen in each graph; see `Problem.reward`."""
        return -batch.weight(chosen)

    def objective(self, graph: Graph, nodes: NDArray[np.int64]) -> float:
        """Return the sum of the nodes' weights."""
        return weight_of(graph, nodes)

    def completion(self) -> str | None:
        """Return ``degree-weight``, None where `MinimumVertexCover` returns none."""
        return None if super().completion() is None else "degree-weight"

    def complete(self, graph: Graph, actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Cover the edges that are left; see `greedy_weighted_cover.degree_weight_greedy`."""
        from ogg_hpc.problems.greedy_weighted_cover import degree_weight_greedy

        return degree_weight_greedy(graph, actions)

    def reduce(self, graph: Graph, stop: Stop = never) -> Reduction | None:
        """Return the kernel of `weighted_cover_reductions` without its small components.

        None if weights are not whole.
        """
        from ogg_hpc.problems.small_components import cover_small_components
        from ogg_hpc.problems.weighted_cover_reductions import reduce_weighted_cover

        reduction = reduce_weighted_cover(graph, stop)
        return None if reduction is None else cover_small_components(reduction, stop)

    def polish(
        self, graph: Graph, nodes: NDArray[np.int64], seed: int
    ) -> Iterator[NDArray[np.int64]]:
        """Yield ever lighter covers; see `weighted_cover_local_search`."""
        from ogg_hpc.problems.weighted_cover_local_search import search_weighted_covers

        return search_weighted_covers(graph, nodes, seed)

    def bound(self, graph: Graph, stop: Stop = never) -> float:
        """Return the linear-programming bound; see `weighted_bounds.weighted_cover_bound`."""
        from ogg_hpc.problems.weighted_bounds import weighted_cover_bound

        return weighted_cover_bound(graph, stop)

    def binary_program(self, graph: Graph) -> BinaryProgram:
        """Return `binary_program.vertex_cover_program` with the weights as costs."""
        return replace(vertex_cover_program(graph), costs=node_weights(graph))

    def optimum(self, graph: Graph) -> float | None:
        """Return the least weight in a graph of at most 40 nodes, None if it is not whole."""
        from ogg_hpc.problems.independence import independence_weight

        heaviest = independence_weight(graph) if graph.n <= 40 else None
        return None if heaviest is None else weight_of(graph, np.arange(graph.n)) - heaviest

    def heuristics(self) -> dict[str, Heuristic]:
        """Return the greedy cover by degree and weight, and the local-ratio method."""
        from ogg_hpc.problems.greedy_weighted_cover import degree_weight_greedy, local_ratio

        return {"degree-weight": degree_weight_greedy, "local-ratio": local_ratio}

    def greedy(self, graph: Graph) -> NDArray[np.int64]:
        """Return the greedy cover by degree and weight without its redundant nodes."""
        from ogg_hpc.problems.greedy_weighted_cover import degree_weight_greedy

        return self.improve(graph, degree_weight_greedy(graph))
