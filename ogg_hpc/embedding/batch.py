"""The pairs of a batch, and their negatives, as slots into gathered rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.embedding.distinct import distinct
from ogg_hpc.runtime.device import Device


@dataclass(frozen=True, eq=False)
class CompactBatch:
    """Who meets whom in a batch, in slots of two small matrices instead of ids of all nodes.

    X holds the rows of the distinct sources, Y those of the distinct contexts and negatives; in a
    `tied` batch both are the same matrix.

    Attributes
    ----------
    sources, contexts : (k,) int32
        Row of X, and row of Y, of each pair.
    negatives : (k, K) or (S,) int32
        Rows of Y: K negatives of each pair, or S that all pairs share.
    negative_weight : float
        What the term of one negative counts in the loss of a pair: 1, or K / S where shared.
    tied : bool
        Whether Y is X.
    """

    sources: NDArray[np.int32]
    contexts: NDArray[np.int32]
    negatives: NDArray[np.int32]
    negative_weight: float = 1.0
    tied: bool = False

    @property
    def shared(self) -> bool:
        """Whether all pairs have the same negatives."""
        return self.negatives.ndim == 1

    def moved(self, device: Device) -> CompactBatch:
        """Return the batch with its arrays on a device."""
        names = ("sources", "contexts", "negatives")
        return replace(self, **{name: device.from_host(getattr(self, name)) for name in names})


def compact(
    sources: NDArray[Any],
    contexts: NDArray[Any],
    negatives: NDArray[Any],
    negative: int,
    tied: bool = False,
) -> tuple[NDArray[Any], NDArray[Any], CompactBatch]:
    """Return the ids whose rows a batch needs, and the batch in slots of these rows.

    Parameters
    ----------
    sources, contexts : (k,) int32 or int64
        The pairs' nodes.
    negatives : (k, K) or (S,) int32 or int64
        Negatives of each pair, or of all.
    negative : int
        K, how many negatives a pair is weighed against.
    tied
        Whether contexts have the vectors of sources.

    Returns
    -------
    source_ids : (m_s,)
        Distinct sources: the rows of X. In a tied batch all distinct ids.
    context_ids : (m_c,)
        Distinct contexts and negatives: the rows of Y. In a tied batch the same array.
    batch
        The slots.
    """
    weight = negative / max(len(negatives), 1) if negatives.ndim == 1 else 1.0
    others = [contexts, negatives.ravel()]
    if tied:
        ids, slots = distinct(np.concatenate([sources, *others]))
        own, slots = slots[: len(sources)], slots[len(sources) :]
        source_ids = context_ids = ids
    else:
        source_ids, own = distinct(sources)
        context_ids, slots = distinct(np.concatenate(others))
    of_pairs, of_negatives = slots[: len(contexts)], slots[len(contexts) :]
    of_negatives = of_negatives.reshape(negatives.shape)
    return source_ids, context_ids, CompactBatch(own, of_pairs, of_negatives, weight, tied)
