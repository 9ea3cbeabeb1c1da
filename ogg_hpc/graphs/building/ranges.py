"""The second step of an external sort: the keys of all runs, one range after the other.

Each range is sorted as a whole by one rank. Its rows become a part, from which the store is put
together, and by which an interrupted job goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from ogg_hpc.graphs.building.bounds import Bounds
from ogg_hpc.graphs.building.edges import ConflictingEdgesError
from ogg_hpc.graphs.building.keys import Keys, sort_distinct
from ogg_hpc.graphs.building.rows import Summary, rows_of
from ogg_hpc.graphs.building.runs import Run
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.parts import Parts


def range_name(number: int) -> str:
    """Return the name of the part that holds a range."""
    return f"range-{number:06}"


def sort_ranges(
    comm: Communicator,
    n: int,
    runs: Sequence[Run],
    bounds: Bounds,
    parts: Parts,
    *,
    memory: int,
    arcs_only: bool,
    weighted: bool,
    report: Callable[[float], None],
) -> None:
    """Sort the ranges that no job has finished yet; write their rows as parts (collective).

    Each rank reads the keys of some consecutive ranges at a time, from all runs. However the keys
    are divided among the runs, it never holds more than those.

    Parameters
    ----------
    comm, n, memory, weighted
        As for `build_store`.
    runs
        All runs.
    bounds
        The ranges.
    parts
        Where the rows are kept.
    arcs_only
        Keep only the directions that were given.
    report
        Told which share of this rank's ranges is done; may raise an OggError, then for all ranks.

    Raises
    ------
    InputError
        A run is damaged, or the disk is full.
    """
    missing = parts.missing(comm, range_name, bounds.count)
    mine = missing[
        comm.rank * len(missing) // comm.size : (comm.rank + 1) * len(missing) // comm.size
    ]
    range_bytes = (16 if weighted else 8) * max(1, bounds.size // max(1, bounds.count))
    width = max(1, memory // 8 // range_bytes)

    def sort() -> None:
        for start in range(0, len(mine), width):
            group = mine[start : start + width]
            pieces = _read(runs, bounds, group)
            for done, number in enumerate(group, start + 1):
                keys = sort_distinct(_concatenate(pieces.pop(0), weighted))
                parts.write(range_name(number), **rows_of(keys, n, arcs_only))
                report(done / len(mine))

    comm.on_all(sort)


def _read(runs: Sequence[Run], bounds: Bounds, group: Sequence[int]) -> list[list[Keys]]:
    """Return for each range of a group its keys in each run."""
    pieces: list[list[Keys]] = [[] for _ in group]
    # What lies together is read together.
    stretches = np.split(np.asarray(group), np.flatnonzero(np.diff(group) > 1) + 1)
    for run in runs:
        found = iter(pieces)
        for first, last in ((int(stretch[0]), int(stretch[-1])) for stretch in stretches):
            keys, weights = run.between(bounds.low(first), bounds.high(last))
            cuts = np.searchsorted(keys, bounds.splitters[first:last])
            for lo, hi in pairwise([0, *cuts.tolist(), len(keys)]):
                part = Keys(keys[lo:hi], None if weights is None else weights[lo:hi])
                next(found).append(part)
    return pieces


def _concatenate(pieces: Sequence[Keys], weighted: bool) -> Keys:
    keys = np.concatenate([np.empty(0, np.uint64), *(piece.keys for piece in pieces)])
    if not weighted:
        return Keys(keys)
    weights = [piece.weights for piece in pieces if piece.weights is not None]
    return Keys(keys, np.concatenate([np.empty(0), *weights]))


def summarize_ranges(comm: Communicator, bounds: Bounds, parts: Parts) -> list[Summary]:
    """Return what each range holds (collective)."""
    mine = comm.on_all(
        lambda: [
            parts.read(range_name(k), ("summary",))["summary"].tolist()
            for k in range(comm.rank, bounds.count, comm.size)
        ]
    )
    everyone = comm.gather_objects(mine)
    return [Summary(*everyone[k % comm.size][k // comm.size]) for k in range(bounds.count)]


def refuse_conflict(comm: Communicator, n: int, bounds: Bounds, parts: Parts) -> None:
    """Complain about the first edge that was given with several weights (collective).

    Raises
    ------
    ConflictingEdgesError
        There is one.
    """

    def find() -> tuple[int, list[float]] | None:
        for k in range(comm.rank, bounds.count, comm.size):
            content = parts.read(range_name(k), ("conflict", "conflict_weights"))
            if len(content["conflict"]):
                return int(content["conflict"][0]), content["conflict_weights"].tolist()
        return None

    found = [conflict for conflict in comm.gather_objects(comm.on_all(find)) if conflict]
    if found:
        pair, (least, largest) = min(found)
        raise ConflictingEdgesError(*divmod(pair, n), (least, largest)).shared()
