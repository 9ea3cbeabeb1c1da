"""From edge arrays to a `Graph`, with every complaint turned into an `InputError`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.graph import ConflictingWeightsError, Graph, Labels

Ids = NDArray[np.int64]
Weights = NDArray[np.float64]

_CANONICAL = re.compile(r"0|-?[1-9]\d{0,17}")


def build(
    path: Path,
    n: int,
    sources: NDArray[Any],
    targets: NDArray[Any],
    weights: Weights | None = None,
    *,
    rows: Ids | None = None,
    labels: Labels | None = None,
    directed: bool = False,
    warnings: tuple[str, ...] = (),
) -> Graph:
    """Build a graph from edge arrays, as `Graph.from_edges` does.

    Weights that are all 1 mean an unweighted graph. `rows` is the zero-based line of each edge.

    Raises
    ------
    InputError
        Two weights for one edge, or a weight that is not finite.
    """
    if weights is not None and not np.isfinite(weights).all():
        raise InputError(path, "a weight is not a finite number")
    if weights is not None and (weights == 1).all():
        weights = None
    try:
        return Graph.from_edges(
            n, sources, targets, weights, labels=labels, directed=directed, warnings=warnings
        )
    except ConflictingWeightsError as error:
        line = None if rows is None else int(rows[error.second]) + 1
        raise conflict(path, error, line) from None


def add_node_weights(path: Path, graph: Graph, weights: Weights, rows: Ids | None = None) -> Graph:
    """Return a graph with (n,) weights of its nodes; weights that are all 1 are none.

    `rows` is the zero-based line of each weight.

    Raises
    ------
    InputError
        A weight that is not positive and finite.
    """
    bad = np.flatnonzero(~((weights > 0) & (weights < np.inf)))
    if bad.size:
        node = graph.labels_of(bad[:1])[0]
        raise InputError(
            path,
            f"node {node} has weight {weights[bad[0]]:g}; expected a positive finite number",
            None if rows is None else int(rows[bad[0]]) + 1,
        )
    return graph if (weights == 1).all() else graph.with_node_weights(weights)


def leave_node_weights_out(graph: Graph, error: InputError) -> Graph:
    """Return the graph of a file whose weights of nodes are not what `add_node_weights` takes.

    Formats allow more: weights of 0, several of each node, or lines of another meaning. Problems
    without weights of nodes can do with such a file.
    """
    _, fault, _ = error.args
    return graph.with_unread_node_weights(fault, str(error).removesuffix(fault))


def conflict(path: Path, error: ConflictingWeightsError, line: int | None = None) -> InputError:
    """Return the complaint about two weights of one edge, to be raised."""
    u, v, w1, w2 = error.args[:4]
    return InputError(path, f"edge ({u}, {v}) has two weights, {w1:g} and {w2:g}; keep one", line)


def build_from_matrix(
    path: Path,
    n: int,
    sources: NDArray[Any],
    targets: NDArray[Any],
    values: Weights | None,
    directed: bool | None,
    *,
    rows: Ids | None = None,
    labels: Labels | None = None,
) -> Graph:
    """Build a graph from all stored entries of a square matrix.

    A symmetric matrix lists each undirected edge twice and gives an undirected graph unless
    `directed` is True; any other gives a directed graph unless `directed` is False. Stored
    zeros are no edges.
    """
    warnings: tuple[str, ...] = ()
    if values is not None and not values.all():
        kept = values != 0
        warnings = zeros_note(np.count_nonzero(~kept))
        sources, targets, values = sources[kept], targets[kept], values[kept]
        rows = None if rows is None else rows[kept]
    graph = build(
        path,
        n,
        sources,
        targets,
        values,
        rows=rows,
        labels=labels,
        directed=True,
        warnings=warnings,
    )
    if directed:
        return graph
    if is_symmetric(graph):
        # The sorted rows of a symmetric matrix are those of the undirected graph.
        return replace(graph, directed=False)
    if directed is None:
        return graph
    return build(path, n, sources, targets, values, rows=rows, labels=labels, warnings=warnings)


def zeros_note(zeros: int | np.integer[Any]) -> tuple[str, ...]:
    """Return the warning about entries of a matrix that are no edges, if there are some."""
    return (f"{zeros} stored zeros are not edges",) if zeros else ()


def is_symmetric(graph: Graph) -> bool:
    """Whether each arc of a directed graph has its reverse, with the same weight."""
    matrix = graph.to_scipy()
    reverse = matrix.T.tocsr()
    return (
        np.array_equal(matrix.indptr, reverse.indptr)
        and np.array_equal(matrix.indices, reverse.indices)
        and np.array_equal(matrix.data, reverse.data)
    )


def check_size(path: Path, n: int, edges: int) -> None:
    """Refuse a node count that only a damaged header can hold, before memory is taken for it."""
    if n > 10_000_000 + 1_000 * edges:
        raise InputError(path, f"declares {n} nodes for {edges} edges; check the header")


def one_based(n: int) -> Ids:
    """Return the labels 1, …, n."""
    return np.arange(1, n + 1, dtype=np.int64)


def labels_from(names: list[str]) -> Labels | None:
    """Return distinct names as labels, int64 if all are integers."""
    if all(_CANONICAL.fullmatch(name) for name in names):
        return integer_labels(np.array(names, dtype=np.int64))
    return np.array(names, dtype=np.str_)


def integer_labels(numbers: Ids) -> Ids | None:
    """Return integer labels, None if they are 0, 1, …, as a `Graph` wants it."""
    return None if np.array_equal(numbers, np.arange(len(numbers))) else numbers


def number_integers(ids: Ids) -> tuple[Ids, Ids]:
    """Return the sorted distinct integers of an array and the place of each entry among them."""
    low, high = int(ids.min()), int(ids.max())
    if high - low > 8 * ids.size + 1024:
        labels, places = np.unique(ids, return_inverse=True)
        return labels, places.reshape(ids.shape)
    # A table of the whole range beats a sort by far where the range is about as large.
    present = np.zeros(high - low + 1, dtype=bool)
    present[ids - low] = True
    return np.flatnonzero(present) + low, (np.cumsum(present) - 1)[ids - low]


def number_names(names: Iterable[bytes]) -> tuple[list[str], Ids]:
    """Return the sorted distinct names and the place of each entry among them."""
    seen: dict[bytes, int] = {}
    places = np.array([seen.setdefault(name, len(seen)) for name in names], dtype=np.int64)
    labels = sorted(seen)
    rank = np.empty(len(labels), dtype=np.int64)
    rank[[seen[label] for label in labels]] = np.arange(len(labels))
    return [label.decode() for label in labels], rank[places]
