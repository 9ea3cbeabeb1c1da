"""Maximum independent set: the most nodes no two of which are adjacent."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.node_sets import mask_of, not_a_set, others
from ogg_hpc.problems.problem import PartialSolution, Problem, Residual
from ogg_hpc.runtime.stop import Stop, never


class MaximumIndependentSet(Problem):
    """Choose nodes until none is left; a chosen node leaves with its neighbours.

    A node with a self loop is adjacent to itself and in no independent set. The independent sets
    of a graph are the complements of its vertex covers.
    """

    name: ClassVar[str] = "mis"
    maximize: ClassVar[bool] = True
    residual: ClassVar[bool] = True

    def candidates(self, solution: PartialSolution, degrees: Any, batch: Residual) -> Any:
        """Return the active nodes; see `Problem.candidates`."""
        return batch.local(solution.active)

    def choose(self, solution: PartialSolution, chosen: Any, batch: Residual) -> None:
        """Remove nodes and their neighbours from the residual graph; see `Problem.choose`."""
        solution.selected |= chosen
        solution.active &= ~(chosen | batch.adjacent(chosen))

    def reward(self, solution: PartialSolution, chosen: Any, batch: Residual) -> Any:
        """Return the number of nodes chosen in each graph; see `Problem.reward`."""
        return batch.count(chosen)

    def as_vertex_cover(self, graph: Graph) -> Graph:
        """Return the graph itself."""
        return graph

    def violation(self, graph: Graph, nodes: NDArray[np.int64]) -> str | None:
        """Name an id that is no node, a node given twice, a loop or an edge inside the set.

        O(n + m).
        """
        nodes = np.asarray(nodes, dtype=np.int64)
        if wrong := not_a_set(graph, nodes, "the independent set"):
            return wrong
        inside = mask_of(graph, nodes)
        loops = graph.looped[inside[graph.looped]]
        if loops.size:
            node = graph.labels_of(loops[:1])[0]
            return f"node {node} has a self loop and is in the independent set"
        bad = np.flatnonzero(inside[graph.rows] & inside[graph.columns])
        if bad.size:
            u, v = graph.labels_of([graph.rows[bad[0]], graph.columns[bad[0]]])
            return f"{u} and {v} are adjacent"
        return None

    def objective(self, graph: Graph, nodes: NDArray[np.int64]) -> float:
        """Return the number of nodes."""
        return float(len(nodes))

    def improve(self, graph: Graph, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Make the set maximal: `nodes`, less those with a loop, and then what can be added.

        Nodes of small degree are added first. The complement is a minimal vertex cover.
        O(n log n + m), compiled.
        """
        from ogg_hpc.problems.redundancy import without_redundant_nodes

        cover = np.union1d(others(graph, nodes), graph.looped)
        kept = np.asarray(nodes, dtype=np.int64)
        if len(graph.looped):
            kept = kept[~mask_of(graph, graph.looped)[kept]]
        added = np.setdiff1d(cover, without_redundant_nodes(graph, cover))
        return np.concatenate([kept, added])

    def completion(self) -> str | None:
        """Return ``min-degree``, None where a subclass asks for other sets."""
        other = type(self).violation is not MaximumIndependentSet.violation
        return None if other else "min-degree"

    def complete(self, graph: Graph, actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Choose nodes of smallest degree among those not adjacent to chosen ones."""
        from ogg_hpc.problems.greedy_cover import minimum_degree_greedy

        outside = mask_of(graph, graph.looped)
        outside[graph.columns[mask_of(graph, actions)[graph.rows]]] = True
        return others(graph, minimum_degree_greedy(graph, np.flatnonzero(outside)))

    def bound(self, graph: Graph, stop: Stop = never) -> float:
        """Return n less the linear-programming bound on vertex covers."""
        from ogg_hpc.problems.bounds import double_cover_bound

        return float(graph.n - double_cover_bound(graph, stop))

    def optimum(self, graph: Graph) -> float | None:
        """Return the independence number of a graph of at most 40 nodes."""
        from ogg_hpc.problems.independence import independence_number

        return float(independence_number(graph)) if graph.n <= 40 else None

    def greedy(self, graph: Graph) -> NDArray[np.int64]:
        """Return the minimum-degree greedy set; see `greedy_cover.minimum_degree_greedy`."""
        from ogg_hpc.problems.greedy_cover import minimum_degree_greedy

        return self.improve(graph, others(graph, minimum_degree_greedy(graph, graph.looped)))
