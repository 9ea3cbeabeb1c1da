"""Minimum vertex cover: the fewest nodes that touch every edge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.binary_program import BinaryProgram, vertex_cover_program
from ogg_hpc.problems.node_sets import mask_of, not_a_set
from ogg_hpc.problems.problem import Heuristic, PartialSolution, Problem, Reduction, Residual
from ogg_hpc.runtime.stop import Stop, never


class MinimumVertexCover(Problem):
    """Choose nodes until no edge is left; a chosen node leaves with its edges.

    A node with a self loop is in every cover. The residual graph stores no loops, so these
    nodes are `forced`.
    """

    name: ClassVar[str] = "mvc"
    maximize: ClassVar[bool] = False
    several_at_once: ClassVar[bool] = True
    residual: ClassVar[bool] = True

    def candidates(self, solution: PartialSolution, degrees: Any, batch: Residual) -> Any:
        """Return the active nodes that still have an edge; see `Problem.candidates`."""
        return batch.local(solution.active) & (degrees > 0)

    def choose(self, solution: PartialSolution, chosen: Any, batch: Residual) -> None:
        """Move nodes from the residual graph into the cover; see `Problem.choose`."""
        solution.selected |= chosen
        solution.active &= ~chosen

    def reward(self, solution: PartialSolution, chosen: Any, batch: Residual) -> Any:
        """Return minus the number of nodes chosen in each graph; see `Problem.reward`."""
        return -batch.count(chosen)

    def forced(self, graph: Graph) -> NDArray[np.int64]:
        """Return the nodes with a self loop."""
        return graph.looped

    def violation(self, graph: Graph, nodes: NDArray[np.int64]) -> str | None:
        """Name an id that is no node, a node given twice, a loop or an edge left uncovered.

        O(n + m).
        """
        nodes = np.asarray(nodes, dtype=np.int64)
        if wrong := not_a_set(graph, nodes, "the cover"):
            return wrong
        covered = mask_of(graph, nodes)
        loops = graph.looped[~covered[graph.looped]]
        if loops.size:
            node = graph.labels_of(loops[:1])[0]
            return f"node {node} has a self loop and is not in the cover"
        # Entries of nodes outside the cover must all lead into it.
        open_entries = np.flatnonzero(~(covered[graph.rows] | covered[graph.columns]))
        if open_entries.size:
            entry = open_entries[0]
            u, v = graph.labels_of([graph.rows[entry], graph.columns[entry]])
            return f"edge ({u}, {v}) is not covered"
        return None

    def objective(self, graph: Graph, nodes: NDArray[np.int64]) -> float:
        """Return the number of nodes."""
        return float(len(nodes))

    def improve(self, graph: Graph, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Remove redundant nodes: the result is a minimal cover within `nodes`, in their order.

        O(n log n + m), compiled.
        """
        from ogg_hpc.problems.redundancy import without_redundant_nodes

        return without_redundant_nodes(graph, nodes)

    def completion(self) -> str | None:
        """Return ``min-degree``, None where a subclass asks for other sets."""
        other = type(self).violation is not MinimumVertexCover.violation
        return None if other else "min-degree"

    def complete(self, graph: Graph, actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Cover the edges that are left; see `greedy_cover.minimum_degree_greedy`."""
        from ogg_hpc.problems.greedy_cover import minimum_degree_greedy

        return minimum_degree_greedy(graph, np.union1d(actions, graph.looped))

    def reduce(self, graph: Graph, stop: Stop = never) -> Reduction | None:
        """Return the kernel of `cover_reductions` without its small components.

        None where a subclass asks for other covers.
        """
        from ogg_hpc.problems.cover_reductions import reduce_cover
        from ogg_hpc.problems.small_components import cover_small_components

        if not self._asks_for_covers():
            return None
        return cover_small_components(reduce_cover(graph, stop), stop)

    def polish(
        self, graph: Graph, nodes: NDArray[np.int64], seed: int
    ) -> Iterator[NDArray[np.int64]]:
        """Yield ever smaller covers; see `cover_local_search`. None where `reduce` gives none."""
        from ogg_hpc.problems.cover_local_search import search_covers

        return search_covers(graph, nodes, seed) if self._asks_for_covers() else iter(())

    def binary_program(self, graph: Graph) -> BinaryProgram | None:
        """Return `binary_program.vertex_cover_program`, None where `reduce` gives none."""
        return vertex_cover_program(graph) if self._asks_for_covers() else None

    def _asks_for_covers(self) -> bool:
        """Return whether this is the same question: a subclass may have only other rules."""
        plain, own = MinimumVertexCover, type(self)
        return (
            own.objective is plain.objective
            and own.violation is plain.violation
            and not own.uses_weights
        )

    def bound(self, graph: Graph, stop: Stop = never) -> float:
        """Return the linear-programming bound; see `bounds.double_cover_bound`."""
        from ogg_hpc.problems.bounds import double_cover_bound

        return float(double_cover_bound(graph, stop))

    def optimum(self, graph: Graph) -> float | None:
        """Return the size of a smallest cover of a graph of at most 40 nodes."""
        from ogg_hpc.problems.independence import independence_number

        return float(graph.n - independence_number(graph)) if graph.n <= 40 else None

    def heuristics(self) -> dict[str, Heuristic]:
        """Return the two greedy covers by degree."""
        from ogg_hpc.problems.greedy_cover import GREEDY

        def holding_forced(greedy: Any) -> Heuristic:
            return lambda graph: greedy(graph, self.forced(graph))

        return {name: holding_forced(greedy) for name, greedy in GREEDY.items()}

    def greedy(self, graph: Graph) -> NDArray[np.int64]:
        """Return the maximum-degree greedy cover without its redundant nodes."""
        from ogg_hpc.problems.greedy_cover import maximum_degree_greedy

        return self.improve(graph, maximum_degree_greedy(graph, self.forced(graph)))
