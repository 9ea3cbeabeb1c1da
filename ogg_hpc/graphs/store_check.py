"""Verification of stored graphs: checksums, offsets and the invariants of a simple graph."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np

from ogg_hpc.errors import InputError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.graphs.store_file import StoreFile, bad_chunks, chunk_message


def file_faults(path: Path, stated: tuple[int, int, int] | None = None) -> Iterator[str]:
    """Yield a message for each fault of one file of graphs.

    Parameters
    ----------
    path
        The file.
    stated
        Graphs, nodes and entries that the file must hold, where a manifest states them.
    """
    try:
        file = StoreFile(path)
    except InputError as error:
        yield str(error)
        return
    try:
        yield from _open_file_faults(file, stated)
    finally:
        file.close()


def _open_file_faults(file: StoreFile, stated: tuple[int, int, int] | None) -> Iterator[str]:
    # Later checks presuppose that the earlier ones found nothing.
    for check in (_damage, _structure_faults):
        faults = list(check(file))
        yield from (f"{file.path}: {fault}" for fault in faults)
        if faults:
            return
    if stated not in (None, file.counts):
        yield f"{file.path}: its counts differ from the manifest"
    for local in range(file.counts.graphs):
        try:
            graph = file.read(local)
        except InputError as error:
            yield f"{error} (graph {local})"
            continue
        for fault in graph_faults(graph):
            yield f"{file.path}: graph {local}: {fault}"


def _damage(file: StoreFile) -> Iterator[str]:
    """Read every chunk of every dataset."""
    for name in file.types:
        try:
            dataset = file.dataset(name)
            bad = list(bad_chunks(dataset, 0, len(dataset)))
        except (InputError, RuntimeError, AttributeError, TypeError):
            yield f"dataset {name!r} is missing or damaged"
        else:
            yield from (chunk_message(name, dataset, chunk) for chunk in bad)


def _structure_faults(file: StoreFile) -> Iterator[str]:
    """Check that each offsets array rises from 0 to the length of what it points into."""
    lengths = {
        name: file.counts.graphs
        for name in file.types
        if name in ("self_loops", "duplicates", "reversed_pairs") or name.startswith("objectives/")
    }
    lengths["columns"] = file.counts.nnz
    if file.kind.weighted:
        lengths["weights"] = file.counts.nnz
    if file.kind.node_weighted:
        lengths["node_weights"] = file.counts.nodes
    if file.kind.label_kind == "integer":
        lengths["labels"] = file.counts.nodes
    offsets = [
        ("graph_nodes", file.counts.graphs, file.counts.nodes),
        ("graph_entries", file.counts.graphs, file.counts.nnz),
        ("row_offsets", file.counts.nodes, file.counts.nnz),
        ("looped_offsets", file.counts.graphs, len(file.dataset("looped"))),
    ]
    if file.kind.label_kind == "text":
        offsets.append(("label_offsets", file.counts.nodes, len(file.dataset("label_bytes"))))
    lengths |= {name: count + 1 for name, count, _ in offsets}
    for name, length in lengths.items():
        if len(file.dataset(name)) != length:
            yield f"dataset {name!r} has {len(file.dataset(name))} entries, not {length}"
            return
    for name, _, end in offsets:
        values = file.array(name)
        if values[0] != 0 or values[-1] != end or (np.diff(values) < 0).any():
            yield f"dataset {name!r} does not rise from 0 to {end}"
            return
    starts = file.array("row_offsets")[file.array("graph_nodes")]
    if not np.array_equal(starts, file.array("graph_entries")):
        yield "datasets 'graph_entries' and 'row_offsets' disagree"


def graph_faults(graph: Graph) -> Iterator[str]:
    """Yield a message for each broken invariant of a graph in memory."""
    n, columns, rows = graph.n, graph.columns.astype(np.int64), graph.rows
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
    if graph.labels is not None and len(np.unique(graph.labels)) != n:
        yield "two nodes have the same label"
    if graph.looped.size and not ((graph.looped >= 0) & (graph.looped < n)).all():
        yield "a node with a self loop is out of range"
    if not graph.directed and ordered:
        reverse = _reverse_entries(graph.row_offsets, graph.columns)
        if (bad := np.flatnonzero(reverse < 0)).size:
            yield f"it is not symmetric: ({rows[bad[0]]}, {columns[bad[0]]}) has no reverse"
        elif graph.weights is not None:
            unequal = graph.weights[reverse] != graph.weights
            if (bad := np.flatnonzero(unequal)).size:
                yield f"its weights are not symmetric at ({rows[bad[0]]}, {columns[bad[0]]})"


@numba.njit(cache=True)
def _reverse_entries(row_offsets: Any, columns: Any) -> Any:
    """Return for each entry (i, j) the position of (j, i), or -1; rows are sorted.

    In the order of rows, the entries of column j are met in the order of row j.
    """
    n = len(row_offsets) - 1
    reverse = np.full(len(columns), -1, np.int64)
    expected = row_offsets[:n].copy()
    for i in range(n):
        for k in range(row_offsets[i], row_offsets[i + 1]):
            j = columns[k]
            while expected[j] < row_offsets[j + 1] and columns[expected[j]] < i:
                expected[j] += 1
            if expected[j] < row_offsets[j + 1] and columns[expected[j]] == i:
                reverse[k] = expected[j]
    return reverse
