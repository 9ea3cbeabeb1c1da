"""Ranks of true targets among other nodes: mean reciprocal rank and hits at k."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.embedding.evaluation.non_edges import draw_targets
from ogg_hpc.embedding.evaluation.scores import Score
from ogg_hpc.graphs.graph import Graph

_SCORES = 1 << 24  # computed at once

Ids = NDArray[np.int64]


class Ranks(NamedTuple):
    """Rank of the true target of each pair, 1 for the best; equal scores share their mean rank.

    Attributes
    ----------
    raw : (k,) float64
        Among all candidates.
    filtered : (k,) float64
        Among the candidates that are no known targets of the source.
    """

    raw: NDArray[np.float64]
    filtered: NDArray[np.float64]


class Pool(NamedTuple):
    """Where candidates for targets come from.

    Attributes
    ----------
    graph : Graph
        Whose degrees count.
    draw : str
        As in `non_edges.DRAWS`.
    size : int
        Candidates of a pair, as many as there are nodes at most, drawn with replacement, the same
        for all pairs of a block; all nodes are where they are drawn uniformly and are no more.
    seed : int
    """

    graph: Graph
    draw: str
    size: int
    seed: int

    @property
    def is_whole(self) -> bool:
        """Whether every node is a candidate, once."""
        return self.draw == "uniform" and self.graph.n <= self.size

    def candidates(self, block: int) -> Ids:
        """Return the sorted candidates of a block of pairs."""
        if self.is_whole:
            return np.arange(self.graph.n)
        count = min(self.size, self.graph.n)
        return np.sort(draw_targets(self.graph, self.draw, count, self.seed, block))


def ranks(score: Score, known: Graph, sources: Ids, targets: Ids, pool: Pool) -> Ranks:
    """Rank the true target of each pair (u, v) among candidates.

    The two nodes of the pair are no candidates.

    Parameters
    ----------
    score
        The score of pairs.
    known
        All arcs there are, for the filtered ranks.
    sources, targets
        (k,) ends of the pairs.
    pool
        The candidates.
    """
    sources, targets = sources.astype(np.int64), targets.astype(np.int64)
    result = Ranks(np.empty(len(sources)), np.empty(len(sources)))
    width = len(pool.candidates(0))
    # Blocks decide who shares candidates, so their size depends on the pool alone.
    block_size = max(1, _SCORES // max(width, score.left.shape[1]))
    whole = score.targets(pool.candidates(0)) if pool.is_whole else None
    for block, start in enumerate(range(0, len(sources), block_size)):
        part = slice(start, start + block_size)
        u, v = sources[part], targets[part]
        candidates = pool.candidates(block)
        rows = score.targets(candidates) if whole is None else whole
        scores = (score.sources(u) @ rows.T).astype(np.float32)
        raw, filtered = result.raw[part], result.filtered[part]
        true = score.of_pairs(u, v)
        _rank(scores, true, candidates, u, v, known.row_offsets, known.columns, raw, filtered)
    return result


@njit(cache=True)
def _rank(
    scores: Any,
    true: Any,
    candidates: Any,
    sources: Any,
    targets: Any,
    offsets: Any,
    columns: Any,
    raw: Any,
    filtered: Any,
) -> None:
    for i in range(len(sources)):
        u, v = sources[i], targets[i]
        at, end = offsets[u], offsets[u + 1]
        all_halves = new_halves = 0  # 2 for a better candidate, 1 for an equal one
        for c in range(len(candidates)):
            node = candidates[c]
            while at < end and columns[at] < node:
                at += 1
            if node in (u, v):
                continue
            halves = 2 * (scores[i, c] > true[i]) + (scores[i, c] == true[i])
            all_halves += halves
            if at == end or columns[at] != node:
                new_halves += halves
        raw[i] = 1 + all_halves / 2
        filtered[i] = 1 + new_halves / 2


def ranking_record(pairs: Sequence[NDArray[np.float64]], hits: Sequence[int]) -> dict[str, Any]:
    """Return mean reciprocal rank and hits at k of edges, with their standard errors.

    Parameters
    ----------
    pairs
        (k,) ranks for each way to take an edge as a pair; an edge counts as their mean.
    hits
        The k of hits at k.
    """
    values = {"mrr": np.mean([1 / each for each in pairs], axis=0)}
    values |= {f"hits@{k}": np.mean([each <= k for each in pairs], axis=0) for k in hits}
    record = {}
    for name, each in values.items():
        record[name] = float(each.mean())
        record[f"{name}_error"] = float(each.std() / np.sqrt(len(each)))
    return record
