"""Alg. 4 for policies in scalar form: a step costs what it changes.

The state is the residual degree of every node, replicated, and for each of a rank's own rows the
sum of its active neighbours' messages, which are their degrees or a function of them. Both are
integers, so scores are the same bits on every number of ranks. Choosing v lowers the degrees of
its neighbours and changes the sums two hops away: s_w loses v's message for w in N(v), and follows
u's message for w in N(u), u in N(v).

To find the rows that touch a node, a rank holds its block by columns, 4 bytes an entry and 8 a
column; entries of nodes that have left are dropped as they are met. Where that is more than one
bit for each pair of nodes (density above 1/32), it holds bits instead: a row's sum falls by the
number of bits it has in common with the lowered nodes, one sweep of AND and popcount.

A step sends each rank's best d (score, id) pairs and the active neighbours of the chosen nodes,
nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.graphs.row_block import RowBlock
from ogg_hpc.policies.scalar_form import ScalarForm
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.search.policy_search import SearchResult
from ogg_hpc.search.schedule import Schedule
from ogg_hpc.search.tournament import build, new_tree, take_best, update_many

# Above this density a bit for each pair of nodes is less than 4 bytes an entry.
_DENSE = 1 / 32
# Steps that a lone rank makes between two looks at the clock.
_STEPS_AT_ONCE = 16


def scalar_search(
    comm: Communicator,
    block: RowBlock,
    form: ScalarForm,
    schedule: Schedule,
    forced: NDArray[np.int64],
    on_step: Callable[[int, NDArray[np.int64]], None] | None = None,
) -> SearchResult:
    """Build a vertex cover as `search` does, by scores in scalar form (collective).

    Parameters
    ----------
    comm
        The ranks.
    block
        This rank's rows of an unweighted graph.
    form
        The policy.
    schedule, forced, on_step
        As for `search`.

    Returns
    -------
    SearchResult
        What `search` returns; a lone rank's step times are means over a few steps.
    """
    state = _State(comm, block, form)
    state.remove(np.asarray(forced, np.int64))
    chosen = [np.asarray(forced, np.int64)]
    seconds: list[float] = []
    while state.candidates:
        start = time.perf_counter()
        left = state.candidates
        if comm.size == 1:
            nodes, steps = state.run(schedule, _STEPS_AT_ONCE)
        else:
            nodes, steps = state.step(int(schedule.nodes(np.array(left), np.array(block.n)))), 1
        if not len(nodes):
            break  # no candidate has a finite score
        chosen.append(nodes)
        seconds += [(time.perf_counter() - start) / steps] * steps
        if on_step is not None:
            on_step(len(seconds), np.array([left]))
    adjacency_bytes = sum(part.nbytes for part in state.columns.arrays)
    return SearchResult([np.concatenate(chosen)], seconds, adjacency_bytes)


class _State:
    """Degrees, sums and scores of a residual graph, and who touches whom."""

    def __init__(self, comm: Communicator, block: RowBlock, form: ScalarForm) -> None:
        self.comm, self.block = comm, block
        self.lo, self.hi = block.partition.range(comm.rank)
        counts = block.partition.counts
        self.degrees = comm.allgatherv(np.diff(block.row_offsets), counts).astype(np.int32)
        self.active = np.ones(block.n, np.bool_)
        rows = self.hi - self.lo
        messages = np.arange(max(block.n, 1)) if form.messages is None else form.messages
        self.form = (form.starts, form.intercepts, form.slopes, messages)
        # Bits count neighbours: they serve where all messages fall alike.
        self.columns = _Columns(block, may_be_bits=form.messages is None)
        self.sums = np.zeros(rows, np.int64)
        _first_sums(block.row_offsets, block.columns, messages[self.degrees], self.sums)
        self.scores, self.tree = new_tree(rows)
        self.changed, self.is_changed = np.empty(rows, np.int32), np.zeros(rows, np.bool_)
        _score_all(self.lo, self.degrees, self.active, self.sums, self.form, self.scores)
        build(self.scores, self.tree)
        self.candidates = int(np.count_nonzero(self.degrees))

    def run(self, schedule: Schedule, steps: int) -> tuple[NDArray[np.int64], int]:
        """Make some steps on a lone rank; return the nodes chosen and the steps made."""
        table = np.array(schedule.table, np.float64).reshape(-1, 2)
        nodes = np.empty(steps * schedule.most, np.int64)
        own = (self.block.row_offsets, self.block.columns)
        made, count, self.candidates = _run(
            steps, table, schedule.most, self.candidates, nodes, own, self._arrays()
        )
        return nodes[:count], made

    def step(self, d: int) -> NDArray[np.int64]:
        """Choose the best d nodes over all ranks and remove them (collective)."""
        leaves, values = np.empty(d, np.int64), np.full(d, -np.inf, np.float32)
        taken = take_best(self.scores, self.tree, d, leaves, values)
        ids = np.zeros(d, np.int64)
        ids[:taken] = leaves[:taken] + self.lo
        best, nodes, _ = self.comm.best(values[None].astype(float), ids[None], np.zeros(1))
        chosen: NDArray[np.int64] = nodes[0][np.isfinite(best[0])]
        # Those that other ranks' nodes have beaten go back into the tree.
        is_beaten = ~np.isin(ids[:taken], chosen)
        beaten = leaves[:taken][is_beaten]
        if len(beaten):
            self.scores[beaten] = values[:taken][is_beaten]
            update_many(self.scores, self.tree, beaten, len(beaten))
        self.remove(chosen)
        return chosen

    def remove(self, nodes: NDArray[np.int64]) -> None:
        """Remove chosen nodes from the residual graph (collective)."""
        nodes = np.sort(nodes)
        lengths = self.degrees[nodes]
        owner = np.searchsorted(self.block.partition.offsets, nodes, side="right") - 1
        counts = np.bincount(owner, lengths, self.comm.size).astype(np.int64)
        neighbours = np.empty(counts[self.comm.rank], np.int32)
        _active_neighbours(
            nodes[owner == self.comm.rank] - self.lo,
            self.block.row_offsets,
            self.block.columns,
            self.active,
            neighbours,
        )
        if self.comm.size > 1:
            neighbours = self.comm.allgatherv(neighbours, counts)
        self.candidates = _remove_and_score(
            nodes, lengths, neighbours, self.candidates, self._arrays()
        )

    def _arrays(self) -> tuple[Any, ...]:
        return (
            self.lo,
            self.degrees,
            self.active,
            self.columns.arrays,
            self.sums,
            self.form,
            self.scores,
            self.tree,
            self.changed,
            self.is_changed,
        )


class _Columns:
    """Which of this rank's rows touch a node: lists, or bits where they are smaller.

    Attributes
    ----------
    arrays : tuple
        ``(starts, rows, bits)``: column v is ``rows[starts[v]:starts[v + 1]]`` up to the first -1,
        or bit v of each row of `bits`; the others are empty.
    """

    def __init__(self, block: RowBlock, may_be_bits: bool) -> None:
        words = -(-block.n // 64)
        bits = np.zeros((0, 0), np.uint64)
        starts = np.zeros(1, np.int64)
        rows = np.empty(0, np.int32)
        # All ranks choose alike: by the density of the whole graph.
        if may_be_bits and block.entries > _DENSE * block.n * block.n:
            bits = np.zeros((block.rows, words), np.uint64)
            _set_bits(block.row_offsets, block.columns, bits)
        else:
            starts = np.zeros(block.n + 1, np.int64)
            np.cumsum(np.bincount(block.columns, minlength=block.n), out=starts[1:])
            rows = np.empty(len(block.columns), np.int32)
            _transpose(block.row_offsets, block.columns, starts[:-1].copy(), rows)
        self.arrays = (starts, rows, bits)


@njit(cache=True)
def _set_bits(row_offsets: Any, columns: Any, bits: Any) -> None:
    for row in range(len(row_offsets) - 1):
        for k in range(row_offsets[row], row_offsets[row + 1]):
            column = columns[k]
            bits[row, column >> 6] |= np.uint64(1) << np.uint64(column & 63)


@njit(cache=True)
def _transpose(row_offsets: Any, columns: Any, place: Any, rows: Any) -> None:
    for row in range(len(row_offsets) - 1):
        for k in range(row_offsets[row], row_offsets[row + 1]):
            column = columns[k]
            rows[place[column]] = row
            place[column] += 1


@njit(cache=True)
def _active_neighbours(
    own: Any, row_offsets: Any, columns: Any, active: Any, neighbours: Any
) -> None:
    """Write the active neighbours of own rows one after another: a degree's worth of each."""
    count = 0
    for row in own:
        for k in range(row_offsets[row], row_offsets[row + 1]):
            if active[columns[k]]:
                neighbours[count] = columns[k]
                count += 1


