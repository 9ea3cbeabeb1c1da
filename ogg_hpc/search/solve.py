"""From a graph to a verified solution with a bound: what ``ogg-hpc solve`` does."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import InfeasibleError, SettingsError
from ogg_hpc.graphs.batch import COLLECTIVES, GraphBatch
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.row_block import BALANCE, RowBlock, scatter_rows
from ogg_hpc.policies.degree_messages import named_form
from ogg_hpc.policies.file import StoredPolicy
from ogg_hpc.policies.scalar_form import scalar_form
from ogg_hpc.problems.graph_input import read_undirected, without_unused_weights
from ogg_hpc.problems.problem import Problem
from ogg_hpc.problems.registry import problem_by_name
from ogg_hpc.problems.solution import graph_record, plain_number, write_solution
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.files import check_writable
from ogg_hpc.runtime.launch import start
from ogg_hpc.runtime.progress import progress_bar
from ogg_hpc.search.approach import NO_FRONTIER, Approach, find_approach
from ogg_hpc.search.kernel import find_kernel
from ogg_hpc.search.networks import DEGREE_MESSAGES, has_cover_rules
from ogg_hpc.search.policy_search import Scorer, SearchResult, search
from ogg_hpc.search.polish import polish
from ogg_hpc.search.samples import sampled
from ogg_hpc.search.schedule import ONE, Schedule, load_schedule

T = TypeVar("T")

ENGINES = ("auto", "reference", "frontier", "scalar")


@dataclass(frozen=True)
class SolveSettings:
    """How a graph is solved.

    Attributes
    ----------
    problem
        Name of a problem, or ``FILE.py:CLASS``.
    policy
        Name of a shipped policy or of a heuristic (``max-degree``, ``min-degree``,
        ``inverse-degree`` or ``inverse-degree:EXPONENT``, ``two-message``, or one of the
        problem's own), or a parameter file; None takes the policy shipped for the problem, else
        its best heuristic. Policies and heuristics of vertex cover also solve the problems whose
        solutions are the complements of covers: maximum independent set and maximum clique.
    policy_class
        ``FILE.py:CLASS`` of the user's own network, if the parameter file is of one.
    select
        Nodes chosen a step: ``one``, ``adaptive``, or a TOML file. A problem that does not allow
        several at once is always solved with ``one``.
    engine
        ``reference`` (any network, and messages of degrees), ``frontier`` (structure2vec, by what
        a step changes), ``scalar`` (structure2vec of up to two layers and messages of degrees, by
        integers; many times faster), or ``auto`` for the fastest that can be used. ``max-degree``,
        ``min-degree`` and a problem's own heuristics need none: ``auto``.
    refresh_above
        A two-message policy sends a node's answer anew when it has moved by more than this share;
        0 for always.
    collective, balance
        How neighbour sums cross ranks, and what is balanced over them.
    reduce
        Whether the problem's exact reductions shrink the graph first, so that the policy solves
        the kernel that is left; off for the policy alone.
    samples
        Solve by so many policies, the given one and others around it, and keep the best solution;
        more than one are spread over the ranks, each of which then solves whole graphs alone.
    polish
        Seconds of local search after the policy, on every rank from a seed of its own.
    seed
        Of the samples and of the polish; one policy's search draws no random numbers.
    file_format, undirected
        How the graph file is read.
    node_weights
        A file of weights of the nodes, for a graph that is read from a file.
    """

    problem: str = "mvc"
    policy: str | None = None
    policy_class: str | None = None
    select: str = "adaptive"
    engine: str = "auto"
    refresh_above: float = 0.05
    collective: str = "allgather"
    balance: str = "rows"
    reduce: bool = True
    samples: int = 1
    polish: float = 0.0
    seed: int = 0
    file_format: str | None = None
    undirected: bool = False
    node_weights: str | None = None


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
    stop: Callable[[], bool] = lambda: False,
) -> Solved:
    """Solve one graph as `solve` does, with all settings in one object (collective).

    Where `stop` says on any rank that it is time, what would only make the solution better ends:
    further samples and the polish.
    """
    clock, earlier = _Clock(), comm.report()
    problem, approach, schedule = comm.on_all(lambda: _check(settings))
    rules = approach.rules
    path = str(graph) if isinstance(graph, str | Path) else type(graph).__name__
    with clock("read"):
        host = _OnRoot(comm, lambda: _as_graph(graph, settings, problem))
    if output is not None:
        comm.on_root(lambda: check_writable(output))
    with clock("reduce"):
        around = _OnRoot(comm, lambda: find_kernel(host.get(), problem, rules, settings.reduce))
        kernel = _OnRoot(comm, lambda: around.get().graph)
    if approach.heuristic is not None:
        with clock("policy"):
            order = kernel.do(approach.heuristic)
        result, engine = SearchResult([order]), "host"
    elif settings.samples > 1:
        result, engine = _best_of_samples(comm, kernel, approach, settings, schedule, clock, stop)
    else:
        result, engine = _search(comm, kernel, approach, settings, schedule, clock)
    with clock("bound"):
        kernel_bound = kernel.do(rules.bound)
    with clock("polish"):
        found = kernel.do(lambda g: rules.improve(g, result.solutions[0]))
        if settings.polish > 0:
            limit, seed = settings.polish, settings.seed
            found = polish(comm, rules, kernel.value, found, kernel_bound, limit, seed, stop)

    def finish(graph: Graph) -> tuple[list[Any], dict[str, Any]]:
        with clock("polish"):
            nodes = np.sort(problem.improve(graph, around.get().lift(found)))
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
            "warnings": [*graph.warnings, *approach.warnings],
        }

    labels, record = host.do(finish)
    seconds = clock.report()
    record["reduced"]["seconds"] = seconds["reduce"]
    record |= {
        "policy": approach.name,
        "engine": engine,
        "select": schedule.name,
        "steps": len(result.step_seconds) or len(result.solutions[0]),
        "samples": settings.samples,
        "seed": settings.seed,
        "ranks": comm.size,
        "device": result.device,
        "seconds": seconds,
        "step_seconds": _summary(result.step_seconds),
        "collectives": comm.report(earlier),
        "adjacency_bytes": max(comm.gather_objects(result.adjacency_bytes)),
        "peak_memory_bytes": max(comm.gather_objects(comm.device.peak_memory_bytes())),
        "solution": None if output is None else str(output),
        "stopped": "signal" if any(comm.gather_objects(stop())) else None,
    }
    return Solved(record, labels)


def _best_of_samples(
    comm: Communicator,
    host: _OnRoot[Graph],
    approach: Approach,
    settings: SolveSettings,
    schedule: Schedule,
    clock: _Clock,
    stop: Callable[[], bool],
) -> tuple[SearchResult, str]:
    """Let each rank build solutions alone, by policies around the given one; keep the best."""
    rules, stored = approach.rules, approach.stored
    assert stored is not None  # see `_check`
    graph = comm.broadcast_object(host.value)
    assert graph is not None
    sign = -1 if rules.maximize else 1
    alone = comm.split(comm.rank)

    def search_mine() -> list[tuple[float, int, SearchResult, str]]:
        whole = _OnRoot(alone, lambda: graph)
        found: list[tuple[float, int, SearchResult, str]] = []
        for sample in range(comm.rank, settings.samples, comm.size):
            if found and stop():
                break
            policy = replace(approach, stored=sampled(stored, settings.seed, sample))
            result, engine = _search(alone, whole, policy, settings, schedule, clock)
            value = sign * rules.objective(graph, rules.improve(graph, result.solutions[0]))
            found.append((value, sample, result, engine))
        return sorted(found, key=lambda each: each[:2])[:1]

    mine = comm.on_all(search_mine)
    best = min(each for part in comm.gather_objects([m[:2] for m in mine]) for each in part)
    [(*_, result, engine)] = comm.broadcast_object(mine, best[1] % comm.size)
    return result, engine


def _search(
    comm: Communicator,
    host: _OnRoot[Graph],
    approach: Approach,
    settings: SolveSettings,
    schedule: Schedule,
    clock: _Clock,
) -> tuple[SearchResult, str]:
    problem, stored = approach.rules, approach.stored
    with clock("setup"):
        block = scatter_rows(comm, host.value, settings.balance)
        forced = host.do(problem.forced)
        form = comm.on_all(lambda: _form(approach, settings, block))
    with progress_bar(comm, "solving", block.n) as show:

        def on_step(step: int, left: NDArray[np.int64]) -> None:
            show(block.n - int(left[0]), f"step {step}, {left[0]} candidates left")

        if form is not None and settings.engine != "reference":
            # structure2vec in scalar form is one message a node.
            network = approach.network or DEGREE_MESSAGES
            with clock("policy"):
                return network.search(comm, block, form, schedule, forced, on_step), "scalar"

        with clock("setup"):
            scorer: Scorer
            if approach.network is not None:
                scorer, engine = approach.network.scorer(form), "reference"
            else:
                assert stored is not None
                scorer, engine = comm.on_all(lambda: _scorer(comm, stored, settings))
            batch = GraphBatch(comm, [block], collective=settings.collective)
        with clock("policy"):
            return search(batch, problem, scorer, schedule, forced, on_step), engine


def _form(approach: Approach, settings: SolveSettings, block: RowBlock) -> Any:
    """Return the policy's form of messages if that is what scores, else None."""
    stored, form = approach.stored, None
    if stored is None:
        return named_form(approach.name, block.n, settings.refresh_above)
    if approach.network is not None:
        return approach.network.form(stored, block.n, settings.refresh_above)
    if (
        has_cover_rules(approach.rules)
        and block.weights is None
        and settings.engine in ("auto", "scalar")
    ):
        form = scalar_form(stored, block.mean_degree)
    if settings.engine == "scalar" and form is None:
        raise SettingsError(
            "the scalar engine needs a structure2vec policy of at most two layers, the rules of "
            "vertex cover and an unweighted graph; use --engine auto"
        )
    return form


def _scorer(
    comm: Communicator, stored: StoredPolicy, settings: SolveSettings
) -> tuple[Scorer, str]:
    """Return what scores by a network, and the engine's name."""
    # torch takes seconds to import: only where it is needed
    from ogg_hpc.policies.scorer import PolicyScorer
    from ogg_hpc.search.frontier_engine import FrontierScorer, can_follow

    network = stored.policy(settings.policy_class).to(comm.device.name)
    # Measured on CPUs, only episodes of a step or two take longer by the frontier engine (1.4
    # times); on GPUs others do, too.
    wanted = settings.engine == "frontier" or (
        settings.engine == "auto" and comm.device.name == "cpu"
    )
    if wanted and can_follow(network):
        return FrontierScorer(network), "frontier"
    if settings.engine == "frontier":
        raise SettingsError(NO_FRONTIER)
    return PolicyScorer(network), "reference"


class _OnRoot(Generic[T]):
    """What rank 0 alone holds, made there (collective).

    Attributes
    ----------
    value
        None on the other ranks.
    """

    def __init__(self, comm: Communicator, make: Callable[[], T]) -> None:
        self._comm = comm
        self.value: T | None = None

        def keep() -> None:
            self.value = make()

        comm.on_root(keep)

    def get(self) -> T:
        """Return the value, on rank 0."""
        assert self.value is not None
        return self.value

    def do(self, function: Callable[[T], Any]) -> Any:
        """Return on every rank what a function of the value gives on rank 0 (collective)."""
        return self._comm.on_root(lambda: function(self.get()))


class _Clock:
    """Seconds by phase."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        phases = ("read", "reduce", "setup", "policy", "polish", "bound", "verify")
        self._seconds = dict.fromkeys(phases, 0.0)

    @contextmanager
    def __call__(self, phase: str) -> Any:
        start = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[phase] += time.perf_counter() - start

    def report(self) -> dict[str, float]:
        return {**self._seconds, "total": time.perf_counter() - self._start}


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


def _check(settings: SolveSettings) -> tuple[Problem, Approach, Schedule]:
    """Return what is solved by what, and how, before a graph that may be large is read."""
    if settings.engine not in ENGINES:
        raise SettingsError(f"engine {settings.engine!r} is unknown; use {', '.join(ENGINES)}")
    if settings.collective not in COLLECTIVES:
        raise SettingsError(
            f"collective {settings.collective!r} is unknown; use one of {', '.join(COLLECTIVES)}"
        )
    if settings.balance not in BALANCE:
        raise SettingsError(
            f"balance {settings.balance!r} is unknown; use one of {', '.join(BALANCE)}"
        )
    if not 0 <= settings.refresh_above < math.inf:
        raise SettingsError("refresh_above must not be negative, and finite")
    if not 0 <= settings.polish < math.inf:
        raise SettingsError("polish takes seconds: a finite number, 0 for no local search")
    problem, schedule = problem_by_name(settings.problem), load_schedule(settings.select)
    approach = find_approach(problem, settings.policy, settings.engine)
    if settings.samples < 1:
        raise SettingsError("samples must be at least 1")
    if settings.samples > 1 and approach.stored is None:
        raise SettingsError(
            f"samples are drawn around a learned policy's parameters, and {approach.name} is a "
            "heuristic; choose a policy, or leave samples out"
        )
    return problem, approach, schedule if approach.rules.several_at_once else ONE


def _summary(seconds: list[float]) -> dict[str, float]:
    if not seconds:
        return {}
    return {
        "median": float(np.median(seconds)),
        "mean": float(np.mean(seconds)),
        "max": float(np.max(seconds)),
        "first_100_median": float(np.median(seconds[:100])),
    }
