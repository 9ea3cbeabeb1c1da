"""Local search after the policy: one start a rank, the best answer of all."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.problem import Problem
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.progress import progress_bar
from ogg_hpc.runtime.random import hash64, stream
from ogg_hpc.runtime.stop import Stop, never

_POLISH = stream("polish")
# Seconds between two words of the ranks to one another.
_ROUND = 0.25


def polish(
    comm: Communicator,
    problem: Problem,
    graph: Graph | None,
    nodes: NDArray[np.int64],
    bound: float,
    seconds: float,
    seed: int,
    stop: Stop = never,
) -> NDArray[np.int64]:
    """Return the best solution that the ranks find, each from a seed of its own (collective).

    It ends when the time is up, when a rank is asked to stop or has met the bound, or when no
    rank's search goes on.

    Parameters
    ----------
    comm
        The ranks; each holds the whole graph meanwhile.
    problem
        Its `Problem.polish` is the search.
    graph
        Rank 0's counts.
    nodes
        (k,) ids of a feasible solution, the same on every rank.
    bound
        What no solution is better than.
    seconds
        How long to search after each rank's first answer.
    seed
        Of all ranks together.
    stop
        Whether this rank is asked to stop; looked at a few times a second.

    Returns
    -------
    (j,) int64
        The same on every rank; of equally good ones, the lowest rank's.
    """
    whole = comm.broadcast_object(graph)
    assert whole is not None
    answers = problem.polish(whole, nodes, int(hash64(seed, _POLISH, comm.rank)))
    best, ended = nodes, False
    until, end = -math.inf, math.inf
    with progress_bar(comm, "polishing", math.ceil(seconds)) as show:
        while True:
            value = problem.objective(whole, best)
            over = value == bound or stop() or time.perf_counter() >= end
            over_anywhere, going_on = comm.allreduce(np.array([over, not ended], np.int64), "max")
            if over_anywhere or not going_on:
                break
            search = partial(_search, answers, problem, whole, best, bound, until)
            with comm.trace.span("round"):
                best, ended = comm.on_all(search)
            if end == math.inf:  # the round of one answer: only now is everything compiled
                end = time.perf_counter() + seconds
            until = min(time.perf_counter() + _ROUND, end)
            show(int(seconds - end + until), f"objective {value:g} on rank 0")
    sign = -1 if problem.maximize else 1
    return comm.broadcast_object(best, int(np.argmin(comm.gather_objects(sign * value))))


def _search(
    answers: Iterator[NDArray[np.int64]],
    problem: Problem,
    graph: Graph,
    best: NDArray[np.int64],
    bound: float,
    until: float,
) -> tuple[NDArray[np.int64], bool]:
    """Search on until a time or to the bound; return the best so far, and whether it ended."""
    for best in answers:
        if time.perf_counter() >= until or problem.objective(graph, best) == bound:
            return best, False
    return best, True
