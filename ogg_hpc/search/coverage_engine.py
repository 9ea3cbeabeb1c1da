"""Alg. 4 for coverage policies: spans, answers and scores are pushed when they change.

The graph is that of closed neighbourhoods: each node is its own neighbour. Of the residual graph
each rank holds all spans and all answers, and for its own rows the sums of messages and of answers.
A step that chooses v dominates nodes one hop away, which changes spans two hops away, sums of
messages and with them answers three, and scores four. Three times a step the ranks tell each other
what has changed: the nodes that are newly dominated, new spans, new answers.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.graphs.row_block import RowBlock
from ogg_hpc.policies.coverage_messages import CoverageForm
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.search.host_engine import HostEngine
from ogg_hpc.search.power_lookup import value_at
from ogg_hpc.search.proposals import choose_alone
from ogg_hpc.search.ranking import rank_changed
from ogg_hpc.search.scalar_state import Neighbours, add_to_touching, neighbour_sums, take_values
from ogg_hpc.search.schedule import Schedule
from ogg_hpc.search.share_pairs import share_pairs
from ogg_hpc.search.tournament import key_of


class CoverageEngine(HostEngine):
    """A graph that is being dominated, whose candidates are ranked by a coverage policy.

    The degrees of its `ScalarState` are spans, and its sums those of messages.

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
        form: CoverageForm,
        schedule: Schedule,
        forced: NDArray[np.int64],
    ) -> None:
        none_yet = np.empty(0, np.int64)
        super().__init__(comm, _closed(block), form.messages, schedule, none_yet)
        state = self.state
        self._form = (
            form.answer_by_sum,
            float(form.largest),
            form.score_by_span,
            form.refresh_above,
        )
        own = np.empty(block.rows, np.int64)
        _answer_all(own, self._form, state.sums)
        answers = comm.allgatherv(own, block.partition.counts)
        # Who is dominated is listed no more.
        state.listed = answers
        # The compiled functions share (answers, 0 for nodes that are dominated; answer sums; spans
        # of own rows, ahead of those that all ranks know; ids and values to be sent). Messages
        # matter to fewer and fewer rows, those that are not dominated: they have lists of their
        # own, from which the others are dropped.
        self._second = (
            answers,
            neighbour_sums(state.block, answers),
            state.degrees[state.lo : state.hi].astype(np.int64),
            np.empty(block.rows, np.int64),
            np.empty(block.rows, np.int64),
        )
        starts, rows, bits = state.touching
        self._undominated = (state.lo, answers, (starts, rows.copy(), bits), *state.arrays[3:])
        _score_all(self._form, self._second, self.ranking.arrays, state.arrays)
        if len(forced):
            self._remove(state.neighbours(np.sort(forced)))

    @property
    def adjacency_bytes(self) -> int:
        """Bytes of both kinds of lists."""
        return super().adjacency_bytes + int(self._undominated[2][1].nbytes)

    def _run(self, table: NDArray[np.float64], nodes: NDArray[np.int64], steps: int) -> int:
        own = (self.state.block.row_offsets, self.state.block.columns)
        ranking, state = self.ranking.arrays, self.state.arrays
        arrays = (self._form, self._second, self._undominated, ranking, state)
        made, self.state.candidates = _run(steps, table, self.state.candidates, nodes, own, *arrays)
        return int(made)

    def _remove(self, neighbours: Neighbours) -> None:
        """Choose nodes: dominate their neighbours, and rank the rest (collective)."""
        state, second = self.state, self._second
        ids, values = second[3:]
        count = _dominate(neighbours[2], 0, second, state.arrays)
        new = _find_new_spans(count, second, state.arrays)
        spans = share_pairs(self.comm, ids[:new], values[:new])
        state.candidates, count = _take_spans(
            *spans, state.candidates, count, self._undominated, state.arrays
        )
        new = _find_new_answers(count, self._form, second, state.arrays)
        answers = share_pairs(self.comm, ids[:new], values[:new])
        _take_answers_and_score(
            *answers, count, self._form, second, self.ranking.arrays, state.arrays
        )


def _closed(block: RowBlock) -> RowBlock:
    """Return the block in which each node is its own neighbour."""
    lo, hi = block.partition.range(block.rank)
    return replace(
        block,
        row_offsets=block.row_offsets + np.arange(block.rows + 1),
        columns=np.insert(block.columns, block.row_offsets[:-1], np.arange(lo, hi)),
        entries=block.entries + block.n,
    )


@njit(cache=True)
def _answer(total: Any, form: Any) -> Any:
    """Return the answer of a node that is not dominated, by its sum of messages."""
    by_sum, largest = form[:2]
    value = value_at(by_sum, total) + 0.5
    return np.int64(max(math.floor(value), 1.0)) if value < largest else np.int64(largest)


