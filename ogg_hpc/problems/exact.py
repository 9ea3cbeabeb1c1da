"""Exact reference solutions, for graphs that are small or easy enough."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.errors import MissingExtraError, SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.bounds import double_cover_bound
from ogg_hpc.problems.greedy_cut import entry_weights, flip_gains, move
from ogg_hpc.problems.maximum_cut import MaximumCut
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover
from ogg_hpc.problems.problem import Problem

_KILL_AFTER = 2.0  # seconds past the limit


@dataclass(frozen=True)
class ExactResult:
    """What an exact solver reached within its time.

    Attributes
    ----------
    nodes : (k,) int64
        Sorted ids of the best feasible solution.
    bound : int
        Proven bound on the objective.
    proven : bool
        Whether `nodes` is optimal.
    """

    nodes: NDArray[np.int64]
    bound: int
    proven: bool


def brute_force(problem: Problem, graph: Graph) -> NDArray[np.int64]:
    """Return the sorted ids of a best feasible set, found by looking at all 2^n sets.

    Vertex cover and maximum cut have compiled paths for n <= 24 (below a second there); any other
    problem is asked for the violation and the objective of each set, n <= 16.

    Raises
    ------
    SettingsError
        A graph that is too large, or one without a feasible set.
    """
    compiled = isinstance(problem, MinimumVertexCover | MaximumCut)
    limit = 24 if compiled else 16
    if graph.n > limit:
        raise SettingsError(
            f"brute force takes at most {limit} nodes for {problem.name}, not {graph.n}"
        )
    if isinstance(problem, MinimumVertexCover):
        return _smallest_cover(graph)
    if isinstance(problem, MaximumCut):
        return _ids(_search_cuts(graph.row_offsets, graph.columns, entry_weights(graph)))
    return _best_of_all_sets(problem, graph)


def _best_of_all_sets(problem: Problem, graph: Graph) -> NDArray[np.int64]:
    sign = -1 if problem.maximize else 1
    best: tuple[float, NDArray[np.int64]] | None = None
    for code in range(1 << graph.n):
        nodes = _ids(code)
        value = sign * problem.objective(graph, nodes)
        if (best is None or value < best[0]) and problem.violation(graph, nodes) is None:
            best = value, nodes
    if best is None:
        raise SettingsError(f"the graph has no feasible solution of {problem.name}")
    return best[1]


def _smallest_cover(graph: Graph) -> NDArray[np.int64]:
    neighbours = np.zeros(graph.n, dtype=np.int64)
    np.bitwise_or.at(neighbours, graph.rows, 1 << graph.columns.astype(np.int64))
    neighbours[graph.looped] |= 1 << graph.looped
    return _ids(_search_covers(neighbours))


def _ids(code: int) -> NDArray[np.int64]:
    return np.array([i for i in range(int(code).bit_length()) if code >> i & 1], dtype=np.int64)


@njit(cache=True)
def _search_covers(neighbours: NDArray[np.int64]) -> int:
    n = len(neighbours)
    best, best_size = (1 << n) - 1, n
    for code in range(1 << n):
        size, rest = 0, code
        while rest and size < best_size:
            rest &= rest - 1
            size += 1
        if size >= best_size:
            continue
        # A cover holds all neighbours of each node outside; a loop makes a node its own.
        covers = True
        for v in range(n):
            if not code >> v & 1 and neighbours[v] & ~code:
                covers = False
                break
        if covers:
            best, best_size = code, size
    return best


@njit(cache=True)
def _search_cuts(
    row_offsets: NDArray[np.int64], columns: NDArray[Any], weights: NDArray[np.float64]
) -> int:
    n = len(row_offsets) - 1
    side, gains = np.zeros(n, np.bool_), np.empty(n)
    flip_gains(row_offsets, columns, weights, side, gains)
    best, best_value, code, value = 0, 0.0, 0, 0.0
    # By a Gray code, each set but the first differs from the one before in one node; the last
    # node stays where it is.
    for step in range(1, 1 << max(n - 1, 0)):
        v = 0
        while not step >> v & 1:
            v += 1
        value += gains[v]
        move(row_offsets, columns, weights, side, gains, v)
        code ^= 1 << v
        if value > best_value:
            best, best_value = code, value
    return best


def solve_exactly(graph: Graph, time_limit: float, workers: int = 1) -> ExactResult:
    """Return a minimum vertex cover by OR-Tools CP-SAT, or the best one within the time.

    The solver runs in a process of its own, started afresh and killed shortly after the
    limit, because CP-SAT may overrun its own limits on large models. Even then the result is
    a minimal cover with a valid bound.

    Parameters
    ----------
    graph
        An undirected graph.
    time_limit
        Seconds for the whole call; the process is killed 2 seconds later.
    workers
        Solver threads.

    Raises
    ------
    MissingExtraError
        OR-Tools is not installed.
    SettingsError
        The limit or the number of workers is not positive, or the solver process fails.
    """
    if not time_limit > 0:
        raise SettingsError(f"the time limit has to be positive, not {time_limit:g} seconds")
    if workers < 1:
        raise SettingsError(f"the number of workers has to be positive, not {workers}")
    if importlib.util.find_spec("ortools") is None:
        raise MissingExtraError("ortools", "solvers")

    start = MinimumVertexCover().improve(graph, np.arange(graph.n))
    nodes, bound = np.sort(start), double_cover_bound(graph)
    if len(nodes) > bound:
        for record in _run_cp_sat(graph, nodes, time_limit, workers):
            if "bound" in record:
                bound = max(bound, record["bound"])
            if "nodes" in record and len(record["nodes"]) < len(nodes):
                nodes = np.array(record["nodes"], dtype=np.int64)
    return ExactResult(nodes, bound, len(nodes) == bound)


def _run_cp_sat(
    graph: Graph, start: NDArray[np.int64], time_limit: float, workers: int
) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="ogg-hpc-") as folder:
        model, records = Path(folder, "model.npz"), Path(folder, "records.jsonl")
        sources, targets, _ = graph.edges()
        np.savez(
            model, n=graph.n, sources=sources, targets=targets, looped=graph.looped, start=start
        )
        # By its path and with -P, so that no other module of the folder or the package is met.
        command = [sys.executable, "-P", str(Path(__file__).with_name("cp_sat.py"))]
        arguments = [str(model), str(time_limit), str(workers)]
        with open(records, "wb") as stream:
            try:
                done = subprocess.run(
                    command + arguments,
                    stdin=subprocess.DEVNULL,
                    stdout=stream,
                    stderr=subprocess.PIPE,
                    timeout=time_limit + _KILL_AFTER,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                done = None
        # A negative code is a kill from outside: what was printed before it still holds.
        if done is not None and done.returncode > 0:
            message = done.stderr.decode(errors="replace").strip().splitlines()
            raise SettingsError(f"the CP-SAT process failed: {message[-1] if message else done}")
        # A killed process may leave half a line behind.
        lines = records.read_text().split("\n")[:-1]
    return [json.loads(line) for line in lines]
