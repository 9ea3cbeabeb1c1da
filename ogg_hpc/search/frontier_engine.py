"""Scores that cost what a step changes: structure2vec with any number of layers.

Choosing a node changes embeddings within L hops alone. The engine keeps what the layers are made
of, and moves only what changed through them, the *frontier*: where a mask or a residual degree
changed, embeddings are computed anew, their differences are pushed onto the sums of the
neighbours, which gives the rows whose next embedding changes, and so on. Ranks exchange the
changed rows, nothing else.

Where the frontier has come to touch so much that pushing costs more than the product of the
whole block, the product is taken instead, in this layer and those above it. That is decided
layer by layer, so that what was pushed before is never in vain, and by all ranks alike.
"""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np
import torch
from numpy.typing import NDArray

from ogg_hpc.graphs.batch import GraphBatch
from ogg_hpc.policies.policy import Policy
from ogg_hpc.policies.products import neighbour_sum
from ogg_hpc.policies.scorer import PolicyScorer
from ogg_hpc.policies.structure2vec import Structure2Vec
from ogg_hpc.problems.problem import PartialSolution
from ogg_hpc.search.frontier_kernels import push
from ogg_hpc.search.policy_search import Scorer

# What pushing along an entry costs, rows computed anew included, in units of what a product
# takes for an entry. Whole episodes take the same time from 1 to 3 (benchmarks/frontier.py).
PUSH_COST = 2.0
# Where a rank has fewer numbers than this in a layer (nodes * copies * width / ranks), calls and
# messages are what a step costs, and a push takes more of them: the reference scores then.
SMALLEST_PRODUCT = 2**13
# Pushed sums drift from the true ones by rounding; after so many steps all are computed anew.
REFRESH_STEPS = 1000
# Share of a row's largest sum that thousands of pushes cannot drift by, and no score can feel.
NEGLIGIBLE = 1e-12

# All pairs of a rank, where a layer is computed whole.
_ALL = slice(None)


def can_follow(policy: Policy) -> TypeGuard[Structure2Vec]:
    """Return whether the frontier engine can score by a policy."""
    # A class of the user's own need not work row by row, nor have embeddings that are never
    # negative, whichever method it has of its own.
    return type(policy) is Structure2Vec


class FrontierScorer:
    """Scores by the `preferences` of structure2vec, kept up to date from step to step.

    Parameters
    ----------
    policy
        The network, on the device; `can_follow` holds, and its parameters do not change.
    """

    def __init__(self, policy: Structure2Vec) -> None:
        self._policy = policy
        self._batch: GraphBatch | None = None
        self._reference = PolicyScorer(policy)
        self._scorer: Scorer = self._reference
        self.residual = policy.residual

    def __call__(self, batch: GraphBatch, solution: PartialSolution) -> tuple[Any, Any]:
        """Return (rows, copies) residual degrees and scores of this rank's rows (collective)."""
        if batch is not self._batch:
            self._batch = batch
            self._scorer = self._reference  # the memory of a follower is free before the next
            numbers = batch.nodes * batch.copies * self._policy.settings.width
            if numbers >= SMALLEST_PRODUCT * batch.comm.size:
                self._scorer = _Follower(self._policy, batch)
        return self._scorer(batch, solution)


