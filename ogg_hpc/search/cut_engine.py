"""Alg. 4 by tentative sides: a step costs what its messages change.

A rank holds, for its own rows alone, what they receive, what they sent last and before, and the
weight of their edges to nodes not yet placed: four integers a node. In each step it sends all ranks
its best row and the messages that have moved, in one collective; the best of all is placed, and
each rank adds the messages to the fields of its rows that touch their senders. Only rows whose
field or own message has changed are looked at again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ogg_hpc.graphs.row_block import RowBlock
from ogg_hpc.policies.cut_messages import SHARES, WHOLE, CutMessageForm, weight_exponents
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.stop import Stop, amounts, never
from ogg_hpc.search.policy_search import SearchResult
from ogg_hpc.search.scalar_search import search_by
from ogg_hpc.search.share_pairs import share_pairs_and_row
from ogg_hpc.search.tournament import key_of, new_tree, row_of, update_many

# Steps that a lone rank makes at most between two looks at the clock.
_STEPS_AT_ONCE = 64


def cut_search(
    comm: Communicator,
    block: RowBlock,
    form: CutMessageForm,
    on_step: Callable[[int, NDArray[np.int64]], None] | None = None,
    stop: Stop = never,
) -> SearchResult:
    """Place all nodes as `search` does by the reference's scores, one a step (collective).

    Parameters
    ----------
    comm
        The ranks.
    block
        This rank's rows of a graph with weights of any sign, or without.
    form
        The policy.
    on_step, stop
        As for `search`.

    Returns
    -------
    SearchResult
        What `search` returns; a lone rank's step times are means over a few steps.
    """
    none = np.empty(0, np.int64)
    result = search_by(comm, CutEngine(comm, block, form), none, "cpu", on_step, stop)
    nodes, sides = np.divmod(result.solutions[0], 2)
    return replace(result, solutions=[nodes[sides == 1]])


class CutEngine:
    """A graph whose nodes are placed one after another.

    Parameters
    ----------
    comm, block, form
        As for `cut_search`.

    Attributes
    ----------
    candidates : int
        Nodes with an edge that are not yet placed.
    """

    def __init__(self, comm: Communicator, block: RowBlock, form: CutMessageForm) -> None:
        self._comm, self._amounts = comm, amounts(never, _STEPS_AT_ONCE)
        self._lo = int(block.partition.offsets[comm.rank])
        degrees = np.diff(block.row_offsets)
        self.candidates = int(comm.allreduce(np.array(np.count_nonzero(degrees))))
        weights = _whole_weights(comm, block)
        self._touching = _touching(block, weights)
        strengths = np.zeros(block.rows, np.int64)
        np.add.at(strengths, np.arange(block.rows).repeat(degrees), np.abs(weights))
        gains, factors = form.factors(strengths.astype(float), degrees.astype(float), block.n)
        # The compiled functions share what does not change, …
        self._form = (
            form.gain_by_share,
            form.memory,
            form.reaction,
            form.refresh_above * WHOLE,
            gains,
            factors,
            np.maximum(strengths, 1),
        )
        # … fields, weights to nodes not yet placed, messages as sent last and before, who waits, …
        fields, sent, before = np.zeros((3, block.rows), np.int64)
        self._nodes = (fields, strengths, sent, before, degrees > 0)
        # … keys, rows to look at again and who is among them, senders and changes of messages.
        self._work = (
            new_tree(block.rows),
            np.arange(block.rows),
            np.ones(block.rows, np.bool_),
            np.empty(block.rows, np.int64),
            np.empty(block.rows, np.int64),
        )
        self._moved = _follow(block.rows, self._lo, self._form, self._nodes, self._work)

    @property
    def adjacency_bytes(self) -> int:
        """Bytes of the lists and weights of touching rows."""
        return sum(int(part.nbytes) for part in self._touching)

    def advance(self, stop: bool) -> tuple[NDArray[np.int64], int] | None:
        """Place the best node, or some one after another on a lone rank (collective).

        As `scalar_search.Engine` does; what is chosen are actions, ``2 * node + side``.
        """
        arrays = (self._lo, self._touching, self._form, self._nodes, self._work)
        if self._comm.size == 1:
            if stop:
                return None
            actions = np.empty(next(self._amounts), np.int64)
            made, self._moved = _run(actions, self._moved, *arrays)
            self.candidates -= made
            return actions[:made], made
        own = np.array([stop, *_best(self._lo, self._form, self._nodes, self._work)])
        ids, changes = (part[: self._moved] for part in self._work[3:])
        ids, changes, everyone = share_pairs_and_row(self._comm, ids, changes, own)
        if everyone[:, 0].any():
            return None
        _, key, action, change = max(everyone.tolist())
        if key == 0:
            return np.empty(0, np.int64), 0
        self._moved = _place(action // 2, change, ids, changes, self._moved, *arrays)
        self.candidates -= 1
        return np.array([action]), 1


def _whole_weights(comm: Communicator, block: RowBlock) -> NDArray[np.int64]:
    """Return the weights of a block's entries as whole numbers (collective)."""
    weights = np.ones(len(block.columns)) if block.weights is None else block.weights
    largest = comm.allreduce(np.array(np.abs(weights).max(initial=0.0)), "max")
    exponent = int(weight_exponents(float(largest), block.n))
    return np.rint(np.ldexp(weights, exponent)).astype(np.int64)


