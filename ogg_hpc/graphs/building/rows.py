"""From the sorted keys of a range to rows of the matrix.

Here repeated edges, reversed ones, self loops and conflicting weights come to light.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.building.keys import Keys, is_first


class Summary(NamedTuple):
    """What one range holds, or all of them together. Self loops are left out but for `looped`.

    Attributes
    ----------
    entries : int
        Entries of the store.
    looped : int
        Nodes with a self loop.
    pairs : int
        Distinct pairs (row, column), where each edge counts in both directions.
    arcs : int
        Those that were given in this direction.
    both : int
        Those that were given in both.
    equal : int
        Those that were given in both with the same weight.
    rows : int
        Rows with a pair.
    first_row, last_row : int
        The first and the last of them; -1 where there is none.
    """

    entries: int
    looped: int
    pairs: int
    arcs: int
    both: int
    equal: int
    rows: int
    first_row: int
    last_row: int


def rows_of(keys: Keys, n: int, arcs_only: bool) -> dict[str, NDArray[Any]]:
    """Return the rows that one key range gives.

    Parameters
    ----------
    keys
        All keys of the range in order, as `sort_distinct` gives them.
    n
        Number of nodes.
    arcs_only
        Keep only the directions that were given.

    Returns
    -------
    dict
        ``columns`` (e,) and ``weights`` (e,) of the entries, in the order of rows; ``rows`` (r,)
        that have some, and how many (``degrees``); ids of ``looped`` nodes; ``summary``, a
        `Summary`; and ``conflict``, the first pair that has several weights, if there is one,
        with the least and the largest of them (``conflict_weights``).
    """
    content = {} if keys.weights is None else _conflict(keys, n, arcs_only)
    first = is_first(keys.keys)
    values = keys.keys[first]
    weights = None if keys.weights is None else keys.weights[first]

    pairs = values >> np.uint64(1)
    starts = np.flatnonzero(is_first(pairs))
    pairs = pairs[starts]
    rows = pairs // np.uint64(n)
    columns = pairs - rows * np.uint64(n)
    loops = rows == columns
    arcs = (values[starts] & np.uint64(1)) == 0
    both = np.diff(starts, append=len(values)) == 2
    equal = both
    if weights is not None:
        equal = both.copy()
        equal[both] = weights[starts[both]] == weights[starts[both] + 1]
        weights = weights[starts]

    looped = rows[loops].astype(np.int64)
    proper = ~loops
    kept = proper & arcs if arcs_only else proper
    kept_rows, degrees = _distinct(rows[kept])
    touched = _distinct(rows[proper])[0] if arcs_only else kept_rows
    content |= {
        "columns": columns[kept].astype(np.int32 if n < 2**31 else np.int64),
        "rows": kept_rows,
        "degrees": degrees,
        "looped": looped,
    }
    if weights is not None:
        content["weights"] = weights[kept]
    summary = Summary(
        entries=int(np.count_nonzero(kept)),
        looped=len(looped),
        pairs=int(np.count_nonzero(proper)),
        arcs=int(np.count_nonzero(proper & arcs)),
        both=int(np.count_nonzero(both)),
        equal=int(np.count_nonzero(equal)),
        rows=len(touched),
        first_row=int(touched[0]) if len(touched) else -1,
        last_row=int(touched[-1]) if len(touched) else -1,
    )
    return {**content, "summary": np.array(summary, dtype=np.int64)}


def _distinct(rows: NDArray[np.uint64]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return sorted rows once each, and how often each occurs."""
    starts = np.flatnonzero(is_first(rows))
    times = np.diff(starts, append=len(rows))
    return rows[starts].astype(np.uint32), times.astype(np.uint32)


def _conflict(keys: Keys, n: int, arcs_only: bool) -> dict[str, NDArray[Any]]:
    values, weights = keys
    assert weights is not None
    if arcs_only:  # the two directions are edges of their own
        given = (values & np.uint64(1)) == 0
        values, weights = values[given], weights[given]
    pairs = values >> np.uint64(1)
    clash = np.flatnonzero((pairs[1:] == pairs[:-1]) & (weights[1:] != weights[:-1]))
    conflict = pairs[clash[:1]]
    among = weights[np.isin(pairs, conflict)] if len(clash) else np.empty(0)
    extremes = [among.min(), among.max()] if len(clash) else []
    return {"conflict": conflict, "conflict_weights": np.array(extremes, dtype=np.float64)}
