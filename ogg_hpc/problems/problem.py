"""The interface that all problems share.

A problem has two faces. To the search and the training it gives rules over masks of a
row-partitioned batch: which nodes are candidates, what choosing one changes, what it earns.
To everything else it gives plain functions of a whole graph and a set of nodes: feasibility,
objective, bound.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.binary_program import BinaryProgram
from ogg_hpc.runtime.stop import Stop, never


class Residual(Protocol):
    """What the rules may ask of a batch of graphs whose rows are spread over ranks."""

    def degrees(self, active: Any) -> Any:
        """Return for each of this rank's rows the number of neighbours inside a mask."""

    def adjacent(self, mask: Any) -> Any:
        """Return the replicated mask of nodes with a neighbour inside a mask (collective)."""

    def local(self, mask: Any) -> Any:
        """Return this rank's rows of a replicated array."""

    def gathered(self, rows: Any) -> Any:
        """Return the replicated array of all ranks' rows (collective)."""

    def count(self, mask: Any) -> Any:
        """Return for each graph the number of nodes inside a replicated mask."""

    def weight(self, mask: Any) -> Any:
        """Return for each graph the weight of the nodes inside a replicated mask.

        Without weights of nodes each counts 1.
        """

    def edge_sums(self, mask: Any) -> tuple[Any, Any]:
        """Return the sums of the positive and of the negated negative weights into a mask.

        For each of this rank's rows; without weights each edge counts 1.
        """

    def total(self, values: Any) -> Any:
        """Return for each graph the sum of all ranks' rows (collective)."""

    def spread(self, values: Any) -> Any:
        """Return for each node its graph's row of a (graphs, copies) array."""


Heuristic = Callable[[Graph], NDArray[np.int64]]
"""Finds a feasible solution by a plain rule."""


@dataclass
class PartialSolution:
    """Where a search stands: two masks over all nodes of a batch, the same on every rank.

    Attributes
    ----------
    selected : (nodes, copies) bool
        S: the nodes chosen so far.
    active : (nodes, copies) bool
        The nodes that are still in the residual graph; masking replaces zeroing rows and
        columns of the adjacency matrix.
    """

    selected: Any
    active: Any


@dataclass(frozen=True, eq=False)
class Reduction:
    """A smaller graph whose solutions tell solutions of the whole graph.

    Attributes
    ----------
    kernel : Graph
        The graph that is left to solve; without nodes where the reductions have solved it all.
    offset : float
        What the whole graph's best objective exceeds the kernel's by. So a bound on the kernel
        plus this is a bound on the whole graph.
    lift : callable
        Takes ids of a feasible solution of the kernel to ids of one of the whole graph, whose
        objective is better than the kernel's plus `offset` or equal to it.
    """

    kernel: Graph
    offset: float
    lift: Callable[[NDArray[np.int64]], NDArray[np.int64]]


