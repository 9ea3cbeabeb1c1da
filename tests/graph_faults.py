"""The invariants of a graph in memory, checked plainly: what checks of stores must find."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ogg_hpc.graphs.graph import Graph


def graph_faults(graph: Graph) -> Iterator[str]:
    """Yield a message for each broken invariant, in the words of `check_store`."""
    n, columns, rows = graph.n, graph.columns.astype(np.int64), graph.rows.astype(np.int64)
    outside = np.flatnonzero((columns < 0) | (columns >= n))
    if outside.size:
        yield f"row {rows[outside[0]]} names node {columns[outside[0]]}, there are {n} nodes"
        return
    if (loops := np.flatnonzero(columns == rows)).size:
        yield f"node {rows[loops[0]]} has a self loop"
    step, same_row = np.diff(columns), rows[1:] == rows[:-1]
    ordered = not (same_row & (step <= 0)).any()
    if (bad := np.flatnonzero(same_row & (step < 0))).size:
        yield f"row {rows[bad[0]]} is not sorted"
    if (bad := np.flatnonzero(same_row & (step == 0))).size:
        yield f"row {rows[bad[0]]} repeats node {columns[bad[0]]}"
    if graph.weights is not None and not np.isfinite(graph.weights).all():
        bad = np.flatnonzero(~np.isfinite(graph.weights))
        yield f"entry ({rows[bad[0]]}, {columns[bad[0]]}) has weight {graph.weights[bad[0]]}"
    if graph.node_weights is not None:
        wrong = np.flatnonzero(~((graph.node_weights > 0) & (graph.node_weights < np.inf)))
        if wrong.size:
            yield f"node {wrong[0]} has weight {graph.node_weights[wrong[0]]}"
    if graph.labels is not None:
        seen: dict[int | str, int] = {}
        for node, label in enumerate(graph.labels.tolist()):
            if label in seen:
                yield f"nodes {seen[label]} and {node} have the same label {label!r}"
                break
            seen[label] = node
    bad = np.flatnonzero((graph.looped < 0) | (graph.looped >= n))
    if bad.size:
        yield f"node {graph.looped[bad[0]]} with a self loop is out of range"
    if not graph.directed and ordered:
        weights = np.zeros(len(rows)) if graph.weights is None else graph.weights
        entries = list(zip(rows.tolist(), columns.tolist(), strict=True))
        weight_of = dict(zip(entries, weights.tolist(), strict=True))
        missing = [(i, j) for i, j in entries if (j, i) not in weight_of]
        if missing:
            yield f"it is not symmetric: {missing[0]} has no reverse"
            return
        pairs = [((i, j), weight_of[i, j], weight_of[j, i]) for i, j in entries]
        unequal = [entry for entry, w, x in pairs if w != x and not (np.isnan(w) and np.isnan(x))]
        if unequal:
            yield f"its weights are not symmetric at {unequal[0]}"
