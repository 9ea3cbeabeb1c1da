"""Which rows score best: a tournament tree where few scores change, a scan where most do.

The compiled functions share one tuple, `ranking`: (tree, rows, counts). `rows` are the rows that
may still be chosen, ascending, the first ``counts[LIVE]`` of them; ``counts[FRESH]`` is whether the
tree is up to date above its rows, and if not, ``counts[BEST]`` is the best key.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.search.tournament import build, new_tree, row_of, take_best, update_many

LIVE, FRESH, BEST = range(3)


class Ranking:
    """Keys of a rank's rows, none of them a candidate at first.

    Attributes
    ----------
    arrays : tuple
        What the compiled functions share.
    """

    def __init__(self, rows: int) -> None:
        live = np.arange(rows, dtype=np.int32)
        self.arrays: tuple[NDArray[Any], ...] = (new_tree(rows), live, np.array([rows, 0, 0]))


@njit(cache=True)
def take(keys: Any, ranking: Any) -> Any:
    """Fill `keys` with the best, best first, and take them out; return how many there are.

    To be called once after each time that scores change.
    """
    tree, _, counts = ranking
    if not counts[FRESH]:
        best = counts[BEST]
        if len(keys) == 1:
            if best == 0:
                return 0
            keys[0] = best
            tree[len(tree) // 2 + row_of(best)] = 0
            return 1
        build(tree)
        counts[FRESH] = 1
    return take_best(tree, keys)


@njit(cache=True)
def put_back(keys: Any, ranking: Any) -> None:
    """Undo the taking of some keys."""
    tree, _, counts = ranking
    rows = np.empty(len(keys), np.int64)
    for i in range(len(keys)):
        rows[i] = row_of(keys[i])
        tree[len(tree) // 2 + rows[i]] = keys[i]
    if counts[FRESH]:
        update_many(tree, rows, len(rows))


@njit(cache=True)
def rank_changed(changed: Any, count: Any, ranking: Any) -> None:
    """Bring the ranking up to date after the keys of the first `count` of `changed` have."""
    tree, _, counts = ranking
    if counts[FRESH]:
        update_many(tree, changed, count)
    else:
        build(tree)
        counts[FRESH] = 1


@njit(cache=True)
def nodes_of_step(table: Any, candidates: Any, n: Any) -> Any:
    """Return how many nodes a step chooses, by a schedule's table."""
    for i in range(len(table)):
        if candidates > table[i, 0] * n:
            return int(table[i, 1])
    return 1
