"""The process that `exact_solvers` starts: one binary program by one solver.

Writes one JSON object a line to a file, as soon as it is known: ``{"nodes": [...]}`` for a better
solution, ``{"bound": b}`` for a bound on the costs. So nothing is lost when the process is killed.
What solvers print themselves goes elsewhere.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import signal
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]
Tell = Callable[..., None]

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Solve the program of the file given as the second argument."""
    started = time.monotonic()
    solver, path, records, limit, parent = *sys.argv[1:4], float(sys.argv[4]), int(sys.argv[5])
    _die_with(parent)
    with np.load(path) as data:
        arrays = dict(data)

    def left() -> float:
        return max(0.1, started + limit - time.monotonic())

    with open(records, "w", encoding="utf-8") as stream:

        def tell(**record: Any) -> None:
            stream.write(json.dumps(record) + "\n")
            stream.flush()

        SOLVERS[solver](arrays, left, tell)


def _die_with(parent: int) -> None:
    """Ask Linux to end this process with the one that started it, whatever kills that one."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            sys.exit(1)


def by_cp_sat(arrays: Arrays, left: Callable[[], float], tell: Tell) -> None:
    """Solve the program by constraint programming, from the solution that is known."""
    cp_model: Any = import_module("ortools.sat.python.cp_model")

    costs, start = _whole(arrays["costs"]), arrays["start"]
    model = cp_model.CpModel()
    variables = [model.new_bool_var("") for _ in costs]
    for columns, coefficients, lower in _rows(arrays):
        terms = [variables[column] for column in columns]
        if lower == 1 and (coefficients == 1).all():
            model.add_bool_or(terms)
        else:
            total = cp_model.LinearExpr.weighted_sum(terms, _whole(coefficients))
            model.add(total >= math.ceil(lower))
    model.minimize(cp_model.LinearExpr.weighted_sum(variables, costs))
    in_start = np.zeros(int(arrays["n"]), dtype=np.bool_)
    in_start[start] = True
    nodes = variables[: len(in_start)]
    for variable, value in zip(nodes, in_start.tolist(), strict=True):
        model.add_hint(variable, value)

    class TellNodes(cp_model.CpSolverSolutionCallback):  # type: ignore[misc]
        def on_solution_callback(self) -> None:
            tell(nodes=[v for v, node in enumerate(nodes) if self.boolean_value(node)])

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    # With the whole relaxation and its cuts one worker proves in a tenth of a second what it
    # cannot prove in a minute without (vertex covers of sparse graphs of thousands of nodes).
    solver.parameters.linearization_level = 2
    solver.parameters.max_time_in_seconds = left()
    solver.best_bound_callback = lambda bound: _tell_bound(bound, arrays, tell)
    status = solver.solve(model, TellNodes())
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE, cp_model.UNKNOWN):
        _tell_bound(solver.best_objective_bound, arrays, tell)


def by_highs(arrays: Arrays, left: Callable[[], float], tell: Tell) -> None:
    """Solve the program by branch and cut."""
    highspy: Any = import_module("highspy")

    variables, rows = len(arrays["costs"]), len(arrays["lower"])
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = variables, rows
    model.col_cost_ = arrays["costs"]
    model.col_lower_, model.col_upper_ = np.zeros(variables), np.ones(variables)
    model.row_lower_, model.row_upper_ = arrays["lower"], np.full(rows, np.inf)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = arrays["row_offsets"]
    model.a_matrix_.index_ = arrays["columns"]
    model.a_matrix_.value_ = arrays["coefficients"]
    model.integrality_ = [highspy.HighsVarType.kInteger] * variables
    solver = highspy.Highs()
    solver.silent()
    solver.passModel(model)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("mip_rel_gap", 0.0)  # 1e-4 by default: many nodes of a large solution
    solver.setOptionValue("time_limit", left())
    solver.run()
    info = solver.getInfo()
    if info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
        values = np.array(solver.getSolution().col_value)[: int(arrays["n"])]
        tell(nodes=np.flatnonzero(values > 0.5).tolist())
    _tell_bound(info.mip_dual_bound, arrays, tell)


def by_gurobi(arrays: Arrays, left: Callable[[], float], tell: Tell) -> None:
    """Solve the program by Gurobi, from the solution that is known."""
    gurobipy: Any = import_module("gurobipy")
    from scipy.sparse import csr_array

    costs, lower, n = arrays["costs"], arrays["lower"], int(arrays["n"])
    rows = csr_array(
        (arrays["coefficients"], arrays["columns"], arrays["row_offsets"]),
        (len(lower), len(costs)),
    )
    with gurobipy.Env(params={"OutputFlag": 0}) as env, gurobipy.Model(env=env) as model:
        variables = model.addMVar(len(costs), vtype="B", obj=costs)
        model.addMConstr(rows, variables, ">", lower)
        variables[:n].Start = np.isin(np.arange(n), arrays["start"]).astype(float)
        model.Params.Threads, model.Params.TimeLimit = 1, left()
        model.Params.MIPGap = 0.0  # as for HiGHS
        model.optimize()
        if model.SolCount:
            tell(nodes=np.flatnonzero(variables.X[:n] > 0.5).tolist())
        _tell_bound(model.ObjBound, arrays, tell)


def by_cplex(arrays: Arrays, left: Callable[[], float], tell: Tell) -> None:
    """Solve the program by CPLEX, from the solution that is known."""
    cplex: Any = import_module("cplex")

    costs, n = arrays["costs"].tolist(), int(arrays["n"])
    model = cplex.Cplex()
    for stream in ("log", "results", "warning", "error"):
        getattr(model, f"set_{stream}_stream")(None)
    model.variables.add(obj=costs, types="B" * len(costs))
    pairs = [cplex.SparsePair(row.tolist(), factors.tolist()) for row, factors, _ in _rows(arrays)]
    lower = arrays["lower"].tolist()
    model.linear_constraints.add(lin_expr=pairs, senses="G" * len(lower), rhs=lower)
    start = np.isin(np.arange(n), arrays["start"]).astype(float).tolist()
    effort = model.MIP_starts.effort_level.auto
    model.MIP_starts.add(cplex.SparsePair(list(range(n)), start), effort)
    model.parameters.threads.set(1)
    model.parameters.timelimit.set(left())
    model.parameters.mip.tolerances.mipgap.set(0.0)  # as for HiGHS
    model.solve()
    if model.solution.is_primal_feasible():
        values = np.array(model.solution.get_values(0, n - 1))
        tell(nodes=np.flatnonzero(values > 0.5).tolist())
    _tell_bound(model.solution.MIP.get_best_objective(), arrays, tell)


def by_kamis(arrays: Arrays, left: Callable[[], float], tell: Tell) -> None:
    """Search by ReduMIS for a large independent set; all other nodes are a vertex cover.

    The program has a row for each edge, and one for each node with a self loop: this is in the
    cover, and what it covers is not asked of the solver.
    """
    kamis: Any = import_module("chszlablib")

    n = int(arrays["n"])
    sets = [columns for columns, _, _ in _rows(arrays)]
    looped = np.array([v for each in sets if len(each) == 1 for v in each], np.int64)
    edges = np.array([each for each in sets if len(each) == 2], np.int64).reshape(-1, 2)
    edges = edges[~np.isin(edges, looped).any(axis=1)]
    both = np.concatenate([edges, edges[:, ::-1]])
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(both[:, 0], minlength=n))])
    outside: Any = np.arange(n)
    if len(edges):
        graph = kamis.Graph.from_csr(offsets, both[:, 1])
        outside = kamis.IndependenceProblems.redumis(graph, time_limit=left()).vertices
    tell(nodes=np.union1d(looped, np.setdiff1d(np.arange(n), outside)).tolist())


def _rows(arrays: Arrays) -> Any:
    """Iterate over the columns, coefficients and lower bound of each row."""
    inner = arrays["row_offsets"][1:-1]
    columns = np.split(arrays["columns"], inner)
    return zip(columns, np.split(arrays["coefficients"], inner), arrays["lower"], strict=True)


def _whole(values: NDArray[np.float64]) -> list[int] | list[float]:
    """Return whole numbers as integers, which CP-SAT takes as they are."""
    whole: list[int] | list[float] = values.tolist()
    return [int(value) for value in whole] if (values == np.rint(values)).all() else whole


def _tell_bound(bound: float, arrays: Arrays, tell: Tell) -> None:
    """Tell a bound on the costs, rounded up where all costs are whole numbers."""
    if math.isfinite(bound):
        costs = arrays["costs"]
        tell(bound=math.ceil(bound - 1e-6) if (costs == np.rint(costs)).all() else bound)


SOLVERS = {
    "exact": by_cp_sat,
    "highs": by_highs,
    "gurobi": by_gurobi,
    "cplex": by_cplex,
    "kamis": by_kamis,
}

if __name__ == "__main__":
    main()
