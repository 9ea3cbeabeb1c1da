"""Items of all batches of a window, brought to other ranks in one message."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.embedding.counting_sort import order_of
from ogg_hpc.runtime.communicator import Communicator

Counts = NDArray[np.int64]


def send_batches(
    comm: Communicator, items: NDArray[Any], offsets: Counts, ranks: NDArray[np.int32]
) -> tuple[NDArray[Any], Counts, Counts]:
    """Send each item to a rank, where it stays in its batch (collective).

    Parameters
    ----------
    comm
        All ranks.
    items
        (k, ...) items in the order of their batches.
    offsets
        (batches + 1,) the items of batch b are ``offsets[b]:offsets[b + 1]``.
    ranks
        (k,) receiver of each item.

    Returns
    -------
    items
        Those that have come, in the order of batches and in each of the ranks that sent them, who
        keep their own order.
    sent, received
        (batches, ranks) how many items of each batch went to each rank, and came from each.
    """
    batches = len(offsets) - 1
    of_batches = np.repeat(np.arange(batches), np.diff(offsets))
    cells = np.bincount(ranks * batches + of_batches, minlength=comm.size * batches)
    sent = cells.reshape(comm.size, batches)
    received, _ = comm.alltoallv(sent, [1] * comm.size)
    items = items.take(order_of(ranks, comm.size), axis=0)
    items, _ = comm.alltoallv(items, sent.sum(axis=1), received.sum(axis=1))
    return _by_batch(items, received), sent.T, received.T


def gather_batches(
    comm: Communicator, items: NDArray[Any], offsets: Counts
) -> tuple[NDArray[Any], Counts]:
    """Bring the items of all ranks to all ranks, where they stay in their batches (collective).

    Parameters
    ----------
    comm
        All ranks.
    items
        (k, ...) this rank's items in the order of their batches.
    offsets
        (batches + 1,) the items of batch b are ``offsets[b]:offsets[b + 1]``.

    Returns
    -------
    items, offsets
        Those of all ranks in the order of batches, and in each of ranks.
    """
    counts = comm.allgatherv(np.diff(offsets)[None], [1] * comm.size)
    items = _by_batch(comm.allgatherv(items, counts.sum(axis=1)), counts)
    return items, np.concatenate([[0], np.cumsum(counts.sum(axis=0))])


def _by_batch(items: NDArray[Any], counts: Counts) -> NDArray[Any]:
    """Sort items from the order of (ranks, batches), with these counts, to that of batches."""
    ranks, batches = counts.shape
    of_batches = np.repeat(np.tile(np.arange(batches), ranks), counts.ravel())
    return items.take(order_of(of_batches, batches), axis=0)
