"""Reconstruction: the edges that were trained on are sought among all pairs by their scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.embedding.evaluation.scores import Score
from ogg_hpc.errors import SettingsError
from ogg_hpc.graphs.graph import Graph
from ogg_hpc.runtime.random import permutation, stream

#: Pairs that are scored unless another number of nodes is asked for.
PAIRS = 200_000_000
_SCORES = 1 << 24  # computed at once
_COLUMNS = 1 << 14


def evaluate_reconstruction(
    scores: list[Score], graph: Graph, at: Sequence[int], *, nodes: int = 0, seed: int = 0
) -> dict[str, Any]:
    """Compare the pairs of highest scores with the edges of a graph, by each of some scores.

    All pairs (u, v) of a chosen node u and any other node v are scored. Precision at k is the part
    of edges among the k pairs of highest score, of equal ones their average. The mean average
    precision is over the chosen nodes that have edges; equal scores share a rank.

    Parameters
    ----------
    scores
        From `scores_of`.
    graph
        The graph whose edges are sought, with its nodes numbered as the rows.
    at
        The k.
    nodes
        How many nodes are chosen at random; 0 for as many as make `PAIRS` pairs.
    seed
        Of the choice.

    Raises
    ------
    SettingsError
        A k that is not positive or larger than the number of pairs, a graph without edges, or a
        number of nodes that is negative or more than there are.
    """
    n = graph.n
    if not graph.m:
        raise SettingsError("the graph has no edges to reconstruct")
    if not 0 <= nodes <= n:
        raise SettingsError(f"{nodes} nodes are asked for, the graph has {n}")
    count = nodes or min(n, max(1, PAIRS // n))
    chosen = np.sort(permutation(n, seed, stream("reconstructed nodes"))[:count])
    pairs, edges = count * (n - 1), int(graph.degrees[chosen].sum())
    for k in at:
        if not 0 < k <= pairs:
            raise SettingsError(f"precision at {k} is asked for, of {pairs} pairs; see --at")
    which = "all nodes u" if count == n else f"{count} of {n} nodes u drawn at random"
    return {
        "nodes": n,
        "directed": graph.directed,
        "edges": graph.m,
        "protocol": f"ordered pairs (u, v) of {which} and all other nodes v",
        "pairs": pairs,
        "pairs_that_are_edges": edges,
        "precision_by_chance": edges / pairs,
        "scores": {
            score.name: {
                "map": _mean_average_precision(score, graph, chosen),
                **_precisions(score, graph, chosen, at),
            }
            for score in scores
        },
    }


def _blocks(score: Score, n: int, chosen: NDArray[np.int64]) -> Iterator[tuple[Any, Any]]:
    """Yield blocks of nodes with their (b, n) scores; that of a node with itself is -inf."""
    size = max(1, _SCORES // n)
    for start in range(0, len(chosen), size):
        nodes = chosen[start : start + size]
        rows = score.sources(nodes)
        block = np.empty((len(nodes), n), np.float32)
        for left in range(0, n, _COLUMNS):
            columns = np.arange(left, min(n, left + _COLUMNS))
            block[:, columns] = rows @ score.targets(columns).T
        block[np.arange(len(nodes)), nodes] = -np.inf
        yield nodes, block


def _mean_average_precision(score: Score, graph: Graph, chosen: NDArray[np.int64]) -> float:
    total, count = 0.0, int(np.count_nonzero(graph.degrees[chosen]))
    for nodes, block in _blocks(score, graph.n, chosen):
        total += _average_precisions(block, nodes, graph.row_offsets, graph.columns)
    return total / count if count else float("nan")


def _precisions(
    score: Score, graph: Graph, chosen: NDArray[np.int64], at: Sequence[int]
) -> dict[str, float]:
    """Return precision at each k: find the k-th highest scores, then count edges from there up."""
    most = max(at)
    top = np.empty(0, np.float32)
    for nodes, block in _blocks(score, graph.n, chosen):
        own = block[np.arange(graph.n) != nodes[:, np.newaxis]]
        if len(top) == most:
            own = own[own > top.min()]
        top = np.concatenate([top, own])
        if len(top) > most:
            top = np.partition(top, len(top) - most)[len(top) - most :]
    top = np.sort(top)[::-1]
    limits = np.array([top[k - 1] for k in at])
    above, equal, edges_above, edges_equal = (np.zeros(len(at), np.int64) for _ in range(4))
    for nodes, block in _blocks(score, graph.n, chosen):
        edge_scores = _scores_of_edges(block, nodes, graph.row_offsets, graph.columns)
        for i, limit in enumerate(limits):
            above[i] += np.count_nonzero(block > limit)
            equal[i] += np.count_nonzero(block == limit)
            edges_above[i] += np.count_nonzero(edge_scores > limit)
            edges_equal[i] += np.count_nonzero(edge_scores == limit)
    hits = edges_above + (np.array(at) - above) * edges_equal / equal
    return {f"precision@{k}": float(hit / k) for k, hit in zip(at, hits, strict=True)}


def _scores_of_edges(
    block: NDArray[np.float32],
    nodes: NDArray[np.int64],
    offsets: NDArray[np.int64],
    columns: NDArray[Any],
) -> NDArray[np.float32]:
    return np.concatenate(
        [
            row[columns[offsets[node] : offsets[node + 1]]]
            for node, row in zip(nodes, block, strict=True)
        ]
    )


@njit(cache=True)
def _average_precisions(block: Any, nodes: Any, offsets: Any, columns: Any) -> Any:
    """Return the sum of the average precisions of nodes that have edges."""
    total = 0.0
    for i in range(len(nodes)):
        true = np.sort(block[i][columns[offsets[nodes[i]] : offsets[nodes[i] + 1]]])
        degree = len(true)
        if degree == 0:
            continue
        # Other nodes by how many edges score no higher; of equal edges the last counts them all.
        between = np.zeros(degree + 1, np.int64)
        for node in range(block.shape[1]):
            if node != nodes[i]:
                between[np.searchsorted(true, block[i, node], side="right")] += 1
        others, precision = 0, 0.0
        for j in range(degree - 1, -1, -1):
            others += between[j + 1]
            first = np.searchsorted(true, true[j], side="left")
            precision += (degree - first) / others
        total += precision / degree
    return total
