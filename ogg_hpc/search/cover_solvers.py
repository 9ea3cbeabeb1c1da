"""Vertex covers by solvers of others, to compare with: CP-SAT, HiGHS and KaMIS."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from ogg_hpc.errors import MissingExtraError, SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.bounds import double_cover_bound
from ogg_hpc.problems.exact import ExactResult, solve_exactly
from ogg_hpc.problems.minimum_vertex_cover import MinimumVertexCover

_KILL_AFTER = 2.0  # seconds past the limit
_NEEDS = {"highs": ("highspy", "solvers"), "kamis": ("chszlablib", "kamis")}

SOLVERS = ("exact", *_NEEDS)


def solve_by(solver: str, graph: Graph, time_limit: float) -> ExactResult:
    """Return a minimum vertex cover, or the best one within the time.

    Parameters
    ----------
    solver
        ``exact`` for OR-Tools CP-SAT, ``highs`` for the integer program of HiGHS, ``kamis`` for
        the evolutionary search ReduMIS [1]_, which proves nothing. Each runs in a process of its
        own, with one thread.
    graph
        An undirected graph.
    time_limit
        Seconds; the process is killed 2 seconds later, and a minimal cover is the result.

    Raises
    ------
    MissingExtraError
        The solver is not installed.
    SettingsError
        The limit is not positive, or the process fails.

    References
    ----------
    .. [1] S. Lamm, P. Sanders, C. Schulz, D. Strash and R. F. Werneck, "Finding near-optimal
       independent sets at scale", Journal of Heuristics 23, 207-229, 2017.
    """
    if solver == "exact":
        return solve_exactly(graph, time_limit)
    if not time_limit > 0:
        raise SettingsError(f"the time limit has to be positive, not {time_limit:g} seconds")
    module, extra = _NEEDS[solver]
    if importlib.util.find_spec(module) is None:
        raise MissingExtraError(module, extra)

    problem = MinimumVertexCover()
    nodes, bound = np.sort(problem.improve(graph, np.arange(graph.n))), double_cover_bound(graph)
    for record in _run(solver, graph, time_limit) if len(nodes) > bound else ():
        # A node with a loop is in each cover, and what it covers is not asked of the solver.
        bound = max(bound, record.get("bound", 0) + len(graph.looped))
        if "nodes" in record:
            found = np.union1d(graph.looped, np.array(record["nodes"], dtype=np.int64))
            nodes = min(nodes, np.sort(problem.improve(graph, found)), key=len)
    return ExactResult(nodes, bound, len(nodes) == bound)


def _run(solver: str, graph: Graph, time_limit: float) -> list[dict[str, Any]]:
    u, v, _ = graph.edges()
    edges = np.stack([u, v], axis=1)[~(np.isin(u, graph.looped) | np.isin(v, graph.looped))]
    if not len(edges):
        return [{"nodes": []}]
    with tempfile.TemporaryDirectory(prefix="ogg-hpc-") as folder:
        model, records = Path(folder, "model.npz"), Path(folder, "records.jsonl")
        np.savez(model, n=graph.n, edges=edges)
        records.touch()
        # By its path and with -P, so that no other module of the folder or the package is met.
        script = Path(__file__).with_name("cover_process.py")
        command = [sys.executable, "-P", str(script), solver, str(model), str(records)]
        try:
            done = subprocess.run(
                [*command, str(time_limit)],
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
