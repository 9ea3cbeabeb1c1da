"""Ways of solving a problem, to be compared: policies, heuristics and exact solvers."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import InfeasibleError, SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.exact import solve_exactly
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.problems.problem import Problem
from ogg_hpc.problems.registry import problem_by_name
from ogg_hpc.problems.solution import plain_number
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.search.solve import SolveSettings, solve_graph

# Not the search itself.
_OTHER_PHASES = ("read", "bound", "verify")


@dataclass(frozen=True)
class Found:
    """What a method found on a graph.

    Attributes
    ----------
    objective
        Value of its verified solution.
    bound
        A proven bound on any solution's.
    seconds
        What it took, without reading, bounding and verifying.
    """

    objective: float
    bound: float
    seconds: float


class Method(Protocol):
    """A way of solving a problem, under the name it is reported by."""

    @property
    def name(self) -> str:
        """Name in tables."""

    def __call__(self, comm: Communicator, graph: Graph) -> Found:
        """Solve a graph on the ranks of `comm` (collective)."""


@dataclass(frozen=True)
class Search:
    """Solving as ``ogg-hpc solve`` does, by a policy or a heuristic."""

    name: str
    settings: SolveSettings

    def __call__(self, comm: Communicator, graph: Graph) -> Found:
        """Solve a graph (collective)."""
        record = solve_graph(comm, graph, self.settings).record
        seconds = record["seconds"]
        spent = seconds["total"] - sum(seconds[phase] for phase in _OTHER_PHASES)
        return Found(record["objective"], record["bound"], spent)


@dataclass(frozen=True)
class Exact:
    """Vertex cover by CP-SAT in a process of its own, ended at the limit."""

    limit: float
    name: str = "exact"

    def __call__(self, comm: Communicator, graph: Graph) -> Found:
        """Solve a graph on this rank."""
        start = time.perf_counter()
        result = solve_exactly(graph, self.limit)
        seconds = time.perf_counter() - start
        objective = verified(MinimumVertexCover(), graph, result.nodes, self.name)
        return Found(objective, result.bound, seconds)


@dataclass(frozen=True)
class Greedy:
    """The heuristic that a problem offers to compare with."""

    problem: Problem
    name: str = "greedy"

    def __call__(self, comm: Communicator, graph: Graph) -> Found:
        """Solve a graph on this rank."""
        start = time.perf_counter()
        nodes = self.problem.greedy(graph)
        seconds = time.perf_counter() - start
        if nodes is None:
            raise SettingsError(f"{self.problem.name} has no greedy heuristic to compare with")
        objective = verified(self.problem, graph, nodes, self.name)
        return Found(objective, plain_number(self.problem.bound(graph)), seconds)


def verified(problem: Problem, graph: Graph, nodes: NDArray[np.int64], name: str) -> float:
    """Return the objective of a solution.

    Raises
    ------
    InfeasibleError
        It is none.
    """
    violation = problem.violation(graph, nodes)
    if violation:
        raise InfeasibleError(f"{name} ended with no solution of {problem.name}: {violation}")
    return plain_number(problem.objective(graph, nodes))


_COVER_HEURISTICS = (
    "max-degree",
    "min-degree",
    *(f"inverse-degree:{exponent}" for exponent in ("1", "1.25", "1.5", "2", "3")),
    "two-message",
)


def greedy_methods(settings: SolveSettings) -> list[Method]:
    """Return the heuristics to compare with, one node a step, else as the settings say.

    Raises
    ------
    SettingsError
        An unknown problem.
    """
    problem = problem_by_name(settings.problem)
    if isinstance(problem, MinimumVertexCover):
        return [
            Search(name, replace(settings, policy=name, select="one")) for name in _COVER_HEURISTICS
        ]
    return [Greedy(problem)]


def exact_method(problem: str, limit: float) -> Method:
    """Return the exact solver.

    Raises
    ------
    SettingsError
        A problem that it does not solve.
    """
    found = problem_by_name(problem)
    if not isinstance(found, MinimumVertexCover):
        raise SettingsError(f"the exact solver finds vertex covers, not {found.name}")
    return Exact(limit)