@njit(cache=True)
def _answer_all(answers: Any, form: Any, sums: Any) -> None:
    for row in range(len(answers)):
        answers[row] = _answer(sums[row], form)


@njit(cache=True)
def _key(row: Any, form: Any, second: Any, state: Any) -> Any:
    """Return the key of one of my rows."""
    span = state[1][state[0] + row]
    if span == 0:
        return np.int64(0)
    return key_of(np.float32(second[1][row] * form[2][span]), row)


@njit(cache=True)
def _score_all(form: Any, second: Any, ranking: Any, state: Any) -> None:
    tree, rows = ranking[0], len(second[1])
    for row in range(rows):
        tree[len(tree) // 2 + row] = _key(row, form, second, state)
    rank_changed(state[5], 0, ranking)


@njit(cache=True)
def _dominate(nodes: Any, count: Any, second: Any, state: Any) -> Any:
    """Take nodes that are newly dominated out of spans and their answers out of sums.

    Nodes that were dominated before are passed over. Return how many of my rows have changed.
    """
    answers, answer_sums, spans = second[:3]
    for u in nodes:
        if answers[u] > 0:
            count = add_to_touching(u, -1, spans, False, state, count)
            count = add_to_touching(u, -answers[u], answer_sums, False, state, count)
            answers[u] = 0
    return count


@njit(cache=True)
def _find_new_spans(count: Any, second: Any, state: Any) -> Any:
    """Write ids and values of my rows' new spans; return how many."""
    _, _, spans, ids, values = second
    lo, known, changed = state[0], state[1], state[5]
    new = 0
    for k in range(count):
        row = changed[k]
        if spans[row] != known[lo + row]:
            ids[new], values[new] = lo + row, spans[row]
            new += 1
    return new


@njit(cache=True)
def _take_spans(
    ids: Any, values: Any, candidates: Any, count: Any, undominated: Any, state: Any
) -> Any:
    """Note new spans, and add to sums what messages have gained.

    Returns
    -------
    candidates, count
        Candidates left, and how many of my rows have changed.
    """
    known, messages, sums = state[1], state[3], state[4]
    for k in range(len(ids)):
        node, span = ids[k], values[k]
        gain = messages[span] - messages[known[node]]
        known[node] = span
        if span == 0:
            candidates -= 1
        count = add_to_touching(node, gain, sums, False, undominated, count)
    return candidates, count


@njit(cache=True)
def _find_new_answers(count: Any, form: Any, second: Any, state: Any) -> Any:
    """Write ids and values of my rows' answers that have to be sent; return how many."""
    answers, _, _, ids, values = second
    lo, sums, changed, refresh_above = state[0], state[4], state[5], form[3]
    new = 0
    for k in range(count):
        node = lo + changed[k]
        sent = answers[node]
        if sent > 0:
            value = _answer(sums[changed[k]], form)
            if abs(value - sent) > refresh_above * sent:
                ids[new], values[new] = node, value
                new += 1
    return new


@njit(cache=True)
def _take_answers_and_score(
    ids: Any, values: Any, count: Any, form: Any, second: Any, ranking: Any, state: Any
) -> None:
    """Add to sums what answers have gained, and score the rows that have changed."""
    answers, answer_sums = second[:2]
    tree, changed, is_changed = ranking[0], state[5], state[6]
    count = take_values(ids, values, answers, answer_sums, False, state, count)
    for k in range(count):
        row = changed[k]
        is_changed[row] = False
        tree[len(tree) // 2 + row] = _key(row, form, second, state)
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
    undominated: Any,
    ranking: Any,
    state: Any,
) -> Any:
    """Make steps of a lone rank; return steps made and candidates left."""
    row_offsets, columns = own
    ids, values = second[3:]
    keys = np.empty((len(nodes) - 1) // steps, np.int64)
    total = 0
    for step in range(steps):
        taken, _ = choose_alone(table, candidates, keys, nodes[total:], own, ranking, state)
        if taken == 0:
            return step, candidates
        count = 0
        for node in nodes[total : total + taken]:
            neighbours = columns[row_offsets[node] : row_offsets[node + 1]]
            count = _dominate(neighbours, count, second, state)
        new = _find_new_spans(count, second, state)
        candidates, count = _take_spans(
            ids[:new], values[:new], candidates, count, undominated, state
        )
        new = _find_new_answers(count, form, second, state)
        _take_answers_and_score(ids[:new], values[:new], count, form, second, ranking, state)
        total += taken
    return steps, candidates
