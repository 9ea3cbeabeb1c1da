"""From blocks of edges to a graph store: an external sample sort over all ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.building.assembly import assemble, compress_columns
from ogg_hpc.graphs.building.bounds import Bounds, choose_bounds, read_bounds
from ogg_hpc.graphs.building.columns import Column, MemoryColumn, RangeColumn, RowOffsets
from ogg_hpc.graphs.building.edges import EdgeBlocks
from ogg_hpc.graphs.building.keys import check_size
from ogg_hpc.graphs.building.ranges import (
    range_name,
    refuse_conflict,
    sort_ranges,
    summarize_ranges,
)
from ogg_hpc.graphs.building.rows import Summary
from ogg_hpc.graphs.building.runs import Run, run_name, sort_blocks
from ogg_hpc.graphs.names import Names
from ogg_hpc.graphs.store_format import Attributes, StoreCounts, StoreKind, checked_attributes
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.parts import Parts


@dataclass(frozen=True)
class Built:
    """What a graph store that was built holds, and what was dropped on the way.

    Attributes
    ----------
    nodes, edges, entries : int
        Entries of an undirected graph hold each edge in both directions.
    directed, weighted : bool
        Its kind.
    self_loops, duplicates : int
        Edges dropped as self loops and merged as repeated, as `Graph` counts them.
    reversed_pairs : int
        Edges that were given in both directions, as `Graph` counts them.
    looped : int
        Nodes that had a self loop.
    isolated : int
        Nodes without an edge in either direction.
    """

    nodes: int
    edges: int
    entries: int
    directed: bool
    weighted: bool
    self_loops: int
    duplicates: int
    reversed_pairs: int
    looped: int
    isolated: int


def build_store(
    comm: Communicator,
    output: Path,
    n: int,
    blocks: EdgeBlocks,
    *,
    parts: Parts,
    memory: int,
    labels: NDArray[np.int64] | Names | None = None,
    node_weights: NDArray[np.float64] | None = None,
    directed: bool | None = False,
    matrix: bool = False,
    weighted: bool = False,
    attributes: Attributes | None = None,
    report: Callable[[int, int], None] | None = None,
) -> Built:
    """Write the graph of all blocks to a store, whole or not at all (collective).

    The file's bytes depend on the edges alone, not on their order, the cut into blocks, the number
    of ranks or memory. After an interruption, a call with the same parts goes on where the earlier
    one was. The parts are left in place; the caller removes them.

    Parameters
    ----------
    comm
        All ranks.
    output
        The store; an existing one is replaced.
    n
        Number of nodes.
    blocks
        The edges.
    parts
        Finished parts of this job; those of this function are called ``run-…``, ``ranges``,
        ``range-…`` and ``chunks-…``.
    memory
        Bytes that this rank may use, beside what the interpreter, `labels` and `node_weights` take
        and what `blocks` takes to read a block.
    labels, node_weights
        This rank's consecutive part of the labels and of the weights of nodes, in the order of
        ids; ranks hold any number of them, n in all. No labels mean 0, 1, …, n - 1.
    directed
        Keep directions. None keeps them unless each edge was given in both, with equal weights.
    matrix
        The blocks hold all entries of a square matrix, so that a symmetric one has each edge
        twice: there the reverse of an edge is no duplicate.
    weighted
        Whether weights are kept; blocks must have them then.
    attributes
        Provenance to be stored with the graph.
    report
        Told on every rank how much of the work is done, and how much there is in all. If it raises
        an OggError on any rank, such as a wish to stop, the work ends with it on all.

    Returns
    -------
    Built
        On every rank.

    Raises
    ------
    ConflictingEdgesError
        An edge is given with different weights.
    SettingsError
        Too many nodes, or attributes as `write_store` refuses them.
    InputError
        The disk is full, or a file cannot be written.
    """
    comm.on_all(lambda: check_size(n))
    provenance = comm.on_all(lambda: checked_attributes(attributes or {}))
    progress = _Progress(report)
    arcs_only = directed is not False
    bounds = _sort(
        comm, n, blocks, parts, memory, weighted=weighted, arcs_only=arcs_only, progress=progress
    )
    ranges = summarize_ranges(comm, bounds, parts)
    if weighted:
        refuse_conflict(comm, n, bounds, parts)
    built = _count(n, bounds, ranges, directed=directed, matrix=matrix, weighted=weighted)

    id_type = np.int32 if n < 2**31 else np.int64
    entries = [one.entries for one in ranges]
    columns: dict[str, Column] = {
        "row_offsets": RowOffsets(parts, n, ranges),
        "columns": RangeColumn(parts, "columns", entries, id_type),
        "looped": RangeColumn(parts, "looped", [one.looped for one in ranges], np.int64),
    }
    if weighted:
        columns["weights"] = RangeColumn(parts, "weights", entries, np.float64)
    if node_weights is not None:
        columns["node_weights"] = MemoryColumn(comm, node_weights)
    columns |= _label_columns(comm, labels)
    compress_columns(comm, columns, parts, progress.stage(2))

    kind = StoreKind(built.directed, weighted, node_weights is not None, _label_kind(labels))
    counts = StoreCounts(1, n, built.entries)
    small = {
        "graph_nodes": [0, n],
        "graph_entries": [0, built.entries],
        "looped_offsets": [0, built.looped],
        "self_loops": [built.self_loops],
        "duplicates": [built.duplicates],
        "reversed_pairs": [built.reversed_pairs],
    }
    arrays = {name: np.array(values, dtype=np.int64) for name, values in small.items()}
    comm.on_root(lambda: assemble(Path(output), kind, counts, columns, arrays, parts, provenance))
    return built


class _Progress:
    """What has been done of the three stages, in hundredths of one."""

    def __init__(self, report: Callable[[int, int], None] | None) -> None:
        self._report = report

    def stage(self, number: int) -> Callable[[float], None]:
        """Return a function that takes the share of one stage that is done."""

        def update(share: float) -> None:
            if self._report is not None:
                self._report(round(100 * (number + share)), 300)

        return update


def _sort(
    comm: Communicator,
    n: int,
    blocks: EdgeBlocks,
    parts: Parts,
    memory: int,
    *,
    weighted: bool,
    arcs_only: bool,
    progress: _Progress,
) -> Bounds:
    """Make the key ranges that no job has finished yet; return which there are (collective)."""
    bounds = read_bounds(comm, parts)
    if bounds is not None and not parts.missing(comm, range_name, bounds.count):
        return bounds
    sort_blocks(comm, n, blocks, parts, weighted, progress.stage(0))
    mine = range(comm.rank, blocks.count, comm.size)
    found = comm.on_all(lambda: [Run(parts, block, weighted) for block in mine])
    runs = [run for runs in comm.gather_objects(found) for run in runs]
    if bounds is None:
        bounds = choose_bounds(comm, runs, parts)
    sort_ranges(
        comm,
        n,
        runs,
        bounds,
        parts,
        memory=memory,
        arcs_only=arcs_only,
        weighted=weighted,
        report=progress.stage(1),
    )
    for block in mine:
        parts.discard(run_name(block))
    return bounds


def _count(
    n: int,
    bounds: Bounds,
    ranges: Sequence[Summary],
    *,
    directed: bool | None,
    matrix: bool,
    weighted: bool,
) -> Built:
    totals = Summary(*np.array([Summary(*[0] * 9), *ranges], dtype=np.int64).sum(axis=0).tolist())
    touching = [one for one in ranges if one.rows]
    shared = sum(a.last_row == b.first_row for a, b in pairwise(touching))
    symmetric = totals.equal == totals.pairs
    if directed is None:
        directed = not symmetric
        matrix = True
    if directed or (matrix and symmetric):
        duplicates, reversed_pairs = bounds.given - totals.arcs, 0
    else:
        duplicates, reversed_pairs = bounds.given - totals.pairs // 2, totals.both // 2
    return Built(
        nodes=n,
        edges=totals.entries if directed else totals.entries // 2,
        entries=totals.entries,
        directed=directed,
        weighted=weighted,
        self_loops=bounds.loops,
        duplicates=duplicates,
        reversed_pairs=reversed_pairs,
        looped=totals.looped,
        isolated=n - (totals.rows - shared),
    )


def _label_kind(labels: NDArray[np.int64] | Names | None) -> str:
    if labels is None:
        return "none"
    return "integer" if isinstance(labels, np.ndarray) else "text"


def _label_columns(
    comm: Communicator, labels: NDArray[np.int64] | Names | None
) -> dict[str, Column]:
    if labels is None:
        return {}
    if isinstance(labels, np.ndarray):
        return {"labels": MemoryColumn(comm, labels)}
    before = sum(comm.gather_objects(len(labels.bytes))[: comm.rank])
    ends = labels.offsets[1 if comm.rank else 0 :] + before
    return {
        "label_offsets": MemoryColumn(comm, ends),
        "label_bytes": MemoryColumn(comm, labels.bytes),
    }
