"""Maximum cut: two sides with as much edge weight between them as possible."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.binary_program import BinaryProgram, cut_program
from ogg_hpc.problems.node_sets import mask_of, not_a_set
from ogg_hpc.problems.problem import Heuristic, PartialSolution, Problem, Residual
from ogg_hpc.runtime.stop import Stop, never


class MaximumCut(Problem):
    """Place each node on one of two sides; edges between the sides earn their weights.

    Weights may have any sign; without weights each edge counts 1. A self loop never crosses. By
    the rules of a search an action is a node and its side, 0 or 1, S being side 1. A node leaves
    the graph when it is placed, and the search ends when all that have an edge are.
    """

    name: ClassVar[str] = "maxcut"
    maximize: ClassVar[bool] = True
    uses_weights: ClassVar[bool] = True
    sides: ClassVar[int] = 2

    def candidates(self, solution: PartialSolution, degrees: Any, batch: Residual) -> Any:
        """Return the nodes not yet placed that have an edge; see `Problem.candidates`."""
        edges = degrees + batch.degrees(~solution.active)
        return batch.local(solution.active) & (edges > 0)

    def choose(self, solution: PartialSolution, chosen: Any, batch: Residual) -> None:
        """Place nodes; see `Problem.choose`."""
        solution.selected |= chosen[..., 1]
        solution.active &= ~chosen.any(axis=-1)

    def reward(self, solution: PartialSolution, chosen: Any, batch: Residual) -> Any:
        """Return what the cut of each graph grows by; see `Problem.reward`."""
        placed = ~solution.active
        sides = placed & ~solution.selected, placed & solution.selected
        gains = sum(
            _weight_to(other, batch) * batch.local(chosen[..., side])
            for side, other in enumerate(reversed(sides))
        )
        return batch.total(gains)

    def action_scores(self, scores: Any, solution: PartialSolution, batch: Residual) -> Any:
        """Place nodes that are rated alone where they cut more, on side 0 where that is equal."""
        if scores.ndim == 3:
            return scores
        second = _preference(solution, batch) > 0
        return np.where(np.stack([~second, second], axis=-1), scores[..., None], -np.inf)

    def violation(self, graph: Graph, nodes: NDArray[np.int64]) -> str | None:
        """Name an id that is no node or a node given twice; any set of nodes is a side."""
        return not_a_set(graph, np.asarray(nodes, dtype=np.int64), "the side")

    def objective(self, graph: Graph, nodes: NDArray[np.int64]) -> float:
        """Return the weight of the edges between the nodes and all others. O(n + m)."""
        side = mask_of(graph, nodes)
        sources, targets, weights = graph.edges()
        crosses = side[sources] != side[targets]
        return float(np.sum(crosses if weights is None else weights * crosses))

    def improve(self, graph: Graph, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Move single nodes to the other side while that adds to the cut; return sorted ids."""
        from ogg_hpc.problems.greedy_cut import one_flip

        return one_flip(graph, nodes)

    def completion(self) -> str | None:
        """Return ``sg3``, None where a subclass asks for other sets."""
        return None if type(self).violation is not MaximumCut.violation else "sg3"

    def complete(self, graph: Graph, actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Place the nodes that are left; see `greedy_cut.sg3`."""
        from ogg_hpc.problems.greedy_cut import sg3

        return sg3(graph, actions)

    def polish(
        self, graph: Graph, nodes: NDArray[np.int64], seed: int
    ) -> Iterator[NDArray[np.int64]]:
        """Anneal; see `cut_annealing`."""
        from ogg_hpc.problems.cut_annealing import anneal_cut

        return anneal_cut(graph, nodes, seed)

    def binary_program(self, graph: Graph) -> BinaryProgram:
        """Return `binary_program.cut_program`."""
        return cut_program(graph)

    def bound(self, graph: Graph, stop: Stop = never) -> float:
        """Return the better of two bounds; see `cut_bounds`."""
        from ogg_hpc.problems.cut_bounds import cut_bound

        return cut_bound(graph, stop)

    def optimum(self, graph: Graph) -> float | None:
        """Return the largest cut of a graph of at most 22 nodes."""
        from ogg_hpc.problems.exact import brute_force

        return self.objective(graph, brute_force(self, graph)) if graph.n <= 22 else None

    def heuristics(self) -> dict[str, Heuristic]:
        """Return ``sg3``; see `greedy_cut`."""
        from ogg_hpc.problems.greedy_cut import sg3

        return {"sg3": sg3}

    def greedy(self, graph: Graph) -> NDArray[np.int64]:
        """Return the cut of `greedy_cut.sg3` after moves of single nodes."""
        from ogg_hpc.problems.greedy_cut import sg3

        return self.improve(graph, sg3(graph))


def _weight_to(mask: Any, batch: Residual) -> Any:
    """Return for each of this rank's rows the weight of its edges into a mask."""
    positive, negative = batch.edge_sums(mask)
    return positive - negative


def _preference(solution: PartialSolution, batch: Residual) -> Any:
    """Return for each of this rank's rows what it would cut more on side 1 than on side 0."""
    placed = ~solution.active
    return _weight_to(placed & ~solution.selected, batch) - _weight_to(solution.selected, batch)
