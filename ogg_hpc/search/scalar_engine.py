"""Alg. 4 for policies in scalar form: a step costs what it changes.

The state is two integers a node (`ScalarState`). A step scores the rows whose degree or sum it has
changed, and brings a tournament tree over the scores up to date. Where it touches so many rows
that a look at all of them is less work, as in social and in dense graphs, it scores all and finds
the best on the way, without the tree.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.graphs.row_block import RowBlock
from ogg_hpc.policies.scalar_form import ScalarForm
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.search.host_engine import HostEngine
from ogg_hpc.search.proposals import choose_alone
from ogg_hpc.search.ranking import BEST, FRESH, LIVE, rank_changed
from ogg_hpc.search.scalar_state import (
    Neighbours,
    is_widespread,
    remove_node,
    remove_nodes,
)
from ogg_hpc.search.schedule import Schedule
from ogg_hpc.search.tournament import key_of


class ScalarEngine(HostEngine):
    """A residual graph whose nodes are ranked by a policy in scalar form.

    Parameters
    ----------
    comm, block, schedule, forced
        As for `HostEngine`.
    form
        The policy.
    """

    def __init__(
        self,
        comm: Communicator,
        block: RowBlock,
        form: ScalarForm,
        schedule: Schedule,
        forced: NDArray[np.int64],
    ) -> None:
        super().__init__(comm, block, form.messages, schedule, forced)
        pieces = np.zeros(block.rows, np.int32)
        self._form = (form.starts, form.intercepts, form.slopes, pieces)
        _score_all(self._form, self.ranking.arrays, self.state.arrays)

    def _run(self, table: NDArray[np.float64], nodes: NDArray[np.int64], steps: int) -> int:
        own = (self.state.block.row_offsets, self.state.block.columns)
        arrays = (self._form, self.ranking.arrays, self.state.arrays)
        made, self.state.candidates = _run(steps, table, self.state.candidates, nodes, own, *arrays)
        return int(made)

    def _remove(self, neighbours: Neighbours) -> None:
        arrays = (self._form, self.ranking.arrays, self.state.arrays)
        self.state.candidates = _remove_and_score(*neighbours, self.state.candidates, *arrays)


@njit(cache=True)
def _key(row: Any, form: Any, state: Any) -> Any:
    """Return the key of one of my rows."""
    starts, intercepts, slopes, pieces = form
    lo, degrees, sums = state[0], state[1], state[4]
    degree, total = degrees[lo + row], sums[row]
    if degree == 0:
        return np.int64(0)
    # The last piece that starts at or below total / degree, sought from where it was.
    piece = np.int64(pieces[row])
    while piece > 0 and starts[piece] * degree > total:
        piece -= 1
    while piece + 1 < len(starts) and starts[piece + 1] * degree <= total:
        piece += 1
    pieces[row] = piece
    return key_of(np.float32(intercepts[piece] * degree + slopes[piece] * total), row)


@njit(cache=True)
def _score_all(form: Any, ranking: Any, state: Any) -> None:
    """Score all rows that may still be chosen, and find the best on the way."""
    tree, rows, counts = ranking
    lo, degrees = state[:2]
    size, best, live = len(tree) // 2, np.int64(0), 0
    for k in range(counts[LIVE]):
        row = rows[k]
        key = _key(row, form, state)
        tree[size + row] = key
        best = max(best, key)
        rows[live] = row
        if degrees[lo + row] > 0:
            live += 1
    counts[LIVE], counts[FRESH], counts[BEST] = live, 0, best


@njit(cache=True)
def _score_changed(count: Any, unmarked: Any, form: Any, ranking: Any, state: Any) -> None:
    """Score the rows that have changed, or all where these are not noted."""
    if unmarked:
        _score_all(form, ranking, state)
        return
    tree, changed, is_changed = ranking[0], state[5], state[6]
    for k in range(count):
        row = changed[k]
        is_changed[row] = False
        tree[len(tree) // 2 + row] = _key(row, form, state)
    rank_changed(changed, count, ranking)


@njit(cache=True)
def _remove_and_score(
    nodes: Any,
    lengths: Any,
    neighbours: Any,
    candidates: Any,
    form: Any,
    ranking: Any,
    state: Any,
) -> Any:
    """Remove nodes whose active neighbours stand one after another; return candidates left."""
    unmarked = is_widespread(neighbours, state)
    candidates, count = remove_nodes(nodes, lengths, neighbours, candidates, unmarked, state)
    _score_changed(count, unmarked, form, ranking, state)
    return candidates


@njit(cache=True)
def _run(
    steps: Any,
    table: Any,
    candidates: Any,
    nodes: Any,
    own: Any,
    form: Any,
    ranking: Any,
    state: Any,
) -> Any:
    """Make steps of a lone rank; return steps made and candidates left."""
    row_offsets, columns = own
    keys = np.empty((len(nodes) - 1) // steps, np.int64)
    total = 0
    for step in range(steps):
        taken, unmarked = choose_alone(table, candidates, keys, nodes[total:], own, ranking, state)
        if taken == 0:
            return step, candidates
        count = 0
        for node in nodes[total : total + taken]:
            neighbours = columns[row_offsets[node] : row_offsets[node + 1]]
            candidates, count = remove_node(node, neighbours, candidates, unmarked, count, state)
        _score_changed(count, unmarked, form, ranking, state)
        total += taken
    return steps, candidates
