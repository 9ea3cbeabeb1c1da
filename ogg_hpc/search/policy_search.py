"""Alg. 4: let a policy build a solution, on all ranks together."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.problems.problem import PartialSolution, Problem
from ogg_hpc.runtime.stop import Stop, never
from ogg_hpc.search.schedule import ONE, Schedule


class Scorer(Protocol):
    """What rates the nodes.

    Attributes
    ----------
    residual : bool
        Whether ratings of active nodes depend on the residual graph alone, up to a term that
        all nodes of a graph share. Nodes outside may then be dropped.
    """

    residual: bool

    def __call__(self, batch: GraphBatch, solution: PartialSolution) -> tuple[Any, Any]:
        """Return residual degrees and scores of this rank's rows (collective).

        One call for both: what keeps the scores up to date may keep the degrees too. Once in each
        step, as a scorer may remember what it found in the step before.

        Returns
        -------
        degrees, scores
            (rows, copies) each; read, not changed, until the next call. Where the problem has
            several sides, scores may have a last axis for them.
        """


@dataclass
class SearchResult:
    """What a search found.

    Attributes
    ----------
    solutions : list of (k,) int64
        For each group (graph * copies + copy) the ids of the nodes of S in the order chosen.
    partial : list of (k,) int64, optional
        Of a search that was asked to stop: for each group the ids of the actions chosen by then,
        in order. Its solutions are not feasible.
    step_seconds : list of float
        Wall time of each step.
    adjacency_bytes : int
        What the form of this rank's block that the engine multiplies or walks takes.
    device : str
        Where it was done.
    """

    solutions: list[NDArray[np.int64]]
    partial: list[NDArray[np.int64]] | None = None
    step_seconds: list[float] = field(default_factory=list)
    adjacency_bytes: int = 0
    device: str = "cpu"


def start_solution(batch: GraphBatch) -> PartialSolution:
    """Return the masks before the first step: nothing selected, everything active."""
    xp = batch.comm.device.xp
    shape = (batch.nodes, batch.copies)
    return PartialSolution(xp.zeros(shape, bool), xp.ones(shape, bool))


def search(
    batch: GraphBatch,
    problem: Problem,
    scorer: Scorer,
    schedule: Schedule = ONE,
    forced: NDArray[np.int64] | None = None,
    on_step: Callable[[int, NDArray[np.int64]], None] | None = None,
    stop: Stop = never,
) -> SearchResult:
    """Choose the best candidates step by step until no graph has a candidate (collective).

    Parameters
    ----------
    batch
        The graphs; all masks advance together.
    problem
        Its rules.
    scorer
        Rates the nodes.
    schedule
        Nodes a step.
    forced
        Ids of nodes chosen before the first step, in every group.
    on_step
        Called after each step with its number and the (groups,) candidates that were left.
    stop
        Asked in each step; where it holds on any rank, the search ends with what it has.

    Returns
    -------
    SearchResult
        The same on every rank and for every number of ranks.
    """
    adjacency_bytes = batch.adjacency_bytes
    solution = start_solution(batch)
    chosen_by_group: list[list[NDArray[np.int64]]] = [[] for _ in range(batch.groups)]
    if forced is not None and len(forced):
        groups = np.arange(batch.groups).repeat(len(forced))
        actions = forced * problem.sides + problem.sides - 1
        _choose(batch, problem, solution, groups, np.tile(actions, batch.groups))
        for of_group in chosen_by_group:
            of_group.append(actions)
    seconds: list[float] = []
    while True:
        start = time.perf_counter()
        degrees, scores = scorer(batch, solution)
        adjacency_bytes = max(adjacency_bytes, batch.adjacency_bytes)
        candidates = problem.candidates(solution, degrees, batch)
        scores = problem.action_scores(scores, solution, batch)
        groups, actions, left, stopped = select(batch, scores, candidates, schedule, stop())
        if stopped or not len(groups):
            break
        _choose(batch, problem, solution, groups, actions)
        if problem.residual and scorer.residual and left.sum() < batch.nodes * batch.copies / 2:
            unsettled = (degrees > 0) | candidates
            batch, solution = _without_the_settled(batch, solution, unsettled)
        for group, chosen in _by_group(groups, actions):
            chosen_by_group[group].append(chosen)
        end = time.perf_counter()
        seconds.append(end - start)
        batch.comm.trace.add("step", "step", start, end, candidates=int(left.sum()))
        if on_step is not None:
            on_step(len(seconds), left)
    empty = np.empty(0, np.int64)
    chosen_actions = [np.concatenate([empty, *chosen]) for chosen in chosen_by_group]
    return SearchResult(
        [_nodes_in_s(of_group, problem) for of_group in chosen_actions],
        chosen_actions if stopped else None,
        seconds,
        adjacency_bytes,
        batch.comm.device.name,
    )


class Selection(NamedTuple):
    """What all ranks have agreed on in a step.

    Attributes
    ----------
    groups, actions : (k,) int64
        Group and id of each chosen action.
    left : (groups,) int64
        Numbers of candidates.
    stopped : bool
        Whether any rank was asked to stop.
    """

    groups: NDArray[np.int64]
    actions: NDArray[np.int64]
    left: NDArray[np.int64]
    stopped: bool


def message_bytes(d: int) -> int:
    """Return the bytes of a rank's message in the choice of d actions of one graph.

    So many pairs of scores and ids, a number of candidates, and whether to stop.
    """
    return 8 * (2 * d + 2)


def select(
    batch: GraphBatch,
    scores: Any,
    candidates: Any,
    schedule: Schedule = ONE,
    stop: bool = False,
) -> Selection:
    """Find the best actions of each group over all ranks (collective).

    Scores are rounded to float32 first: sums that differ by rounding alone, for instance because
    another number of ranks splits the rows, must tie, and ties go to the lowest id. A score that
    is not finite is no choice. With several sides, no more than one action is chosen a step.

    Parameters
    ----------
    batch
        The graphs.
    scores
        (rows, copies) scores of this rank's rows, or (rows, copies, sides) of their actions.
    candidates
        (rows, copies) mask of the rows that may be chosen.
    schedule
        Nodes a step.
    stop
        Whether this rank is asked to stop; the others hear of it in the same message.
    """
    from_host = batch.comm.device.from_host
    d, sides = schedule.most(int(batch.sizes.max(initial=0))), 1
    if scores.ndim == 3:  # a node's actions one after another, as if each were a row
        sides = scores.shape[2]
        scores = scores.swapaxes(1, 2).reshape(-1, batch.copies)
        candidates = candidates.repeat(sides, axis=0)
    best_here = _best_of_one if batch.groups == 1 else _best_of_many
    *pairs, count = best_here(batch, scores, candidates, d, sides)
    counts = np.stack([count, np.full_like(count, stop)], axis=1)
    best, ids, counts = batch.comm.best(*map(from_host, (*pairs, counts)))
    left, stops = counts.T
    left //= sides
    allowed = schedule.nodes(left, batch.sizes.repeat(batch.copies))
    taken = (np.arange(d) < allowed[:, None]) & np.isfinite(best)
    groups, places = np.nonzero(taken)
    return Selection(groups, ids[groups, places], left, bool(stops.any()))


def _best_of_many(
    batch: GraphBatch, scores: Any, candidates: Any, d: int, sides: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Return (groups, d) scores and ids of this rank's best, and (groups,) candidate counts.

    Scores and candidates have a row for each of this rank's actions.
    """
    to_host = batch.comm.device.to_host
    row, copy = np.nonzero(to_host(candidates))
    value = to_host(scores)[row, copy].astype(np.float32)
    row, side = np.divmod(row, sides)
    group = batch.local(batch.group_of)[row, copy]
    action = batch.local(batch.node_of)[row] * sides + side
    counts = np.bincount(group, minlength=batch.groups)

    finite = np.isfinite(value)
    value, group, action = value[finite], group[finite], action[finite]
    order = np.lexsort((action, -value, group))
    value, group, action = value[order], group[order], action[order]
    place = np.arange(len(group)) - np.searchsorted(group, group)
    first = place < d
    best = np.full((batch.groups, d), -np.inf)
    ids = np.zeros((batch.groups, d), np.int64)
    best[group[first], place[first]] = value[first]
    ids[group[first], place[first]] = action[first]
    return best, ids, counts


