"""Solutions by solvers of others, to compare with: CP-SAT, HiGHS, Gurobi, CPLEX and KaMIS."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import MissingExtraError, SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.binary_program import BinaryProgram
from ogg_hpc.problems.problem import Problem

_KILL_AFTER = 2.0  # seconds past the limit
_NEEDS = {
    "exact": ("ortools", "solvers"),
    "highs": ("highspy", "solvers"),
    "gurobi": ("gurobipy", "gurobi"),
    "cplex": ("cplex", "cplex"),
    "kamis": ("chszlablib", "kamis"),
}

SOLVERS = tuple(_NEEDS)


@dataclass(frozen=True)
class ExactResult:
    """What a solver reached within its time.

    Attributes
    ----------
    nodes : (k,) int64
        Sorted ids of the best feasible solution.
    bound : float
        Proven bound on the objective.
    proven : bool
        Whether `nodes` is optimal.
    """

    nodes: NDArray[np.int64]
    bound: float
    proven: bool


def solve_by(solver: str, problem: Problem, graph: Graph, time_limit: float) -> ExactResult:
    """Return an optimal solution, or the best one within the time.

    Parameters
    ----------
    solver
        ``exact`` for OR-Tools CP-SAT, ``highs`` for HiGHS, ``gurobi`` and ``cplex`` where a
        licence is at hand (those of their packages are for small graphs), all on
        `Problem.binary_program`;
        ``kamis`` for the evolutionary search ReduMIS [1]_ for vertex covers, which proves nothing.
        Each runs with one thread in a process of its own, because solvers may overrun their own
        limits on large programs.
    problem
        One with a binary program and a greedy solution, which is the result where nothing better
        is found.
    graph
        A graph.
    time_limit
        Seconds; the process is killed 2 seconds later, and what it had found still holds.

    Raises
    ------
    MissingExtraError
        The solver is not installed.
    SettingsError
        The limit is not positive, the problem is no binary program, or the process fails.

    References
    ----------
    .. [1] S. Lamm, P. Sanders, C. Schulz, D. Strash and R. F. Werneck, "Finding near-optimal
       independent sets at scale", Journal of Heuristics 23, 207-229, 2017.
    """
    if not time_limit > 0:
        raise SettingsError(f"the time limit has to be positive, not {time_limit:g} seconds")
    module, extra = _NEEDS[solver]
    if importlib.util.find_spec(module) is None:
        raise MissingExtraError(module, extra)
    program = problem.binary_program(graph)
    if program is None:
        raise SettingsError(f"{problem.name} is no binary program for {solver}: leave it out")

    start = problem.greedy(graph)
    assert start is not None
    sign = -1 if problem.maximize else 1  # a program minimises
    nodes, cost = np.sort(start), sign * problem.objective(graph, start)
    least = sign * problem.bound(graph)
    for record in _run(solver, program, graph.n, nodes, time_limit) if cost > least else ():
        least = max(least, record.get("bound", least))
        if "nodes" in record:
            found = np.sort(problem.improve(graph, np.array(record["nodes"], dtype=np.int64)))
            found_cost = sign * problem.objective(graph, found)
            if found_cost < cost:
                nodes, cost = found, found_cost
    return ExactResult(nodes, sign * least, cost == least)


def _run(
    solver: str, program: BinaryProgram, n: int, start: NDArray[np.int64], time_limit: float
) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="ogg-hpc-") as folder:
        arrays, records = Path(folder, "program.npz"), Path(folder, "records.jsonl")
        np.savez(arrays, n=n, start=start, **asdict(program))
        records.touch()
        # By its path and with -P, so that no other module of the folder or the package is met.
        script = Path(__file__).with_name("exact_process.py")
        command = [sys.executable, "-P", str(script), solver, str(arrays), str(records)]
        try:
            done = subprocess.run(
                [*command, str(time_limit), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                timeout=time_limit + _KILL_AFTER,
                check=False,
            )
        except subprocess.TimeoutExpired:
            done = None
        # A negative code is a kill from outside: what was written before it still holds.
        if done is not None and done.returncode > 0:
            message = done.stderr.decode(errors="replace").strip().splitlines()
            raise SettingsError(
                f"the process of {solver} failed: {message[-1] if message else done}"
            )
        # A killed process may leave half a line behind.
        return [json.loads(line) for line in records.read_text("utf-8").split("\n")[:-1]]
