"""The process that `cover_solvers` starts: one vertex cover by HiGHS or KaMIS.

Writes one JSON object a line to a file, as soon as it is known: ``{"nodes": [...]}`` for a cover,
``{"bound": b}`` for a bound. What solvers print themselves goes elsewhere.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]
Tell = Callable[..., None]


def main() -> None:
    """Solve the model of the file given as the second argument."""
    started = time.monotonic()
    solver, path, records, limit = *sys.argv[1:4], float(sys.argv[4])
    with np.load(path) as data:
        arrays = dict(data)

    def left() -> float:
        return max(0.1, started + limit - time.monotonic())

    with open(records, "w", encoding="utf-8") as stream:

        def tell(**record: Any) -> None:
            stream.write(json.dumps(record) + "\n")
            stream.flush()

        {"highs": by_highs, "kamis": by_kamis}[solver](arrays, left, tell)


def by_highs(arrays: Arrays, left: Callable[[], float], tell: Tell) -> None:
    """Solve the integer program: a variable a node, a constraint an edge."""
    highspy: Any = import_module("highspy")

    n, edges = int(arrays["n"]), arrays["edges"]
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = n, len(edges)
    model.col_cost_ = np.ones(n)
    model.col_lower_, model.col_upper_ = np.zeros(n), np.ones(n)
    model.row_lower_, model.row_upper_ = np.ones(len(edges)), np.full(len(edges), np.inf)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.arange(0, 2 * len(edges) + 1, 2)
    model.a_matrix_.index_ = edges.reshape(-1)
    model.a_matrix_.value_ = np.ones(2 * len(edges))
    model.integrality_ = [highspy.HighsVarType.kInteger] * n
    solver = highspy.Highs()
    solver.silent()
    solver.passModel(model)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("time_limit", left())
    solver.run()
    info = solver.getInfo()
    if info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
        values = np.array(solver.getSolution().col_value)
        tell(nodes=np.flatnonzero(values > 0.5).tolist())
    if math.isfinite(info.mip_dual_bound):
        tell(bound=math.ceil(info.mip_dual_bound - 1e-6))


def by_kamis(arrays: Arrays, left: Callable[[], float], tell: Tell) -> None:
    """Search by ReduMIS for a large independent set; all other nodes are a cover."""
    kamis: Any = import_module("chszlablib")

    n, edges = int(arrays["n"]), arrays["edges"]
    both = np.concatenate([edges, edges[:, ::-1]])
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(both[:, 0], minlength=n))])
    graph = kamis.Graph.from_csr(offsets, both[:, 1])
    outside = kamis.IndependenceProblems.redumis(graph, time_limit=left()).vertices
    tell(nodes=np.setdiff1d(np.arange(n), outside).tolist())


if __name__ == "__main__":
    main()
