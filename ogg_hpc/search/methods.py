"""Ways of solving a problem, to be compared: policies, heuristics and exact solvers."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from ogg_hpc.errors import InfeasibleError, SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.problems.node_sets import others
from ogg_hpc.problems.node_weights import less_cover_bound
from ogg_hpc.problems.problem import Problem
from ogg_hpc.problems.registry import cover_problem, problem_by_name
from ogg_hpc.problems.solution import plain_number
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.search.exact_solvers import solve_by
from ogg_hpc.search.settings import SolveSettings
from ogg_hpc.search.solve import solve_graph

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

    @property
    def proven(self) -> bool:
        """Whether the solution is optimal by its own bound."""
        return meets(self.objective, self.bound)


def meets(objective: float, bound: float) -> bool:
    """Return whether an objective is as good as a bound on it."""
    return math.isclose(objective, bound, rel_tol=1e-9)


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
    """A solver of `exact_solvers`, for binary programs and the complements of vertex covers."""

    problem: Problem
    limit: float
    name: str = "exact"

    def __call__(self, comm: Communicator, graph: Graph) -> Found:
        """Solve a graph on this rank."""
        start = time.perf_counter()
        covered = self.problem.as_vertex_cover(graph)
        if covered is None:
            result = solve_by(self.name, self.problem, graph, self.limit)
            nodes, bound = result.nodes, result.bound
        else:
            cover = cover_problem(self.problem)
            assert cover is not None
            result = solve_by(self.name, cover, covered, self.limit)
            nodes, bound = others(graph, result.nodes), less_cover_bound(graph, result.bound)
        seconds = time.perf_counter() - start
        violation = self.problem.violation(graph, nodes)
        if violation:
            name = self.problem.name
            raise InfeasibleError(f"{self.name} ended with no solution of {name}: {violation}")
        value = self.problem.objective(graph, nodes)
        return Found(plain_number(value), plain_number(bound), seconds)


@dataclass(frozen=True)
class Optimum:
    """The optimum of small graphs, for problems that no solver is there for."""

    problem: Problem
    name: str = "exact"

    def __call__(self, comm: Communicator, graph: Graph) -> Found:
        """Solve a graph on this rank."""
        start = time.perf_counter()
        optimum = self.problem.optimum(graph)
        if optimum is None:
            raise SettingsError(
                f"no exact solver of {self.problem.name} takes a graph of {graph.n} nodes: "
                "leave exact out"
            )
        value = plain_number(optimum)
        return Found(value, value, time.perf_counter() - start)


_COVER_HEURISTICS = (
    "max-degree",
    "min-degree",
    *(f"inverse-degree:{exponent}" for exponent in ("1", "1.25", "1.5", "2", "3")),
    "two-message",
)


def greedy_methods(settings: SolveSettings) -> list[Method]:
    """Return the heuristics to compare with, one node a step, else as the settings say.

    Those of vertex cover also where solutions are the complements of vertex covers; and the
    problem's own.

    Raises
    ------
    SettingsError
        An unknown problem, or one without a heuristic.
    """
    problem = problem_by_name(settings.problem)
    covers = cover_problem(problem) or problem
    further: Iterable[str] = covers.heuristics()
    if isinstance(covers, MinimumVertexCover) and not covers.uses_node_weights:
        further = _COVER_HEURISTICS
    names = list(dict.fromkeys([*problem.heuristics(), *further]))
    if not names:
        raise SettingsError(f"{problem.name} has no heuristic to compare with: leave greedy out")
    return [Search(name, replace(settings, policy=name, select="one")) for name in names]


def exact_method(problem: str, limit: float, solver: str = "exact") -> Method:
    """Return a solver of `exact_solvers`, or what finds the optimum of small graphs.

    Raises
    ------
    SettingsError
        An unknown problem, or one that the solver does not solve.
    """
    found = problem_by_name(problem)
    if solver == "kamis" and (found.uses_node_weights or not _is_of_covers(found)):
        raise SettingsError(f"{solver} finds vertex covers, not {found.name}; use exact")
    if _is_of_covers(found) or type(found).binary_program is not Problem.binary_program:
        return Exact(found, limit, solver)
    if solver != "exact":
        raise SettingsError(f"{found.name} is no binary program for {solver}; use exact")
    return Optimum(found)


def _is_of_covers(problem: Problem) -> bool:
    """Return whether vertex covers of some graph, or their complements, are the solutions."""
    return isinstance(problem, MinimumVertexCover) or cover_problem(problem) is not None
