"""A graph whose rows are shared by the ranks: walkers go to the rank that has their row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.embedding.counting_sort import order_of
from ogg_hpc.embedding.edge_weights import column_sums, row_sums
from ogg_hpc.embedding.walk_graph import WalkGraph
from ogg_hpc.embedding.walk_rows import (
    DEPENDS,
    TAKEN,
    WalkRows,
    attempt_state,
    draw_neighbour,
    has_neighbour,
    judge,
)
from ogg_hpc.graphs.row_block import RowBlock
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.random_compiled import absorb

# Columns of walkers, which travel as rows of int64: the random key, whose walk it is (number times
# ranks plus rank), the node it is at, the steps of the walk, and the node before.
_KEY, _WALK, _NODE, _STEPS, _BEFORE = range(5)
# Attempts of a walker that are looked up at once: more make fewer messages, and more of them vain.
_QUESTIONS = 8


class _Moves(NamedTuple):
    """What walkers on this rank's rows did in one step."""

    step: int
    walks: NDArray[np.int64]
    nodes: NDArray[np.int64]
    ended: NDArray[np.bool_]


class RowBlockGraph(WalkGraph):
    """A graph of which each rank has some rows (collective); all walks are collective.

    All walkers step at the same time, and then go to the owners of their nodes by one Alltoallv.
    What they have visited is noted where they were, and sent home once, at the end.

    Parameters
    ----------
    comm
        The ranks.
    block
        This rank's rows; weights are positive.
    directed
        As for `WalkGraph`.
    """

    def __init__(self, comm: Communicator, block: RowBlock, directed: bool) -> None:
        self._comm, self._partition = comm, block.partition
        self._rows = WalkRows.of(block)
        self._first, _ = block.partition.range(comm.rank)
        counts = block.partition.counts
        strengths = comm.allgatherv(row_sums(block), counts)
        super().__init__(
            directed,
            block.weights is not None,
            comm.allgatherv(np.diff(block.row_offsets), counts),
            strengths,
            column_sums(comm, block) if directed else strengths,
        )

    def walks(
        self,
        starts: NDArray[Any],
        keys: NDArray[np.uint64],
        steps: int,
        *,
        p: float = 1.0,
        q: float = 1.0,
    ) -> NDArray[Any]:
        """See `WalkGraph.walks`."""
        walks = np.full((len(starts), steps + 1), -1, self.id_type)
        walks[:, 0] = starts
        every = np.full(len(starts), steps, np.int64)
        visits: list[NDArray[np.int64]] = [np.empty((0, 3), np.int64)]
        for moves in self._moves(starts, keys, every, p, q):
            step = np.full(len(moves.walks), moves.step + 1)
            visits.append(np.column_stack([moves.walks, step, moves.nodes]))
        walk, step, node = self._sent_home(np.concatenate(visits)).T
        walks[walk, step] = node
        return walks

    def ends(
        self, starts: NDArray[Any], keys: NDArray[np.uint64], steps: NDArray[np.int64]
    ) -> NDArray[Any]:
        """See `WalkGraph.ends`."""
        nodes = starts.astype(self.id_type)
        last: list[NDArray[np.int64]] = [np.empty((0, 2), np.int64)]
        for moves in self._moves(starts, keys, steps, 1.0, 1.0):
            ended = moves.ended
            last.append(np.column_stack([moves.walks[ended], moves.nodes[ended]]))
        walk, node = self._sent_home(np.concatenate(last)).T
        nodes[walk] = node
        return nodes

    def free(self) -> None:
        """See `WalkGraph.free`; here is none."""

    def _moves(
        self,
        starts: NDArray[Any],
        keys: NDArray[np.uint64],
        steps: NDArray[np.int64],
        p: float,
        q: float,
    ) -> Iterator[_Moves]:
        """Let all walkers walk; yield the moves on this rank's rows (collective)."""
        comm = self._comm
        own = np.arange(len(starts)) * comm.size + comm.rank
        biased = not p == q == 1
        columns = [keys.view(np.int64), own, starts, steps, *([starts] if biased else [])]
        walkers = np.column_stack(columns).astype(np.int64, copy=False)
        walkers = walkers[(steps > 0) & (self.degrees[starts] > 0)]
        rounds = int(comm.allreduce(np.array([np.max(steps, initial=0)]), "max")[0])
        for step in range(rounds):
            walkers = self._sent(walkers, walkers[:, _NODE])
            if biased and step > 0:
                nodes = self._biased_step(walkers, step, p, q)
            else:
                nodes = np.empty(len(walkers), np.int64)
                _step(self._rows, self._first, walkers, step, nodes)
            ended = (walkers[:, _STEPS] == step + 1) | (self.degrees[nodes] == 0)
            yield _Moves(step, walkers[:, _WALK], nodes, ended)
            if biased:
                walkers[:, _BEFORE] = walkers[:, _NODE]
            walkers[:, _NODE] = nodes
            walkers = walkers[~ended]

    def _biased_step(
        self, walkers: NDArray[np.int64], step: int, p: float, q: float
    ) -> NDArray[np.int64]:
        """Return the nodes that walkers step to, by rejection as in `biased_walk` (collective).

        Attempts that depend on edges of the node before are looked up at its owner, those of one
        walker together.
        """
        nodes = np.full(len(walkers), -1)
        attempts = np.zeros(len(walkers), np.int64)
        waiting = np.arange(len(walkers))
        while True:
            drawn = np.empty((len(waiting), _QUESTIONS), np.int64)
            asked = np.zeros(len(waiting), np.int64)
            _attempt(
                self._rows, self._first, walkers, step, p, q, waiting, attempts, nodes, drawn, asked
            )
            is_asked = np.arange(_QUESTIONS) < asked[:, None]
            taken = np.zeros(drawn.shape, bool)
            before = np.repeat(walkers[waiting, _BEFORE], asked)
            taken[is_asked] = self._are_edges(before, drawn[is_asked]) == (q > 1)
            any_taken, first_taken = taken.any(axis=1), taken.argmax(axis=1)
            nodes[waiting[any_taken]] = drawn[any_taken, first_taken[any_taken]]
            waiting = waiting[nodes[waiting] < 0]
            if not self._comm.agree(np.array([len(waiting)]))[0]:
                return nodes

    def _are_edges(
        self, sources: NDArray[np.int64], targets: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Return which pairs are edges, as the owners of their sources know (collective)."""
        order, counts = self._by_owner(sources)
        questions, received = self._comm.alltoallv(
            np.column_stack([sources, targets])[order], counts
        )
        answers = np.empty(len(questions), np.bool_)
        _look_up(self._rows, self._first, questions, answers)
        returned, _ = self._comm.alltoallv(answers, received, counts)
        found = np.empty(len(sources), np.bool_)
        found[order] = returned
        return found

    def _sent(self, messages: NDArray[np.int64], nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the messages that come to this rank as the owner of their nodes (collective)."""
        order, counts = self._by_owner(nodes)
        received: NDArray[np.int64] = self._comm.alltoallv(messages[order], counts)[0]
        return received

    def _sent_home(self, messages: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the messages about this rank's walks, their first column being the walk's number.

        Collective.
        """
        size = self._comm.size
        ranks = messages[:, 0] % size
        counts = np.bincount(ranks, minlength=size)
        received, _ = self._comm.alltoallv(messages[order_of(ranks, size)], counts)
        received[:, 0] //= size
        home: NDArray[np.int64] = received
        return home

    def _by_owner(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return an order that puts nodes of one owner together, and how many each owner has."""
        owners = np.searchsorted(self._partition.offsets[1:], nodes, side="right")
        size = self._comm.size
        return order_of(owners, size), np.bincount(owners, minlength=size)


@njit(cache=True, nogil=True)
def _step(rows: Any, first: Any, walkers: Any, step: Any, nodes: Any) -> None:
    for i in range(len(walkers)):
        state = absorb(np.uint64(walkers[i, _KEY]), step)
        nodes[i] = draw_neighbour(rows, walkers[i, _NODE] - first, state)


@njit(cache=True, nogil=True)
def _attempt(
    rows: Any,
    first: Any,
    walkers: Any,
    step: Any,
    p: Any,
    q: Any,
    waiting: Any,
    attempts: Any,
    nodes: Any,
    drawn: Any,
    asked: Any,
) -> None:
    """Let walkers try until a neighbour is taken, or `drawn` is full of those that may be."""
    for k in range(len(waiting)):
        i = waiting[k]
        row = walkers[i, _NODE] - first
        state = absorb(np.uint64(walkers[i, _KEY]), step)
        alone = rows.row_offsets[row + 1] - rows.row_offsets[row] == 1
        while asked[k] < drawn.shape[1]:
            node = draw_neighbour(rows, row, attempt_state(state, attempts[i]))
            verdict = judge(state, attempts[i], node == walkers[i, _BEFORE], p, q)
            attempts[i] += 1
            if alone or verdict == TAKEN:
                nodes[i] = node
                break
            if verdict == DEPENDS:
                drawn[k, asked[k]] = node
                asked[k] += 1


@njit(cache=True, nogil=True)
def _look_up(rows: Any, first: Any, questions: Any, answers: Any) -> None:
    for i in range(len(questions)):
        answers[i] = has_neighbour(rows, questions[i, 0] - first, questions[i, 1])