@njit(cache=True)
def _first_sums(row_offsets: Any, columns: Any, messages: Any, sums: Any) -> None:
    for row in range(len(sums)):
        for k in range(row_offsets[row], row_offsets[row + 1]):
            sums[row] += messages[columns[k]]


@njit(cache=True)
def _score(degree: Any, total: Any, form: Any) -> Any:
    starts, intercepts, slopes, _ = form
    ratio = total / degree
    piece, end = 0, len(starts)
    while end - piece > 1:
        middle = (piece + end) >> 1
        if starts[middle] <= ratio:
            piece = middle
        else:
            end = middle
    score = np.float32(intercepts[piece] * degree + slopes[piece] * total)
    return score if np.isfinite(score) else np.float32(-np.inf)  # as in `select`: no choice


@njit(cache=True)
def _score_all(lo: Any, degrees: Any, active: Any, sums: Any, form: Any, scores: Any) -> None:
    for row in range(len(sums)):
        if active[lo + row] and degrees[lo + row] > 0:
            scores[row] = _score(degrees[lo + row], sums[row], form)


# The compiled functions below share one tuple, `state`:
# (lo, degrees, active, touching, sums, form, scores, tree, changed, is_changed).


@njit(cache=True)
def _mark(row: Any, state: Any, count: Any) -> Any:
    """Note that a row has to be scored anew; return how many have."""
    changed, is_changed = state[8], state[9]
    if not is_changed[row]:
        is_changed[row] = True
        changed[count] = row
        count += 1
    return count


