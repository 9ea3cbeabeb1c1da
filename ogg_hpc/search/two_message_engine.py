"""Alg. 4 for two-message policies: answers are pushed when they change.

Beside the degrees and sums of `ScalarState` there is each node's answer, replicated, and for a
rank's own rows the sum of the answers of active neighbours: three integers a node. A step changes
degrees one hop away, first sums two hops away, and with them answers; those that have moved by
more than a threshold are sent to all ranks, and added to the sums of whoever touches their nodes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.graphs.row_block import RowBlock
from ogg_hpc.policies.degree_messages import LOW_DEGREE, TwoMessageForm, node_factors
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.search.host_engine import HostEngine
from ogg_hpc.search.power_lookup import value_at
from ogg_hpc.search.proposals import choose_alone
from ogg_hpc.search.ranking import BEST, FRESH, LIVE, rank_changed
from ogg_hpc.search.scalar_state import (
    Neighbours,
    add_to_touching,
    is_widespread,
    neighbour_sums,
    remove_node,
    take_values,
    times,
)
from ogg_hpc.search.schedule import Schedule
from ogg_hpc.search.share_pairs import share_pairs
from ogg_hpc.search.tournament import key_of


class TwoMessageEngine(HostEngine):
    """A residual graph whose nodes are ranked by a policy of two messages.

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
        form: TwoMessageForm,
        schedule: Schedule,
        forced: NDArray[np.int64],
    ) -> None:
        factors = node_factors(form, block.n, block.node_weights)
        super().__init__(comm, block, form.messages, schedule, forced, factors.messages)
        mine = slice(self.state.lo, self.state.hi)
        self._form = (
            form.answer_by_degree,
            form.answer_by_sum,
            float(form.largest),
            form.score_by_degree,
            form.score_by_sum,
            form.refresh_above,
            None if factors.answers is None else factors.answers[mine],
            None if factors.scores is None else factors.scores[mine],
        )
        own = np.empty(block.rows, np.int64)
        _answer_all(own, self._form, self.state.arrays)
        answers = comm.allgatherv(own, block.partition.counts)
        # The compiled functions share (answers, answer sums, ids and values of new answers).
        self._second = (
            answers,
            neighbour_sums(block, answers),
            np.empty(block.rows, np.int64),
            np.empty(block.rows, np.int64),
        )
        _score_all(self._form, self._second, self.ranking.arrays, self.state.arrays)

    def _run(self, table: NDArray[np.float64], nodes: NDArray[np.int64], steps: int) -> int:
        own = (self.state.block.row_offsets, self.state.block.columns)
        arrays = (self._form, self._second, self.ranking.arrays, self.state.arrays)
        made, self.state.candidates = _run(steps, table, self.state.candidates, nodes, own, *arrays)
        return int(made)

    def _remove(self, neighbours: Neighbours) -> None:
        arrays = (self._form, self._second, self.ranking.arrays, self.state.arrays)
        self.state.candidates, count, unmarked, new = _remove_and_answer(
            *neighbours, self.state.candidates, *arrays
        )
        ids, values = self._second[2][:new], self._second[3][:new]
        ids, values = share_pairs(self.comm, ids, values)
        _send_and_score(ids, values, count, unmarked, *arrays)


@njit(cache=True)
def _answer(row: Any, degree: Any, total: Any, form: Any) -> Any:
    """Return the answer of one of my rows that has an edge, by its degree and first sum."""
    by_degree, by_sum, largest, factors = form[0], form[1], form[2], form[6]
    value = times(by_degree[degree] * value_at(by_sum, total), factors, row) + 0.5
    return np.int64(math.floor(value)) if value < largest else np.int64(largest)


@njit(cache=True)
def _answer_all(answers: Any, form: Any, state: Any) -> None:
    lo, degrees, sums = state[0], state[1], state[4]
    for row in range(len(answers)):
        degree = degrees[lo + row]
        answers[row] = 0
        if degree > 0:
            answers[row] = _answer(row, degree, sums[row], form)


@njit(cache=True)
def _key(row: Any, form: Any, answer_sums: Any, state: Any) -> Any:
    """Return the key of one of my rows."""
    by_degree, by_sum, factors = form[3], form[4], form[7]
    lo, degrees, sums = state[0], state[1], state[4]
    degree = degrees[lo + row]
    if degree == 0:
        return np.int64(0)
    factor = by_degree[degree] * value_at(by_sum, sums[row])
    return key_of(np.float32(times(answer_sums[row] * factor, factors, row)), row)


