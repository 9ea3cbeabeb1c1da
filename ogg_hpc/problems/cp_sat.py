"""The process that `exact.solve_exactly` starts: one vertex cover model, solved by CP-SAT.

Prints one JSON object a line, as soon as it is known: ``{"nodes": [...]}`` for a better
cover, ``{"bound": b}`` for a better bound. So nothing is lost when the process is killed.
"""

from __future__ import annotations

import json
import math
import sys
import time
from typing import Any

import numpy as np


def main() -> None:
    """Solve the model of the file given as the first argument."""
    started = time.monotonic()
    from ortools.sat.python import cp_model

    path, time_limit, workers = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    with np.load(path) as data:
        n, looped, start = int(data["n"]), data["looped"], data["start"]
        edges = zip(data["sources"].tolist(), data["targets"].tolist(), strict=True)

    model = cp_model.CpModel()
    chosen = [model.new_bool_var("") for _ in range(n)]
    for u, v in edges:
        model.add_bool_or(chosen[u], chosen[v])
    for v in looped.tolist():
        model.add(chosen[v] == 1)
    model.minimize(sum(chosen))
    in_start = np.zeros(n, dtype=np.bool_)
    in_start[start] = True
    for variable, value in zip(chosen, in_start.tolist(), strict=True):
        model.add_hint(variable, value)

    def tell_bound(bound: float) -> None:
        if math.isfinite(bound):
            tell(bound=math.ceil(bound - 1e-6))

    class TellNodes(cp_model.CpSolverSolutionCallback):
        def on_solution_callback(self) -> None:
            tell(nodes=[v for v in range(n) if self.boolean_value(chosen[v])])

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = workers
    # With the whole relaxation and its cuts one worker proves in a tenth of a second what it
    # cannot prove in a minute without (sparse graphs of thousands of nodes).
    solver.parameters.linearization_level = 2
    solver.parameters.max_time_in_seconds = max(0.1, started + time_limit - time.monotonic())
    solver.best_bound_callback = tell_bound
    status = solver.solve(model, TellNodes())
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE, cp_model.UNKNOWN):
        tell_bound(solver.best_objective_bound)


def tell(**record: Any) -> None:
    """Print one record, as one line that is complete or absent."""
    sys.stdout.write(json.dumps(record) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