class Problem(ABC):
    """One graph optimisation problem.

    Attributes
    ----------
    name
        What ``--problem`` takes.
    maximize
        Whether a larger objective is better.
    uses_weights
        Whether edge weights belong to the problem; if not, they are dropped before a policy can
        see them.
    uses_node_weights
        Whether weights of nodes belong to the problem; if not, they are dropped with a warning.
    sides
        Actions for each node. With one, a chosen node joins S. With two, an action is a node and
        a side, and the node joins S by the last one alone. The id of an action is
        ``node * sides + side``.
    several_at_once
        Whether any candidates may be chosen in one step; if not, it is solved one node a step.
    select
        The schedule by default, as ``--select`` takes it: ``one`` where several nodes a step make
        solutions worse.
    residual
        Whether the rules look at active nodes alone; a search may then drop all others from
        its arrays.
    """

    name: ClassVar[str]
    maximize: ClassVar[bool]
    uses_weights: ClassVar[bool] = False
    uses_node_weights: ClassVar[bool] = False
    sides: ClassVar[int] = 1
    several_at_once: ClassVar[bool] = False
    select: ClassVar[str] = "adaptive"
    residual: ClassVar[bool] = False

    # Rules over a row-partitioned batch.

    @abstractmethod
    def candidates(self, solution: PartialSolution, degrees: Any, batch: Residual) -> Any:
        """Return which of this rank's rows may be chosen next; none anywhere ends the search.

        On either side, where there are several.

        Parameters
        ----------
        solution
            The masks.
        degrees
            (rows, copies) residual degrees of this rank's rows.
        batch
            The graphs.
        """

    @abstractmethod
    def choose(self, solution: PartialSolution, chosen: Any, batch: Residual) -> None:
        """Add the mask `chosen` to the partial solution, in place (collective).

        Parameters
        ----------
        solution
            The masks.
        chosen
            (nodes, copies) bool, with a last axis of sides where there are several.
        batch
            The graphs.
        """

    def action_scores(self, scores: Any, solution: PartialSolution, batch: Residual) -> Any:
        """Return scores of this rank's actions; a scorer may have rated its nodes alone.

        Parameters
        ----------
        scores
            (rows, copies) of nodes, or with a last axis of sides of actions.
        solution
            The masks.
        batch
            The graphs.
        """
        return scores

    @abstractmethod
    def reward(self, solution: PartialSolution, chosen: Any, batch: Residual) -> Any:
        """Return (graphs, copies) rewards of choosing a mask, before it is applied (collective)."""

    # Facts about a whole graph.

    def as_vertex_cover(self, graph: Graph) -> Graph | None:
        """Return a graph on the same nodes whose covers are the complements of the solutions.

        A set of nodes is feasible exactly if all other nodes are a vertex cover of that graph, and
        the objective is the number of nodes, or their weight where node weights belong to the
        problem. Vertex cover policies can then solve the problem, exactly as well. None where there
        is no such graph.
        """
        return None

    def forced(self, graph: Graph) -> NDArray[np.int64]:
        """Return nodes that every feasible solution holds and the rules cannot see."""
        return np.empty(0, np.int64)

    @abstractmethod
    def violation(self, graph: Graph, nodes: NDArray[np.int64]) -> str | None:
        """Return what makes a set of nodes infeasible, naming one place, or None."""

    @abstractmethod
    def objective(self, graph: Graph, nodes: NDArray[np.int64]) -> float:
        """Return the value of a set of nodes."""

    def improve(self, graph: Graph, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return a feasible solution no worse than `nodes` by removing what is not needed."""
        return nodes

    def completion(self) -> str | None:
        """Return the name of the heuristic by which `complete` goes on, or None.

        Without one a search has to be played to its end.
        """
        return None

    def complete(self, graph: Graph, actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return a feasible solution, soon, from what a search has chosen that was asked to stop.

        Only asked for where there is a `completion`.

        Parameters
        ----------
        graph
            The graph.
        actions
            (k,) ids of the actions, in the order chosen, with or without `forced`.
        """
        raise NotImplementedError

    def reduce(self, graph: Graph, stop: Stop = never) -> Reduction | None:
        """Return a smaller graph with the same question, exactly; None without such rules.

        Parameters
        ----------
        graph
            The graph.
        stop
            Asked now and then; where it holds, what has been reduced so far is returned.
        """
        return None

    def polish(
        self, graph: Graph, nodes: NDArray[np.int64], seed: int
    ) -> Iterator[NDArray[np.int64]]:
        """Yield the best solution so far, again and again, while a local search goes on.

        The caller ends the search by asking for no more; each item takes a fixed number of
        iterations, well below a second. The items are a function of the arguments alone. A
        search that cannot get better may end by itself; without a search there are no items.

        Parameters
        ----------
        graph
            The graph.
        nodes
            (k,) ids of a feasible solution to start from.
        seed
            Of the random numbers; each rank gets its own.
        """
        return iter(())

    def binary_program(self, graph: Graph) -> BinaryProgram | None:
        """Return the problem as a linear program over 0 and 1; None without one.

        Exact solvers take it; they start from `greedy`.
        """
        return None

    @abstractmethod
    def bound(self, graph: Graph, stop: Stop = never) -> float:
        """Return a proven bound: no solution is better than this.

        Parameters
        ----------
        graph
            The graph.
        stop
            Where it holds, a weaker bound is returned that is known soon.
        """

    def optimum(self, graph: Graph) -> float | None:
        """Return the best objective of a graph so small that it is found at once, else None."""
        return None

    def heuristics(self) -> dict[str, Heuristic]:
        """Return plain heuristics by the names that ``--policy`` takes, the best one first.

        A solve without a policy falls back on the first where none is shipped for the problem.
        """
        return {}

    def greedy(self, graph: Graph) -> NDArray[np.int64] | None:
        """Return a good solution by a plain heuristic, to compare with; None without one."""
        return None
