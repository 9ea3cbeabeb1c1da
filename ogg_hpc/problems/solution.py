"""Solutions on disk: SOLUTION.json in the user's labels, or one 0 or 1 a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.problem import Problem
from ogg_hpc.runtime.files import write_whole

FORMAT = "ogg-hpc-solution/1"


class Solution(NamedTuple):
    """A solution as a file states it.

    Attributes
    ----------
    problem : str or None
        Name of the problem, where the file says so.
    nodes : (k,) int64
        Node ids of the graph that the file was read for.
    objective : float or None
        The value that the file claims.
    """

    problem: str | None
    nodes: NDArray[np.int64]
    objective: float | None


def graph_record(path: str | Path, graph: Graph) -> dict[str, Any]:
    """Return what every result says about the graph it was computed for."""
    return {
        "path": str(path),
        "nodes": graph.n,
        "edges": graph.m,
        "self_loops": graph.self_loops,
        "duplicates": graph.duplicates,
    }


def plain_number(value: float) -> int | float:
    """Return a whole number as an int, so that it is written without a decimal point."""
    return int(value) if float(value).is_integer() else float(value)


def write_solution(
    path: str | Path,
    problem: Problem,
    graph: Graph,
    nodes: NDArray[np.int64],
    *,
    graph_path: str | Path,
) -> None:
    """Write SOLUTION.json, whole or not at all.

    Parameters
    ----------
    path
        The file to write.
    problem
        The problem solved; it recomputes the objective.
    graph
        The graph solved.
    nodes
        (k,) ids of a feasible solution; the caller has verified it.
    graph_path
        Where the graph came from.
    """
    record = {
        "format": FORMAT,
        "problem": problem.name,
        "graph": graph_record(graph_path, graph),
        "objective": plain_number(problem.objective(graph, nodes)),
        "nodes": graph.labels_of(nodes),
    }
    with write_whole(path) as temporary:
        temporary.write_text(json.dumps(record, ensure_ascii=False) + "\n", encoding="utf-8")


def read_solution(path: str | Path, graph: Graph) -> Solution:
    """Read SOLUTION.json, or a text of n lines that hold 0 or 1 in the order of the nodes.

    Raises
    ------
    InputError
        A file that cannot be read, is damaged, or does not belong to the graph.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(path, "is no text; expected SOLUTION.json or one 0 or 1 a line") from None
    if text.lstrip().startswith("{"):
        return _read_json(path, text, graph)
    return Solution(None, _read_indicator(path, text, graph), None)


def _read_indicator(path: str | Path, text: str, graph: Graph) -> NDArray[np.int64]:
    lines = text.rstrip().splitlines()
    for number, line in enumerate(lines, start=1):
        if line.strip() not in ("0", "1"):
            raise InputError(
                path,
                f"{_short(line)} is neither 0 nor 1; expected one of them a line for each node, "
                "or a SOLUTION.json",
                number,
            )
    if len(lines) != graph.n:
        raise InputError(
            path,
            f"has {len(lines)} lines, but the graph has {graph.n} nodes; "
            "expected one 0 or 1 for each node",
        )
    return np.flatnonzero([line.strip() == "1" for line in lines]).astype(np.int64)


def _read_json(path: str | Path, text: str, graph: Graph) -> Solution:
    try:
        record = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            path, f"is not valid JSON: {error.msg}; write it again", error.lineno
        ) from None
    except RecursionError:
        raise InputError(path, "is not a solution: it is nested too deeply") from None
    except ValueError as error:  # a number of thousands of digits
        raise InputError(path, f"is not a solution: {error}") from None
    if record.get("format") != FORMAT:
        raise InputError(
            path, f"key 'format': expected {FORMAT!r}, not {_short(record.get('format'))}"
        )
    problem = record.get("problem")
    if not isinstance(problem, str):
        raise InputError(path, f"key 'problem': expected a name, not {_short(problem)}")
    objective = record.get("objective")
    if not isinstance(objective, int | float) or isinstance(objective, bool):
        raise InputError(path, f"key 'objective': expected a number, not {_short(objective)}")
    _check_graph(path, record.get("graph"), graph)
    return Solution(problem, _read_nodes(path, record.get("nodes"), graph), objective)


def _check_graph(path: str | Path, said: Any, graph: Graph) -> None:
    if not isinstance(said, dict):
        raise InputError(path, f"key 'graph': expected an object, not {_short(said)}")
    for key, count in (("nodes", graph.n), ("edges", graph.m)):
        if said.get(key) != count:
            raise InputError(
                path,
                f"key 'graph.{key}': says {_short(said.get(key))}, but this graph has {count}; "
                "give the graph that was solved, read with the same options",
            )


def _read_nodes(path: str | Path, labels: Any, graph: Graph) -> NDArray[np.int64]:
    if not isinstance(labels, list):
        raise InputError(path, f"key 'nodes': expected a list of labels, not {_short(labels)}")
    named = graph.labels is not None and graph.labels.dtype.kind == "U"
    kind, expected = (str, "a string") if named else (int, "an integer")
    seen = set()
    for i, label in enumerate(labels):
        if not isinstance(label, kind) or isinstance(label, bool):
            raise InputError(
                path,
                f"key 'nodes[{i}]': {_short(label)} is not {expected}, as this graph's labels are",
            )
        if label in seen:
            raise InputError(path, f"key 'nodes[{i}]': node {_short(label)} is listed twice")
        seen.add(label)
    try:
        return graph.ids_of(labels)
    except SettingsError as error:
        raise InputError(path, f"key 'nodes': {error}; labels are those of its file") from None


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
