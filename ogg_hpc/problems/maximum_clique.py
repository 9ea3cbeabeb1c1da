"""Maximum clique: the most nodes every two of which are adjacent."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.node_sets import mask_of, not_a_set
from ogg_hpc.problems.problem import Heuristic, PartialSolution, Problem, Reduction, Residual
from ogg_hpc.runtime.stop import Stop, never


class MaximumClique(Problem):
    """Choose nodes until none is left; only neighbours of a chosen node stay.

    Self loops do not matter. The cliques of a graph are the complements of the vertex covers of
    its complement.
    """

    name: ClassVar[str] = "clique"
    maximize: ClassVar[bool] = True
    residual: ClassVar[bool] = True

    def candidates(self, solution: PartialSolution, degrees: Any, batch: Residual) -> Any:
        """Return the active nodes; see `Problem.candidates`."""
        return batch.local(solution.active)

    def choose(self, solution: PartialSolution, chosen: Any, batch: Residual) -> None:
        """Keep what all chosen nodes are adjacent to; see `Problem.choose`.

        There are several at once where a partial solution is taken up again.
        """
        solution.selected |= chosen
        all_of_them = batch.local(batch.spread(batch.count(chosen)))
        solution.active &= batch.gathered(batch.degrees(chosen) == all_of_them)

    def reward(self, solution: PartialSolution, chosen: Any, batch: Residual) -> Any:
        """Return the number of nodes chosen in each graph; see `Problem.reward`."""
        return batch.count(chosen)

    def as_vertex_cover(self, graph: Graph) -> Graph:
        """Return the complement.

        Raises
        ------
        SettingsError
            The complement takes too much memory.
        """
        from ogg_hpc.graphs.complement import complement

        try:
            return complement(graph)
        except SettingsError as error:
            raise SettingsError(
                f"{error}, and vertex cover policies need it; --policy greedy does without"
            ) from None

    def violation(self, graph: Graph, nodes: NDArray[np.int64]) -> str | None:
        """Name an id that is no node, a node given twice, or two nodes that are not adjacent.

        O(n + m).
        """
        nodes = np.asarray(nodes, dtype=np.int64)
        if wrong := not_a_set(graph, nodes, "the clique"):
            return wrong
        inside = mask_of(graph, nodes)
        both = inside[graph.rows] & inside[graph.columns]
        known = np.bincount(graph.rows[both], minlength=graph.n)
        lacking = np.flatnonzero(inside & (known < len(nodes) - 1))
        if lacking.size:
            inside[[lacking[0], *graph.neighbours(lacking[0])]] = False
            u, v = graph.labels_of([lacking[0], np.flatnonzero(inside)[0]])
            return f"{u} and {v} are not adjacent"
        return None

    def objective(self, graph: Graph, nodes: NDArray[np.int64]) -> float:
        """Return the number of nodes."""
        return float(len(nodes))

    def improve(self, graph: Graph, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Make the clique maximal: `nodes`, and then what `greedy_clique` adds."""
        from ogg_hpc.problems.greedy_clique import greedy_clique

        return greedy_clique(graph, nodes)

    def completion(self) -> str | None:
        """Return ``greedy``, None where a subclass asks for other sets."""
        other = type(self).violation is not MaximumClique.violation
        return None if other else "greedy"

    def complete(self, graph: Graph, actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Extend the clique; see `greedy_clique`."""
        from ogg_hpc.problems.greedy_clique import greedy_clique

        return greedy_clique(graph, actions)

    def reduce(self, graph: Graph, stop: Stop = never) -> Reduction | None:
        """Return the kernel of `clique_reductions`; None where a subclass asks another question."""
        from ogg_hpc.problems.clique_reductions import reduce_cliques

        plain, own = MaximumClique, type(self)
        asks_for_cliques = own.objective is plain.objective and own.violation is plain.violation
        return (
            reduce_cliques(graph, stop=stop) if asks_for_cliques and not own.uses_weights else None
        )

    def bound(self, graph: Graph, stop: Stop = never) -> float:
        """Return the number of colours of a greedy colouring; see `colouring_number`.

        Where `stop` holds, one more than the largest degree.
        """
        if stop():
            return float(graph.degrees.max() + 1) if graph.n else 0.0
        from ogg_hpc.problems.greedy_clique import colouring_number

        return float(colouring_number(graph))

    def optimum(self, graph: Graph) -> float | None:
        """Return the clique number of a graph of at most 40 nodes."""
        from ogg_hpc.graphs.complement import complement
        from ogg_hpc.problems.independence import independence_number

        return float(independence_number(complement(graph))) if graph.n <= 40 else None

    def heuristics(self) -> dict[str, Heuristic]:
        """Return ``greedy``, which does without the complement."""
        return {"greedy": self.greedy}

    def greedy(self, graph: Graph) -> NDArray[np.int64]:
        """Return a maximal clique by the largest number of common neighbours."""
        from ogg_hpc.problems.greedy_clique import greedy_clique

        return greedy_clique(graph)
