"""The second step of an external sort: the keys of all runs, one range after the other.

Each range is sorted as a whole by one rank. Its rows become a part, from which the store is put
together, and by which an interrupted job goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.building.bounds import Bounds
from ogg_hpc.graphs.building.edges import ConflictingEdgesError
from ogg_hpc.graphs.building.keys import Keys, sort_distinct
from ogg_hpc.graphs.building.rows import Summary, rows_of
from ogg_hpc.graphs.building.runs import Run
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.parts import Parts

# Ranges that a rank takes at once: the keys it sends and receives stay far below 2^30.
_MOST_RANGES = 64


def range_name(number: int) -> str:
    """Return the name of the part that holds a range."""
    return f"range-{number:06}"


def missing_ranges(comm: Communicator, bounds: Bounds, parts: Parts) -> list[int]:
    """Return the ranges that no job has finished yet (collective)."""
    mine = [k for k in range(comm.rank, bounds.count, comm.size) if not parts.has(range_name(k))]
    return sorted(number for found in comm.gather_objects(mine) for number in found)


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

    Some ranges at a time, consecutive ones for each rank: every rank reads their keys from its runs
    and sends them to the rank that sorts them.

    Parameters
    ----------
    comm, n, memory, weighted
        As for `build_store`.
    runs
        This rank's share of the runs.
    bounds
        The ranges.
    parts
        Where the rows are kept.
    arcs_only
        Keep only the directions that were given.
    report
        Told which share is done; may raise an OggError, then for all ranks.

    Raises
    ------
    InputError
        A run is damaged, or the disk is full.
    """
    missing = missing_ranges(comm, bounds, parts)
    range_bytes = (16 if weighted else 8) * max(1, bounds.size // max(1, bounds.count))
    # Keys that are read, those to be sent and those received are held at once.
    step = comm.size * min(max(1, memory // 16 // range_bytes), _MOST_RANGES)
    for start in range(0, len(missing), step):
        window = missing[start : start + step]
        counts, keys = comm.on_all(lambda w=window: _read_window(runs, bounds, w, weighted))  # type: ignore[misc]
        mine, pieces = _exchange(comm, window, counts, keys)
        del keys

        share = min(start + step, len(missing)) / len(missing)

        def write(
            mine: Sequence[int] = mine, pieces: list[list[Keys]] = pieces, share: float = share
        ) -> None:
            for number in mine:
                keys = sort_distinct(_concatenate(pieces.pop(0), weighted))
                parts.write(range_name(number), **rows_of(keys, n, arcs_only))
            report(share)

        comm.on_all(write)


def _read_window(
    runs: Sequence[Run], bounds: Bounds, window: Sequence[int], weighted: bool
) -> tuple[NDArray[np.int64], Keys]:
    """Return how many keys of each range of a window these runs hold, and the keys in turn."""
    pieces: list[list[Keys]] = [[] for _ in window]
    for run in runs:
        done = 0
        # What lies together is read together.
        for stretch in np.split(np.asarray(window), np.flatnonzero(np.diff(window) > 1) + 1):
            first, last = int(stretch[0]), int(stretch[-1])
            keys, weights = run.between(bounds.low(first), bounds.high(last))
            cuts = np.searchsorted(keys, bounds.splitters[first:last])
            ends = [0, *cuts.tolist(), len(keys)]
            for lo, hi in pairwise(ends):
                part = Keys(keys[lo:hi], None if weights is None else weights[lo:hi])
                pieces[done].append(part)
                done += 1
    counts = np.array([sum(len(keys) for keys, _ in found) for found in pieces], dtype=np.int64)
    return counts, _concatenate([keys for found in pieces for keys in found], weighted)


def _exchange(
    comm: Communicator, window: Sequence[int], counts: NDArray[np.int64], keys: Keys
) -> tuple[Sequence[int], list[list[Keys]]]:
    """Send keys to the ranks that sort them; return this rank's ranges and the pieces of each."""
    shares = np.arange(comm.size + 1) * len(window) // comm.size
    sizes = np.diff(np.append(0, np.cumsum(counts))[shares])
    received, _ = comm.alltoallv(counts, np.diff(shares))
    values, _ = comm.alltoallv(keys.keys, sizes)
    weights = None if keys.weights is None else comm.alltoallv(keys.weights, sizes)[0]
    ends = np.cumsum(received)
    mine = window[shares[comm.rank] : shares[comm.rank + 1]]
    pieces: list[list[Keys]] = [[] for _ in mine]
    for i, (count, end) in enumerate(zip(received.tolist(), ends.tolist(), strict=True)):
        part = slice(end - count, end)
        pieces[i % len(mine)].append(Keys(values[part], None if weights is None else weights[part]))
    return mine, pieces


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