def _best_of_one(
    batch: GraphBatch, scores: Any, candidates: Any, d: int, sides: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Do the same for one mask on one graph, whose rows are in the order of their ids.

    On a large graph this is most of what a step costs where the scores are kept up to date: a
    few passes without branches, on the device.
    """
    xp, to_host = batch.comm.device.xp, batch.comm.device.to_host
    values = scores[:, 0].astype(xp.float32)
    usable = candidates[:, 0] & xp.isfinite(values)
    # A mask becomes limits of plus and minus infinity; fmin passes over NaN.
    values = xp.fmin(values, (usable - xp.float32(0.5)) * xp.float32(xp.inf))
    top = _largest(xp, values, d)
    value, (row, side) = to_host(values[top]), np.divmod(to_host(top), sides)
    action = batch.local(batch.node_of)[row] * sides + side
    order = np.argsort(-value, kind="stable")[:d]
    best = np.full((1, d), -np.inf)
    ids = np.zeros((1, d), np.int64)
    best[0, : len(order)], ids[0, : len(order)] = value[order], action[order]
    return best, ids, to_host(xp.count_nonzero(candidates)).reshape(1)


def _largest(xp: Any, values: Any, d: int) -> Any:
    """Return places, in rising order, that hold the d largest values and what ties with them.

    For d = 1, only the first place of the largest value. There may be a few smaller values among
    them, and where there are fewer than d values above minus infinity, all of these are.
    """
    if d == 1:
        return xp.argmax(values)[None] if len(values) else xp.empty(0, xp.int64)
    threshold = xp.float32(-xp.inf)
    pieces = 8 * d
    length = len(values) // pieces
    if length > 1:
        # At least d values reach the d-th largest maximum of a piece, and hardly more do.
        peaks = values[: pieces * length].reshape(pieces, length).max(axis=1)
        threshold = xp.partition(peaks, pieces - d)[pieces - d]
    return xp.flatnonzero((values >= threshold) & (values > -xp.inf))


def _choose(
    batch: GraphBatch,
    problem: Problem,
    solution: PartialSolution,
    groups: NDArray[np.int64],
    actions: NDArray[np.int64],
) -> None:
    graphs, copies = np.divmod(groups, batch.copies)
    problem.choose(solution, chosen_mask(batch, problem, graphs, actions, copies), batch)


def chosen_mask(
    batch: GraphBatch,
    problem: Problem,
    graphs: NDArray[np.int64],
    actions: NDArray[np.int64],
    copies: NDArray[np.int64] | int,
) -> Any:
    """Return the mask that the rules take of actions given by graph, id and copy."""
    if problem.sides == 1:
        return batch.mask(graphs, actions, copies)
    nodes, sides = np.divmod(actions, problem.sides)
    copies = np.broadcast_to(copies, nodes.shape)

    def of_side(side: int) -> Any:
        taken = sides == side
        return batch.mask(graphs[taken], nodes[taken], copies[taken])

    return batch.comm.device.xp.stack([of_side(side) for side in range(problem.sides)], axis=-1)


def _nodes_in_s(actions: NDArray[np.int64], problem: Problem) -> NDArray[np.int64]:
    nodes, sides = np.divmod(actions, problem.sides)
    in_s: NDArray[np.int64] = nodes[sides == problem.sides - 1]
    return in_s


def _without_the_settled(
    batch: GraphBatch, solution: PartialSolution, unsettled: Any
) -> tuple[GraphBatch, PartialSolution]:
    """Drop nodes that are not active, or had no active neighbour and were no candidates.

    They change nothing any more. `unsettled` is the mask of this rank's other rows.

    Done each time that half of the nodes are no candidates, it costs what one step on the whole
    graph does, a few times in a search, and makes a step cost what is left.
    """
    device = batch.comm.device
    involved = batch.comm.allgatherv(unsettled, batch.counts) & solution.active
    keep: NDArray[np.bool_] = np.any(device.to_host(involved), axis=1)
    smaller = PartialSolution(
        *(device.from_host(device.to_host(m)[keep]) for m in (solution.selected, solution.active))
    )
    return batch.restricted(keep), smaller


def _by_group(
    groups: NDArray[np.int64], actions: NDArray[np.int64]
) -> list[tuple[int, NDArray[np.int64]]]:
    """Split (sorted) group numbers and their actions into one array a group."""
    numbers, starts = np.unique(groups, return_index=True)
    return list(zip(numbers.tolist(), np.split(actions, starts[1:]), strict=True))