class _Follower:
    """What the scores of one batch are made of, for the masks last seen.

    Arrays are flat over this rank's pairs, row * copies + copy, unless said otherwise.

    Attributes
    ----------
    active, selected : (nodes, copies) bool
        The masks, of all ranks.
    degrees, scores : (rows, copies) float64
        Residual degrees, exact, and scores.
    unit : (pairs, 1) float64
        Factors of sums over neighbours; zero where there are no neighbours, so that what rounding
        has left of such a sum does not count.
    fixed : (pairs, K) float64
        The part of equation (1) that all layers share.
    embeddings, sums : lists of L - 1 (pairs, K) float64
        Each layer's embeddings, zero outside the residual graph, and the sums of the neighbours'.
        Sums outside the residual graph are not kept up to date: nothing reads them.
    negligible : list of L - 1 (pairs, 1) float64
        Sums below are rounding errors of the largest since the last product, and count as 0.
    """

    def __init__(self, policy: Structure2Vec, batch: GraphBatch) -> None:
        device = batch.comm.device
        self.residual = policy.residual
        self._policy, self._batch = policy, batch
        self._xp, self._tensor, self._array = device.xp, device.tensor, device.array
        self._entries = int(batch.comm.allreduce(np.array([batch.entries]))[0])
        self._units = policy.units(batch).repeat(batch.copies)[:, None]
        self._pairs = len(self._units)
        self._own = slice(batch.lo * batch.copies, batch.hi * batch.copies)
        self._everyone = self._xp.ones(self._pairs, bool)
        self._steps = 0
        products = policy.settings.layers - 1
        self.embeddings: list[Any] = [None] * products
        self.sums: list[Any] = [None] * products
        self.negligible: list[Any] = [None] * products

    def __call__(self, batch: GraphBatch, solution: PartialSolution) -> tuple[Any, Any]:
        """Return (rows, copies) residual degrees and scores of this rank's rows (collective)."""
        with torch.no_grad():
            if self._must_start_anew(solution):
                changed = self._start(solution)
            else:
                changed = self._follow(solution)
            self._fix(self._or_all(changed))
            pairs = changed
            for layer in range(len(self.sums)):
                pairs = self._advance(layer, pairs, changed)
            pairs = self._or_all(pairs)
            embedding = self._embedding(len(self.sums), pairs)
            self.scores.reshape(-1)[pairs] = self._array(self._policy.preference(embedding))
        self._steps += 1
        return self.degrees, self.scores

    def _must_start_anew(self, solution: PartialSolution) -> bool:
        # Sums outside the residual graph are out of date: no node may come back into it.
        refresh = self._steps % REFRESH_STEPS == 0
        return refresh or bool((solution.active & ~self.active).any())

    def _start(self, solution: PartialSolution) -> Any:
        """Take over the masks; everything is to be computed."""
        self.active, self.selected = solution.active.copy(), solution.selected.copy()
        self.degrees = self._batch.degrees(self.active)
        self.scores = self._xp.empty_like(self.degrees)
        return _ALL

    def _follow(self, solution: PartialSolution) -> Any:
        """Take over the masks; return the pairs where they or the residual degrees changed."""
        xp = self._xp
        left = (self.active != solution.active).reshape(-1)
        changed = left | (self.selected != solution.selected).reshape(-1)
        self.active, self.selected = solution.active.copy(), solution.selected.copy()
        leaving = xp.flatnonzero(left)
        lost = xp.full((len(leaving), 1), -1.0)
        touched = xp.zeros(self._pairs, bool)
        self._push(leaving, lost, self._everyone, self.degrees.reshape(-1, 1), touched)
        return xp.flatnonzero(touched & self._inside | changed[self._own])

    @property
    def _inside(self) -> Any:
        """(pairs,) own part of the residual graph."""
        return self.active.reshape(-1)[self._own]

    def _fix(self, changed: Any) -> None:
        """Bring up to date what an embedding takes from the masks and the degrees."""
        xp, batch = self._xp, self._batch
        degrees, inside = self.degrees.reshape(-1)[changed], self._inside[changed]
        unit = self._units[changed] * (inside & (degrees > 0))[:, None]
        if changed is _ALL:
            sums = batch.edge_sums(self.active, self.degrees)
        else:
            row, copy = xp.divmod(changed, batch.copies)
            sums = batch.edge_sums_at(row, copy, self.active, self.degrees)
        edge_sums = xp.stack([part.reshape(-1) for part in sums], axis=1) * unit
        x = self.selected.reshape(-1)[self._own][changed].astype(np.float64)[:, None]
        fixed = self._array(self._policy.fixed_part(self._tensor(edge_sums), self._tensor(x)))
        if changed is _ALL:
            self.unit, self.fixed = unit, fixed
        else:
            self.unit[changed], self.fixed[changed] = unit, fixed

    def _embedding(self, layer: int, pairs: Any) -> torch.Tensor:
        """Compute (k, K) embeddings of a layer, the first being 0."""
        fixed = self._tensor(self.fixed[pairs])
        if layer == 0:
            return self._policy.layer(fixed)
        sums = self.sums[layer - 1][pairs] * self.unit[pairs]
        return self._policy.layer(fixed, self._tensor(sums))

    def _advance(self, layer: int, pairs: Any, changed: Any) -> Any:
        """Bring the sums over a layer up to date; return pairs whose next embedding changes.

        Parameters
        ----------
        layer
            Which.
        pairs
            Own pairs whose embedding in it may have changed.
        changed
            Those whose masks or degrees changed: all their embeddings do.
        """
        counts = self._push_counts(pairs)
        if counts is None:
            self._multiply(layer, self._or_all(pairs))
            return _ALL
        xp = self._xp
        kept = self.embeddings[layer]
        embedding = self._array(self._embedding(layer, pairs)) * self._inside[pairs, None]
        deltas = embedding - kept[pairs]
        kept[pairs] = embedding
        touched = xp.zeros(self._pairs, bool)
        touched[changed] = True
        sums = self.sums[layer]
        self._push(*self._exchange(pairs, deltas, counts), self._inside, sums, touched)
        pairs = xp.flatnonzero(touched)
        # What rounding has left of zero must not count: where all scores are 0, it would decide.
        found, negligible = sums[pairs], self.negligible[layer]
        negligible[pairs] = xp.maximum(negligible[pairs], _rounding(found))
        sums[pairs] = xp.where(found < negligible[pairs], 0.0, found)
        return pairs

    def _multiply(self, layer: int, pairs: Any) -> None:
        """Bring a layer's embeddings up to date and sum them over all neighbours (collective)."""
        embedding = self._array(self._embedding(layer, pairs)) * self._inside[pairs, None]
        if pairs is _ALL:
            self.embeddings[layer] = embedding
        else:
            self.embeddings[layer][pairs] = embedding
        width = embedding.shape[1]
        rows = self._tensor(self.embeddings[layer].reshape(-1, self._batch.copies, width))
        sums = self._array(neighbour_sum(self._batch, rows)).reshape(-1, width)
        self.sums[layer] = sums
        self.negligible[layer] = _rounding(sums)

    def _push_counts(self, pairs: Any) -> NDArray[np.int64] | None:
        """Return how many pairs each rank pushes; None if a product costs less (collective)."""
        if pairs is _ALL:  # on all ranks alike
            return None
        comm = self._batch.comm
        work = np.array([[len(pairs), float(self.degrees.reshape(-1)[pairs].sum())]])
        counts, entries = comm.allgatherv(work, [1] * comm.size).T
        pays = PUSH_COST * entries.sum() < self._entries * self._batch.copies
        return counts.astype(np.int64) if pays else None

    def _or_all(self, pairs: Any) -> Any:
        """Return all pairs in place of most of them: no rows need to be copied then."""
        return _ALL if pairs is _ALL or 2 * len(pairs) > self._pairs else pairs

    def _exchange(self, pairs: Any, deltas: Any, counts: Any) -> tuple[Any, Any]:
        """Return all ranks' changed pairs, by position, and their changes (collective)."""
        xp, comm = self._xp, self._batch.comm
        pairs = pairs + self._own.start
        if comm.size > 1:
            # One message: positions are exact in float64.
            message = xp.concatenate([pairs[:, None].astype(np.float64), deltas], axis=1)
            everyone = comm.allgatherv(message, counts)
            pairs, deltas = everyone[:, 0].astype(np.int64), everyone[:, 1:]
        changed = xp.flatnonzero((deltas != 0).any(axis=1))
        return pairs[changed], deltas[changed]

    def _push(self, pairs: Any, deltas: Any, listening: Any, sums: Any, touched: Any) -> None:
        batch = self._batch
        parts = (*batch.by_column, batch.copies, pairs, deltas, listening, sums, touched)
        push(batch.comm.device, *parts)


def _rounding(sums: Any) -> Any:
    """Return (k, 1) what rounding may leave of (k, K) sums, none of which is below 0."""
    return NEGLIGIBLE * sums.max(axis=1, keepdims=True)
