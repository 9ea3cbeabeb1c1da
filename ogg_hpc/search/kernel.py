"""What is left of a graph to solve after exact reductions, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.node_sets import others
from ogg_hpc.problems.node_weights import less_cover_bound
from ogg_hpc.problems.problem import Problem, Reduction
from ogg_hpc.runtime.stop import Stop, never


@dataclass(frozen=True, eq=False)
class Kernel:
    """The graph that rules are played on.

    Attributes
    ----------
    graph : Graph
        The graph that is left.
    rules : Problem
        The problem that is to be solved on it.
    lift : callable
        Takes ids of a solution by the rules to ids of a solution of the problem on the whole graph.
    bound : callable
        Takes a bound on the solutions by the rules to one on the problem's solutions.
    """

    graph: Graph
    rules: Problem
    lift: Callable[[NDArray[np.int64]], NDArray[np.int64]]
    bound: Callable[[float], float]


def find_kernel(
    graph: Graph, problem: Problem, rules: Problem, reduce: bool, stop: Stop = never
) -> Kernel:
    """Return what the rules are played on.

    Parameters
    ----------
    graph
        The whole graph.
    problem
        The problem asked for.
    rules
        The same problem, or vertex cover on the graph whose covers are the complements of the
        problem's solutions. That graph is made of what the problem's own reductions leave, and
        those of vertex cover shrink it once more.
    reduce
        Whether there are reductions at all.
    stop
        Where it holds, reductions end with what they have, and a graph for vertex cover, which may
        be large, is not made: the rules are then the problem's own.

    Raises
    ------
    SettingsError
        There is no such graph, or it takes too much memory.
    """
    own = _reduced(problem, graph, reduce, stop)
    if rules is problem or (stop() and problem.completion()):
        return Kernel(own.kernel, problem, own.lift, lambda bound: own.offset + bound)
    try:
        covered = problem.as_vertex_cover(own.kernel)
    except SettingsError as error:
        if reduce:
            raise
        raise SettingsError(f"{error}, and --no-reduce left out may make it smaller") from None
    if covered is None:
        raise SettingsError(
            f"vertex covers do not solve {problem.name} on this graph; "
            f"give --policy a policy trained for {problem.name}"
        )
    cover = _reduced(rules, covered, reduce, stop)

    def lift(nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        return own.lift(others(own.kernel, cover.lift(nodes)))

    def bound(of_covers: float) -> float:
        found = less_cover_bound(own.kernel, cover.offset + of_covers)
        return own.offset + min(found, problem.bound(own.kernel, stop))

    return Kernel(cover.kernel, rules, lift, bound)


def _reduced(problem: Problem, graph: Graph, reduce: bool, stop: Stop) -> Reduction:
    reduction = problem.reduce(graph, stop) if reduce and not stop() else None
    return reduction or Reduction(graph, 0, lambda nodes: nodes)
