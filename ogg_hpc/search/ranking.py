"""Which rows score best: a tournament tree where few scores change, a scan where most do.

The compiled functions share one tuple, `ranking`: (scores, tree, rows, counts). `rows` are the
rows that may still be chosen, ascending, the first ``counts[LIVE]`` of them; ``counts[FRESH]`` is
whether the tree is up to date, and if not, ``counts[BEST]`` is the row of the best score, or -1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.search.tournament import build, new_tree, take_best, update_many

LIVE, FRESH, BEST = range(3)


class Ranking:
    """Scores of a rank's rows, all minus infinity at first.

    Attributes
    ----------
    arrays : tuple
        What the compiled functions share.
    """

    def __init__(self, rows: int) -> None:
        scores, tree = new_tree(rows)
        counts = np.array([rows, 0, -1])
        self.arrays: tuple[NDArray[Any], ...] = (scores, tree, np.arange(rows), counts)


@njit(cache=True)
def take(d: Any, rows: Any, values: Any, ranking: Any) -> Any:
    """Write up to d best rows and their scores, best first; return how many there are.

    Their scores become minus infinity. To be called once after each time that scores change.
    """
    scores, tree, _, counts = ranking
    if not counts[FRESH]:
        best = counts[BEST]
        if d == 1:
            if best < 0:
                return 0
            rows[0], values[0] = best, scores[best]
            scores[best] = -np.inf
            return 1
        build(scores, tree)
        counts[FRESH] = 1
    return take_best(scores, tree, d, rows, values)


@njit(cache=True)
def rank_changed(changed: Any, count: Any, ranking: Any) -> None:
    """Bring the ranking up to date after the scores of the first `count` of `changed` have."""
    scores, tree, _, counts = ranking
    if counts[FRESH]:
        update_many(scores, tree, changed, count)
    else:
        build(scores, tree)
        counts[FRESH] = 1


@njit(cache=True)
def nodes_of_step(table: Any, candidates: Any, n: Any) -> Any:
    """Return how many nodes a step chooses, by a schedule's table."""
    for i in range(len(table)):
        if candidates > table[i, 0] * n:
            return int(table[i, 1])
    return 1
