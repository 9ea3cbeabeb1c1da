"""Minimum dominating set: the fewest nodes that have every other node as a neighbour."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.binary_program import BinaryProgram, dominating_set_program
from ogg_hpc.problems.node_sets import mask_of, not_a_set
from ogg_hpc.problems.problem import Heuristic, PartialSolution, Problem, Residual
from ogg_hpc.runtime.stop import Stop, never


class MinimumDominatingSet(Problem):
    """Choose nodes until each is chosen or has a chosen neighbour.

    Active nodes are those not yet dominated. A dominated node stays a candidate as long as it has
    an active neighbour. Self loops do not matter.
    """

    name: ClassVar[str] = "mds"
    maximize: ClassVar[bool] = False
    several_at_once: ClassVar[bool] = True
    # Good nodes are near one another, and what one has dominated the next need not.
    select: ClassVar[str] = "one"

    def candidates(self, solution: PartialSolution, degrees: Any, batch: Residual) -> Any:
        """Return the nodes that would dominate an active one; see `Problem.candidates`."""
        return batch.local(solution.active) | (degrees > 0)

    def choose(self, solution: PartialSolution, chosen: Any, batch: Residual) -> None:
        """Take nodes into the set; they and their neighbours are dominated."""
        solution.selected |= chosen
        solution.active &= ~(chosen | batch.adjacent(chosen))

    def reward(self, solution: PartialSolution, chosen: Any, batch: Residual) -> Any:
        """Return minus the number of nodes chosen in each graph; see `Problem.reward`."""
        return -batch.count(chosen)

    def violation(self, graph: Graph, nodes: NDArray[np.int64]) -> str | None:
        """Name an id that is no node, a node given twice, or a node that is not dominated.

        O(n + m).
        """
        nodes = np.asarray(nodes, dtype=np.int64)
        if wrong := not_a_set(graph, nodes, "the dominating set"):
            return wrong
        inside = mask_of(graph, nodes)
        dominated = inside.copy()
        dominated[graph.columns[inside[graph.rows]]] = True
        alone = np.flatnonzero(~dominated)
        if alone.size:
            node = graph.labels_of(alone[:1])[0]
            return f"node {node} is not dominated: neither it nor a neighbour is in the set"
        return None

    def objective(self, graph: Graph, nodes: NDArray[np.int64]) -> float:
        """Return the number of nodes."""
        return float(len(nodes))

    def improve(self, graph: Graph, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Remove redundant nodes: the result is minimal, within `nodes`, in their order.

        O(n log n + m), compiled.
        """
        from ogg_hpc.problems.domination import without_redundant_dominators

        return without_redundant_dominators(graph, nodes)

    def completion(self) -> str | None:
        """Return ``greedy``, None where a subclass asks for other sets."""
        other = type(self).violation is not MinimumDominatingSet.violation
        return None if other else "greedy"

    def complete(self, graph: Graph, actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Dominate the nodes that are left; see `domination.greedy_dominating_set`."""
        from ogg_hpc.problems.domination import greedy_dominating_set

        return greedy_dominating_set(graph, actions)

    def polish(
        self, graph: Graph, nodes: NDArray[np.int64], seed: int
    ) -> Iterator[NDArray[np.int64]]:
        """Yield ever smaller sets; see `domination_local_search`.

        None where a subclass asks for other sets.
        """
        from ogg_hpc.problems.domination_local_search import search_dominating_sets

        asked = self._asks_for_dominating_sets()
        return search_dominating_sets(graph, nodes, seed) if asked else iter(())

    def binary_program(self, graph: Graph) -> BinaryProgram | None:
        """Return `binary_program.dominating_set_program`, None where `polish` gives none."""
        return dominating_set_program(graph) if self._asks_for_dominating_sets() else None

    def _asks_for_dominating_sets(self) -> bool:
        """Return whether this is the same question: a subclass may have only other rules."""
        plain, own = MinimumDominatingSet, type(self)
        return (
            own.objective is plain.objective
            and own.violation is plain.violation
            and not own.uses_weights
        )

    def bound(self, graph: Graph, stop: Stop = never) -> float:
        """Return the packing bound; see `domination.packing_bound`."""
        from ogg_hpc.problems.domination import packing_bound

        return float(packing_bound(graph, stop))

    def optimum(self, graph: Graph) -> float | None:
        """Return the domination number of a graph of at most 40 nodes."""
        from ogg_hpc.problems.domination import domination_number

        return float(domination_number(graph)) if graph.n <= 40 else None

    def heuristics(self) -> dict[str, Heuristic]:
        """Return ``greedy``, by the largest new coverage."""
        from ogg_hpc.problems.domination import greedy_dominating_set

        return {"greedy": greedy_dominating_set}

    def greedy(self, graph: Graph) -> NDArray[np.int64]:
        """Return the greedy set of largest new coverage without its redundant nodes."""
        from ogg_hpc.problems.domination import greedy_dominating_set

        return self.improve(graph, greedy_dominating_set(graph))
