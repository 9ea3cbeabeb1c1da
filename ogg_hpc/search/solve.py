"""From a graph to a verified solution with a bound: what ``ogg-hpc solve`` does."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ogg_hpc.errors import InfeasibleError, SettingsError
from ogg_hpc.graphs.batch import COLLECTIVES
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.ordering import check_order
from ogg_hpc.graphs.reordering import Reordering, reorder
from ogg_hpc.graphs.row_block import check_balance
from ogg_hpc.problems.graph_input import read_undirected, without_unused_weights
from ogg_hpc.problems.problem import Problem
from ogg_hpc.problems.registry import problem_by_name
from ogg_hpc.problems.solution import graph_record, plain_number, write_solution
from ogg_hpc.runtime.clock import Clock, over_ranks
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.environment import commit, hosts
from ogg_hpc.runtime.files import check_writable
from ogg_hpc.runtime.launch import start
from ogg_hpc.runtime.on_root import OnRoot
from ogg_hpc.runtime.stop import Stop, never
from ogg_hpc.search.approach import Approach, find_approach
from ogg_hpc.search.kernel import find_kernel
from ogg_hpc.search.policy_search import SearchResult
from ogg_hpc.search.polish import polish
from ogg_hpc.search.rollout import best_rollout, rollout
from ogg_hpc.search.schedule import ONE, Schedule, load_schedule
from ogg_hpc.search.settings import ENGINES, SolveSettings

PHASES = ("read", "order", "reduce", "setup", "policy", "polish", "bound", "verify")


@dataclass
class Solved:
    """A verified solution.

    Attributes
    ----------
    record : dict
        What ``ogg-hpc solve --json`` prints.
    nodes : list
        Labels of the nodes in the solution, in the order of their ids.
    """

    record: dict[str, Any]
    nodes: list[int] | list[str]


def solve(
    graph: Any,
    problem: str = "mvc",
    *,
    output: str | Path | None = None,
    comm: Communicator | None = None,
    **settings: Any,
) -> Solved:
    """Solve a graph optimisation problem (collective).

    Parameters
    ----------
    graph
        A path, a NetworkX graph, a SciPy sparse matrix, or a `Graph`. Rank 0's counts.
    problem
        Name of the problem, or ``FILE.py:CLASS``.
    output
        Where the solution is written; nowhere by default.
    comm
        The ranks; by default all that the launcher started, or this process alone.
    **settings
        Further fields of `SolveSettings`.

    Returns
    -------
    Solved
        The record and the labels of the chosen nodes, on every rank.

    Raises
    ------
    OggError
        Bad input or settings, or a result that failed verification.

    Examples
    --------
    >>> import networkx as nx, ogg_hpc
    >>> ogg_hpc.solve(nx.path_graph(5), policy="max-degree").nodes
    [1, 3]
    """
    return solve_graph(
        comm if comm is not None else start(),
        graph,
        SolveSettings(problem=problem, **settings),
        output,
    )


def solve_graph(
    comm: Communicator,
    graph: Any,
    settings: SolveSettings,
    output: str | Path | None = None,
    stop: Stop = never,
) -> Solved:
    """Solve one graph as `solve` does, with all settings in one object (collective).

    Where `stop` holds on any rank, all that takes long ends with what it has: the reductions, the
    search, whose solution is completed by a heuristic, samples, the polish and the bound.
    """
    phases = [phase for phase in PHASES if phase != "order" or settings.order is not None]
    clock, earlier = Clock(comm, *phases), comm.report()
    problem, approach, schedule = comm.on_all(lambda: check_settings(settings))
    rules = approach.rules
    path = str(graph) if isinstance(graph, str | Path) else type(graph).__name__
    with clock("read"):
        host = OnRoot(comm, lambda: _as_graph(graph, settings, problem))
    if output is not None:
        comm.on_root(lambda: check_writable(output))
    numbered, ordering = host, None
    if settings.order is not None and not _asked(comm, stop):
        with clock("order"):
            ordering = OnRoot(comm, lambda: _reordered(host.get(), settings, comm.size))
            numbered = OnRoot(comm, lambda: ordering.get().graph)
    with clock("reduce"):
        around = OnRoot(
            comm, lambda: find_kernel(numbered.get(), problem, rules, settings.reduce, stop)
        )
        kernel = OnRoot(comm, lambda: around.get().graph)
    if rules.completion() and _asked(comm, stop):
        none_yet = np.empty(0, np.int64)
        with clock("policy"):
            order = around.do(lambda left: left.rules.complete(left.graph, none_yet))
        result, engine = SearchResult([order], [none_yet]), "host"
    elif approach.heuristic is not None:
        with clock("policy"):
            order = kernel.do(approach.heuristic)
        result, engine = SearchResult([order]), "host"
    elif settings.samples > 1:
        result, engine = best_rollout(comm, kernel, approach, settings, schedule, clock, stop)
    else:
        result, engine = rollout(comm, kernel, approach, settings, schedule, clock, stop)
    with clock("bound"):
        kernel_bound = around.do(lambda left: left.rules.bound(left.graph, stop))
    with clock("polish"):
        found = around.do(lambda left: left.rules.improve(left.graph, result.solutions[0]))
        if settings.polish > 0 and not _asked(comm, stop):
            limit, seed = settings.polish, settings.seed
            found = polish(comm, rules, kernel.value, found, kernel_bound, limit, seed, stop)

    def finish(graph: Graph) -> tuple[list[Any], dict[str, Any]]:
        with clock("polish"):
            nodes = problem.improve(numbered.get(), around.get().lift(found))
            if ordering is not None:
                nodes = ordering.get().order[nodes]
            nodes = np.sort(nodes)
        with clock("bound"):
            bound = plain_number(around.get().bound(kernel_bound))
        with clock("verify"):
            violation = problem.violation(graph, nodes)
            if violation:
                raise InfeasibleError(f"{path}: the search ended with no solution: {violation}")
            objective = problem.objective(graph, nodes)
        if output is not None:
            write_solution(output, problem, graph, nodes, graph_path=path)
        return graph.labels_of(nodes), {
            "problem": problem.name,
            "graph": graph_record(path, graph),
            "objective": plain_number(objective),
            "feasible": True,
            "bound": bound,
            "gap": abs(objective - bound) / max(abs(objective), 1.0),
            "optimal": objective == bound,
            "reduced": {"nodes": kernel.get().n, "edges": kernel.get().m},
            "order": None if ordering is None else _order_record(ordering.get(), settings),
            "warnings": [*graph.warnings, *approach.warnings],
        }

    labels, record = host.do(finish)
    stopped = _asked(comm, stop)
    if stopped:
        ended = "reductions, samples, polish and the bound may have ended early"
        if result.partial is not None:
            [chosen], heuristic = result.partial, around.do(lambda left: left.rules.completion())
            ended = f"{approach.name} had chosen {len(chosen)} nodes, {heuristic} chose the rest"
        record["warnings"].append(f"a signal came: {ended}")
    steps = len(result.step_seconds)
    if not steps and result.partial is None:  # one node a step
        steps = len(result.solutions[0])
    seconds = clock.report()
    record["reduced"]["seconds"] = seconds["reduce"]
    record |= {
        "policy": approach.name,
        "engine": engine,
        "select": schedule.name,
        "steps": steps,
        "samples": settings.samples,
        "seed": settings.seed,
        "ranks": comm.size,
        "device": result.device,
        "commit": comm.on_root(commit),
        "hosts": hosts(comm),
        "seconds": seconds,
        "phases": over_ranks(comm, seconds),
        "step_seconds": _summary(result.step_seconds),
        "collectives": comm.report(earlier),
        "adjacency_bytes": max(comm.gather_objects(result.adjacency_bytes)),
        "peak_memory_bytes": max(comm.gather_objects(comm.device.peak_memory_bytes())),
        "solution": None if output is None else str(output),
        "stopped": "signal" if stopped else None,
    }
    return Solved(record, labels)


def _asked(comm: Communicator, stop: Stop) -> bool:
    """Return whether any rank is asked to stop (collective)."""
    return any(comm.gather_objects(stop()))


def _as_graph(source: Any, settings: SolveSettings, problem: Problem) -> Graph:
    if isinstance(source, Graph):
        graph = source
    elif isinstance(source, str | Path):
        graph = read_undirected(
            source, settings.file_format, settings.undirected, settings.node_weights
        )
    elif hasattr(source, "tocoo"):
        graph = Graph.from_scipy(source)
    elif hasattr(source, "edges") and hasattr(source, "is_directed"):
        graph = Graph.from_networkx(source)
    else:
        raise SettingsError(
            f"cannot take a {type(source).__name__} as a graph; give a path, a NetworkX graph "
            "or a SciPy sparse matrix"
        )
    if graph.directed and not settings.undirected:
        raise SettingsError(
            "the graph is directed, the problem is not; undirected=True takes every arc as an edge"
        )
    return without_unused_weights(graph.to_undirected(), problem)


def check_settings(settings: SolveSettings) -> tuple[Problem, Approach, Schedule]:
    """Return what is solved by what, and how, before a graph that may be large is read.

    Raises
    ------
    SettingsError
        Settings that do not fit.
    """
    if settings.engine not in ENGINES:
        raise SettingsError(f"engine {settings.engine!r} is unknown; use {', '.join(ENGINES)}")
    if settings.collective not in COLLECTIVES:
        raise SettingsError(
            f"collective {settings.collective!r} is unknown; use one of {', '.join(COLLECTIVES)}"
        )
    check_balance(settings.balance)
    if settings.order is not None:
        check_order(settings.order)
    if settings.refresh_above is not None and not 0 <= settings.refresh_above < math.inf:
        raise SettingsError("refresh_above must not be negative, and finite")
    if not 0 <= settings.polish < math.inf:
        raise SettingsError("polish takes seconds: a finite number, 0 for no local search")
    problem = problem_by_name(settings.problem)
    schedule = load_schedule(settings.select or problem.select)
    approach = find_approach(problem, settings.policy, settings.engine)
    if settings.samples < 1:
        raise SettingsError("samples must be at least 1")
    if settings.samples > 1 and approach.stored is None:
        raise SettingsError(
            f"samples are drawn around a learned policy's parameters, and {approach.name} is a "
            "heuristic; choose a policy, or leave samples out"
        )
    several = approach.rules.several_at_once and approach.heuristic is None
    return problem, approach, schedule if several else ONE


def _reordered(graph: Graph, settings: SolveSettings, ranks: int) -> Reordering:
    assert settings.order is not None
    return reorder(graph, settings.order, ranks, settings.balance)


def _order_record(ordering: Reordering, settings: SolveSettings) -> dict[str, Any]:
    return {
        "by": settings.order,
        "before": ordering.before.summary(),
        "after": ordering.after.summary(),
    }


def _summary(seconds: list[float]) -> dict[str, float]:
    if not seconds:
        return {}
    return {
        "median": float(np.median(seconds)),
        "mean": float(np.mean(seconds)),
        "max": float(np.max(seconds)),
        "first_100_median": float(np.median(seconds[:100])),
    }
