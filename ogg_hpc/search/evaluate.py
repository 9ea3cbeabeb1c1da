"""Methods side by side on many graphs: what ``ogg-hpc evaluate`` does."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.graph_input import without_unused_weights
from ogg_hpc.problems.problem import Problem
from ogg_hpc.problems.registry import problem_by_name
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.progress import progress_bar
from ogg_hpc.runtime.stop import Stop, never
from ogg_hpc.search.collection import Listed, StoredObjectives
from ogg_hpc.search.methods import Found, Method, meets


@dataclass(frozen=True)
class Row:
    """One method on one graph.

    Attributes
    ----------
    family
        What the graph is reported with: a folder, a store or a generated family.
    graph
        The file, ``STORE:INDEX`` or ``FAMILY:INDEX``.
    nodes, edges
        Size of the graph.
    method
        Name of the method.
    objective
        Value of the verified solution.
    best
        Best value known.
    best_from
        Where that is from: ``optimum`` (proven by a bound), ``file`` (of best known values, or a
        store), or ``found`` (the best of the methods compared).
    ratio
        The objective by the best value, or the best value by the objective when maximising; 1 is
        best.
    bound
        The best bound that any method has proven; the proven optimum that a store tells.
    optimal
        Whether the objective meets the bound.
    seconds
        What the method took, without reading, bounding and verifying.
    """

    family: str
    graph: str
    nodes: int
    edges: int
    method: str
    objective: float
    best: float
    best_from: str
    ratio: float
    bound: float
    optimal: bool
    seconds: float


@dataclass(frozen=True)
class Evaluation:
    """What is compared, on what.

    Attributes
    ----------
    problem
        Name of a problem, or ``FILE.py:CLASS``.
    graphs
        The graphs.
    methods
        Each with a name of its own.
    best_known
        Best values by the graph's name or path.
    file_format, undirected, node_weights
        How graphs are read; see `Listed.read`.
    stored
        Best objectives that stores hold with the graphs.
    """

    problem: str
    graphs: Sequence[Listed]
    methods: Sequence[Method]
    best_known: Mapping[str, float] = field(default_factory=dict)
    file_format: str | None = None
    undirected: bool = False
    node_weights: str | None = None
    stored: StoredObjectives = field(default_factory=StoredObjectives)


def evaluate(comm: Communicator, evaluation: Evaluation, stop: Stop = never) -> list[Row]:
    """Compare methods on many graphs (collective).

    Each rank solves every P-th graph on its own, so that P graphs are solved at a time. One that
    is asked to stop, which it looks at before each method, leaves out the graphs that it has not
    done.

    Returns
    -------
    list of Row
        In the order of the graphs and of the methods, on every rank; but for the seconds they are
        the same for every number of ranks, where a time limit does not cut a method short.

    Raises
    ------
    OggError
        A graph that cannot be read, or a method that cannot solve the problem.
    """
    alone, problem = comm.alone(), comm.on_all(lambda: _check(evaluation))
    mine = range(comm.rank, len(evaluation.graphs), comm.size)

    def rows() -> list[list[Row]]:
        # A small graph first: methods that cannot be are found, others are compiled, before
        # large graphs are read and the clock runs.
        path = Graph.from_edges(5, np.arange(4), np.arange(1, 5))
        for method in evaluation.methods:
            method(alone, path)
        done: list[list[Row]] = []
        with progress_bar(comm, "evaluating", len(mine)) as show:
            for i in mine:
                show(len(done), evaluation.graphs[i].path)
                with alone.trace.span("graph", path=evaluation.graphs[i].path):
                    of_graph = _rows(alone, evaluation, problem, evaluation.graphs[i], stop)
                if of_graph is None:
                    break
                done.append(of_graph)
        return done

    by_rank = comm.gather_objects(comm.on_all(rows))
    return [
        row
        for i in range(len(evaluation.graphs))
        for of_graph in by_rank[i % comm.size][i // comm.size :][:1]
        for row in of_graph
    ]


def _check(evaluation: Evaluation) -> Problem:
    names = [method.name for method in evaluation.methods]
    if not names or len(set(names)) < len(names):
        raise SettingsError(f"methods need names of their own, at least one: {', '.join(names)}")
    return problem_by_name(evaluation.problem)


def _rows(
    comm: Communicator, evaluation: Evaluation, problem: Problem, listed: Listed, stop: Stop
) -> list[Row] | None:
    """Return the rows of a graph, or None when asked to stop before they are there."""
    graph = listed.read(evaluation.file_format, evaluation.undirected, evaluation.node_weights)
    graph = without_unused_weights(graph, problem)
    found: dict[str, Found] = {}
    for method in evaluation.methods:
        if stop():
            return None
        with comm.trace.span(method.name):
            found[method.name] = method(comm, graph)
    best_of, tightest = (max, min) if problem.maximize else (min, max)
    path, stored, listed_values = listed.path, evaluation.stored, evaluation.best_known
    bounds = [*(each.bound for each in found.values()), stored.proven.get(path)]
    bound = tightest(each for each in bounds if each is not None)
    best, best_from = best_of(each.objective for each in found.values()), "found"
    known = [stored.known.get(path), listed_values.get(path, listed_values.get(listed.name))]
    for value in known:
        if not meets(best, bound) and value is not None and best_of(value, best) == value:
            best, best_from = value, "file"
    if meets(best, bound):
        best_from = "optimum"
    return [
        Row(
            listed.family,
            listed.path,
            graph.n,
            graph.m,
            name,
            each.objective,
            best,
            best_from,
            _ratio(each.objective, best, problem.maximize),
            bound,
            meets(each.objective, bound),
            each.seconds,
        )
        for name, each in found.items()
    ]


def _ratio(objective: float, best: float, maximize: bool) -> float:
    if objective == best:  # both may be 0
        return 1.0
    above, below = (best, objective) if maximize else (objective, best)
    return above / below if below else math.inf