@njit(cache=True)
def _lower(node: Any, by: Any, state: Any, count: Any) -> Any:
    """Lower the sums of a node's active neighbours among my rows; drop the others' entries."""
    lo, active, touching, sums = state[0], state[2], state[3], state[4]
    starts, rows, _ = touching
    kept, end = starts[node], starts[node + 1]
    for k in range(kept, end):
        row = rows[k]
        if row < 0:
            break
        if active[lo + row]:
            sums[row] -= by
            count = _mark(row, state, count)
            rows[kept] = row
            kept += 1
    if kept < end:
        rows[kept] = -1  # here the list ends from now on
    return count


@njit(cache=True)
def _ones(word: Any) -> Any:
    """Count the bits of a 64-bit word; compilers know this form and use one instruction."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True)
def _lower_by_bits(node: Any, by: Any, lowered: Any, state: Any, count: Any) -> Any:
    """Lower the sums of my active rows by one for each lowered node they touch, and for `node`."""
    lo, active, touching, sums = state[0], state[2], state[3], state[4]
    bits = touching[2]
    word, bit = node >> 6, np.uint64(node & 63)
    for row in range(len(sums)):
        if active[lo + row]:
            common = np.int64(0)
            for i in range(len(lowered)):
                common += _ones(bits[row, i] & lowered[i])
            if (bits[row, word] >> bit) & np.uint64(1):
                common += by
            if common:
                sums[row] -= common
                count = _mark(row, state, count)
    return count


@njit(cache=True)
def _remove(node: Any, neighbours: Any, candidates: Any, count: Any, state: Any) -> Any:
    """Remove one node; return the candidates left and the number of changed rows."""
    lo, degrees, active, touching, sums, form = state[:6]
    messages = form[3]
    mine, own = len(sums), messages[degrees[node]]
    words = touching[2].shape[1]
    lowered = np.zeros(words, np.uint64)
    if degrees[node] > 0:
        candidates -= 1
    active[node] = False
    degrees[node] = 0
    if lo <= node < lo + mine:
        count = _mark(node - lo, state, count)
    if words == 0:
        count = _lower(node, own, state, count)
    for u in neighbours:
        if active[u]:
            degrees[u] -= 1
            if degrees[u] == 0:
                candidates -= 1
            if lo <= u < lo + mine:
                count = _mark(u - lo, state, count)
            if words == 0:
                by = messages[degrees[u] + 1] - messages[degrees[u]]
                count = _lower(u, by, state, count)
            else:
                lowered[u >> 6] |= np.uint64(1) << np.uint64(u & 63)
    if words > 0:
        count = _lower_by_bits(node, own, lowered, state, count)
    return candidates, count


@njit(cache=True)
def _rescore(count: Any, state: Any) -> None:
    """Score the changed rows anew and bring the tree up to date."""
    lo, degrees, active, _, sums, form, scores, tree, changed, is_changed = state
    for k in range(count):
        row = changed[k]
        is_changed[row] = False
        degree = degrees[lo + row]
        if active[lo + row] and degree > 0:
            scores[row] = _score(degree, sums[row], form)
        else:
            scores[row] = -np.inf
    update_many(scores, tree, changed, count)


@njit(cache=True)
def _remove_and_score(
    nodes: Any, lengths: Any, neighbours: Any, candidates: Any, state: Any
) -> Any:
    """Remove nodes whose active neighbours stand one after another; return candidates left."""
    count, start = 0, 0
    for i in range(len(nodes)):
        end = start + lengths[i]
        candidates, count = _remove(nodes[i], neighbours[start:end], candidates, count, state)
        start = end
    _rescore(count, state)
    return candidates


@njit(cache=True)
def _run(
    steps: Any, table: Any, most: Any, candidates: Any, nodes: Any, own: Any, state: Any
) -> Any:
    """Make steps of a lone rank; return steps made, nodes chosen, candidates left."""
    active, scores, tree = state[2], state[6], state[7]
    row_offsets, columns = own
    leaves, values = np.empty(most, np.int64), np.empty(most, np.float32)
    total = 0
    for step in range(steps):
        if candidates == 0:
            return step, total, candidates
        d = 1
        for i in range(len(table)):
            if candidates > table[i, 0] * len(active):
                d = int(table[i, 1])
                break
        taken = take_best(scores, tree, d, leaves, values)
        if taken == 0:
            return step, total, candidates
        count = 0
        for i in range(taken):
            node = leaves[i]
            nodes[total] = node
            total += 1
            neighbours = columns[row_offsets[node] : row_offsets[node + 1]]
            candidates, count = _remove(node, neighbours, candidates, count, state)
        _rescore(count, state)
    return steps, total, candidates