@njit(cache=True)
def _score_all(form: Any, second: Any, ranking: Any, state: Any) -> None:
    """Score all rows that may still be chosen, and find the best on the way."""
    tree, rows, counts = ranking
    lo, degrees = state[:2]
    size, best, live = len(tree) // 2, np.int64(0), 0
    for k in range(counts[LIVE]):
        row = rows[k]
        key = _key(row, form, second[1], state)
        tree[size + row] = key
        best = max(best, key)
        rows[live] = row
        if degrees[lo + row] > 0:
            live += 1
    counts[LIVE], counts[FRESH], counts[BEST] = live, 0, best


@njit(cache=True)
def _remove(
    node: Any,
    neighbours: Any,
    candidates: Any,
    unmarked: Any,
    count: Any,
    second: Any,
    state: Any,
) -> Any:
    """Remove one node, its message and its answer."""
    answers, answer_sums = second[:2]
    count = add_to_touching(node, -answers[node], answer_sums, unmarked, state, count)
    answers[node] = 0
    return remove_node(node, neighbours, candidates, unmarked, count, state)


@njit(cache=True)
def _remove_and_answer(
    nodes: Any,
    lengths: Any,
    neighbours: Any,
    candidates: Any,
    form: Any,
    second: Any,
    ranking: Any,
    state: Any,
) -> Any:
    """Remove nodes whose active neighbours stand one after another, and find new answers.

    Returns
    -------
    candidates, count, unmarked, new
        Candidates left, changed rows, whether these are not noted, and new answers.
    """
    unmarked = is_widespread(neighbours, state)
    count, start = 0, 0
    for i in range(len(nodes)):
        end = start + lengths[i]
        candidates, count = _remove(
            nodes[i], neighbours[start:end], candidates, unmarked, count, second, state
        )
        start = end
    new = _find_new_answers(count, unmarked, form, second, ranking, state)
    return candidates, count, unmarked, new


@njit(cache=True)
def _find_new_answers(
    count: Any, unmarked: Any, form: Any, second: Any, ranking: Any, state: Any
) -> Any:
    """Write ids and values of my rows' answers that have to be sent; return how many."""
    refresh_above = form[5]
    answers, _, ids, values = second
    _, rows, counts = ranking
    lo, degrees, sums, changed = state[0], state[1], state[4], state[5]
    new = 0
    for k in range(counts[LIVE] if unmarked else count):
        row = rows[k] if unmarked else changed[k]
        node = lo + row
        degree = degrees[node]
        if degree == 0:
            continue
        value = _answer(row, degree, sums[row], form)
        sent = answers[node]
        if value != sent and (degree < LOW_DEGREE or abs(value - sent) > refresh_above * sent):
            ids[new], values[new] = node, value
            new += 1
    return new


@njit(cache=True)
def _send_and_score(
    ids: Any,
    values: Any,
    count: Any,
    unmarked: Any,
    form: Any,
    second: Any,
    ranking: Any,
    state: Any,
) -> None:
    """Add what answers have gained to the sums of whoever touches their nodes; score the rows."""
    answers, answer_sums = second[:2]
    count = take_values(ids, values, answers, answer_sums, unmarked, state, count)
    if unmarked:
        _score_all(form, second, ranking, state)
        return
    tree, changed, is_changed = ranking[0], state[5], state[6]
    for k in range(count):
        row = changed[k]
        is_changed[row] = False
        tree[len(tree) // 2 + row] = _key(row, form, answer_sums, state)
    rank_changed(changed, count, ranking)


@njit(cache=True)
def _run(
    steps: Any,
    table: Any,
    candidates: Any,
    nodes: Any,
    own: Any,
    form: Any,
    second: Any,
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
            candidates, count = _remove(
                node, neighbours, candidates, unmarked, count, second, state
            )
        new = _find_new_answers(count, unmarked, form, second, ranking, state)
        ids, answers = second[2][:new], second[3][:new]
        _send_and_score(ids, answers, count, unmarked, form, second, ranking, state)
        total += taken
    return steps, candidates
