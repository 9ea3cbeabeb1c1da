"""Local search after the policy: one start a rank, the best answer of all."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.graph import Graph
from ogg_hpc.problems.problem import Problem
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.random import hash64, stream

_POLISH = stream("polish")


def polish(
    comm: Communicator,
    problem: Problem,
    graph: Graph | None,
    nodes: NDArray[np.int64],
    bound: float,
    seconds: float,
    seed: int,
) -> NDArray[np.int64]:
    """Return the best solution that the ranks find, each from a seed of its own (collective).

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
        What no solution is better than: one that meets it ends the search.
    seconds
        How long each rank may search after its first answer.
    seed
        Of all ranks together.

    Returns
    -------
    (j,) int64
        The same on every rank; of equally good ones, the lowest rank's.
    """
    whole = comm.broadcast_object(graph)
    assert whole is not None
    own_seed = int(hash64(seed, _POLISH, comm.rank))
    sign = -1 if problem.maximize else 1

    def search() -> tuple[float, NDArray[np.int64]]:
        best, value = nodes, problem.objective(whole, nodes)
        if value == bound:
            return sign * value, best
        end = None
        for best in problem.polish(whole, nodes, own_seed):
            value = problem.objective(whole, best)
            if end is None:  # only now is everything compiled
                end = time.perf_counter() + seconds
            if value == bound or time.perf_counter() >= end:
                break
        return sign * value, best

    value, best = comm.on_all(search)
    return comm.broadcast_object(best, int(np.argmin(comm.gather_objects(value))))
