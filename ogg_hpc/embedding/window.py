"""Consecutive batches of an epoch that are sampled and trained together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.embedding.sampling.pairs import Pairs


@dataclass(frozen=True, eq=False)
class Share:
    """The items of a window that one worker samples: an even part of each batch.

    Attributes
    ----------
    first
        Number of the window's first batch in its epoch.
    items
        (i,) items in the order of the batches.
    counts
        (batches,) how many of them belong to each batch.
    """

    first: int
    items: NDArray[np.int64]
    counts: NDArray[np.int64]


def share_of(
    worker: int | None, workers: int, first: int, batches: int, batch_items: int, items: int
) -> Share:
    """Return a worker's share of the items of a window.

    Parameters
    ----------
    worker
        Number of the worker; None has no share.
    workers
        Number of workers.
    first, batches
        Number of the first batch in its epoch, and how many batches there are.
    batch_items
        Items of each batch but the last of an epoch.
    items
        Items of the epoch.
    """
    numbers = np.arange(first, first + batches, dtype=np.int64)
    starts = np.minimum(numbers * batch_items, items)
    sizes = np.minimum(starts + batch_items, items) - starts
    if worker is None:
        return Share(first, np.empty(0, np.int64), np.zeros(batches, np.int64))
    lo = sizes * worker // workers
    counts = sizes * (worker + 1) // workers - lo
    return Share(first, _ranges(starts + lo, counts), counts)


@dataclass(frozen=True, eq=False)
class Window:
    """The pairs of consecutive batches that this rank holds.

    Where windows begin must not depend on the number of ranks: with a staleness of 1 the first
    batch of each sees all updates.

    Attributes
    ----------
    epoch
        Number of the epoch.
    first
        Number of the first batch in its epoch.
    learning_rates
        (batches,) float64, the same on all ranks.
    offsets
        (batches + 1,) int64: the pairs of batch b are ``offsets[b]:offsets[b + 1]``.
    sources, contexts
        (k,) ids of this rank's pairs in the order of the batches.
    sampled, counts
        (i,) int64: the items that they come from, and how many pairs come from each.
    """

    epoch: int
    first: int
    learning_rates: NDArray[np.float64]
    offsets: NDArray[np.int64]
    sources: NDArray[Any]
    contexts: NDArray[Any]
    sampled: NDArray[np.int64]
    counts: NDArray[np.int64]

    @property
    def batches(self) -> int:
        """Number of batches."""
        return len(self.learning_rates)

    # They take more memory than the pairs, which seldom need them.

    @property
    def items(self) -> NDArray[np.int64]:
        """(k,) the item that each pair comes from; with its place a key of the pair."""
        return np.repeat(self.sampled, self.counts)

    @property
    def places(self) -> NDArray[np.int64]:
        """(k,) the place of each pair among those of its item."""
        return _ranges(np.zeros_like(self.counts), self.counts)


def make_window(
    epoch: int, share: Share, pairs: Pairs, learning_rates: NDArray[np.float64]
) -> Window:
    """Return the window of the pairs that were sampled from a share of items.

    Parameters
    ----------
    epoch
        Number of the epoch.
    share
        What was sampled, as of `share_of`.
    pairs
        Pairs of the share's items, in their order.
    learning_rates
        (batches,) learning rate of each batch.
    """
    ends = np.concatenate([[0], np.cumsum(pairs.counts)])
    return Window(
        epoch,
        share.first,
        learning_rates,
        ends[np.concatenate([[0], np.cumsum(share.counts)])],
        pairs.sources,
        pairs.contexts,
        share.items,
        pairs.counts,
    )


def _ranges(starts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the concatenation of ``arange(start, start + count)``."""
    ends = np.cumsum(counts)
    numbers = np.arange(counts.sum(), dtype=np.int64)
    numbers += np.repeat(starts - (ends - counts), counts)
    return numbers