def _touching(
    block: RowBlock, weights: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64]]:
    """Return the block by columns: starts, rows and weights."""
    if block.rows == block.n:  # the whole matrix, which is symmetric
        return block.row_offsets, block.columns, weights
    shape = (block.rows, block.n)
    columns = csr_matrix((weights, block.columns, block.row_offsets), shape=shape).tocsc()
    return columns.indptr, columns.indices, columns.data


@njit(cache=True)
def _follow(count: Any, lo: Any, form: Any, nodes: Any, work: Any) -> Any:
    """Rank the first `count` rows to look at, and let them send; return how many have."""
    gain_by_share, memory, reaction, refresh_above, gains, factors, strengths = form
    fields, left, sent, before, waits = nodes
    tree, rows, noted, ids, changes = work
    size, moved = len(tree) // 2, 0
    for k in range(count):
        row = rows[k]
        noted[row] = False
        tree[size + row] = 0
        if not waits[row]:
            continue
        tree[size + row] = key_of(np.float32(abs(fields[row] * factors[row])), row)
        x = (
            fields[row] * gains[row] * gain_by_share[left[row] * SHARES // strengths[row]]
            + memory * (sent[row] / WHOLE)
            - reaction * (before[row] / WHOLE)
        )
        change = np.int64(np.rint(x / np.sqrt(1 + x * x) * WHOLE)) - sent[row]
        if abs(change) > refresh_above:
            ids[moved], changes[moved] = lo + row, change
            before[row] = sent[row]
            sent[row] += change
            moved += 1
    update_many(tree, rows, count)
    for k in range(moved):  # their own messages have a part in the next ones
        rows[k] = ids[k] - lo
        noted[rows[k]] = True
    return moved


@njit(cache=True)
def _best(lo: Any, form: Any, nodes: Any, work: Any) -> Any:
    """Return the key by id of my best row, 0 without one, its action, and what it changes."""
    fields, _, sent, before, _ = nodes
    key = work[0][1]
    if key == 0:
        return np.int64(0), np.int64(0), np.int64(0)
    row = row_of(key)
    side = np.float32(fields[row] * form[5][row]) > 0
    # Neighbours have not yet heard what it would send next.
    heard = before[row] if work[2][row] else sent[row]
    return key - lo, 2 * (lo + row) + side, (WHOLE if side else -WHOLE) - heard


@njit(cache=True)
def _place(
    node: Any,
    change: Any,
    ids: Any,
    changes: Any,
    count: Any,
    lo: Any,
    touching: Any,
    form: Any,
    nodes: Any,
    work: Any,
) -> Any:
    """Place a node, hear all messages and follow; return how many of my rows have sent."""
    rows, noted, waits = work[1], work[2], nodes[4]
    if lo <= node < lo + len(waits):
        row = node - lo
        waits[row] = False
        if not noted[row]:
            noted[row] = True
            rows[count] = row
            count += 1
    count = _hear(node, change, True, touching, count, nodes, work)
    for k in range(len(ids)):
        if ids[k] != node:
            count = _hear(ids[k], changes[k], False, touching, count, nodes, work)
    return _follow(count, lo, form, nodes, work)


@njit(cache=True)
def _hear(
    node: Any, change: Any, placed: Any, touching: Any, count: Any, nodes: Any, work: Any
) -> Any:
    """Add the change of a node's message to the fields of my rows that touch it."""
    starts, rows_of, weights = touching
    fields, left, _, _, waits = nodes
    _, rows, noted, _, _ = work
    for entry in range(starts[node], starts[node + 1]):
        row = rows_of[entry]
        if not waits[row]:
            continue
        fields[row] -= weights[entry] * change
        if placed:
            left[row] -= abs(weights[entry])
        if not noted[row]:
            noted[row] = True
            rows[count] = row
            count += 1
    return count


@njit(cache=True)
def _run(actions: Any, moved: Any, lo: Any, touching: Any, form: Any, nodes: Any, work: Any) -> Any:
    """Make steps of a lone rank; return steps made and how many messages have moved."""
    for step in range(len(actions)):
        key, action, change = _best(lo, form, nodes, work)
        if key == 0:
            return step, moved
        actions[step] = action
        ids, changes = work[3][:moved], work[4][:moved]
        moved = _place(action // 2, change, ids, changes, moved, lo, touching, form, nodes, work)
    return len(actions), moved
