"""Pairs batch by batch, with their negatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.embedding.batch_exchange import gather_batches, send_batches
from ogg_hpc.embedding.model import Model
from ogg_hpc.embedding.row_owners import RowOwners
from ogg_hpc.embedding.traffic import Traffic
from ogg_hpc.embedding.window import Window
from ogg_hpc.runtime.communicator import Communicator


@dataclass(frozen=True, eq=False)
class PairBatches:
    """Pairs of consecutive batches with what they are weighed against.

    Attributes
    ----------
    offsets
        (batches + 1,) int64: the pairs of batch b are ``offsets[b]:offsets[b + 1]``.
    sources, contexts
        (k,) ids.
    negatives
        (k, K) ids, or (batches, S) that a batch shares.
    shared
        Which of the two.
    """

    offsets: NDArray[np.int64]
    sources: NDArray[Any]
    contexts: NDArray[Any]
    negatives: NDArray[Any]
    shared: bool

    def batch(self, number: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return sources, contexts and negatives of a batch; without pairs there are none."""
        pairs = slice(self.offsets[number], self.offsets[number + 1])
        sources = self.sources[pairs]
        if not self.shared:
            negatives = self.negatives[pairs]
        else:
            negatives = self.negatives[number, : None if len(sources) else 0]
        return sources, self.contexts[pairs], negatives


def draw_negatives(model: Model, window: Window) -> PairBatches:
    """Return the pairs of a window with their negatives."""
    sampler, shared = model.negative_sampler, model.shared_negatives > 0
    if shared:
        numbers = range(window.first, window.first + window.batches)
        draws = [sampler.of_batch(window.epoch, b, model.shared_negatives) for b in numbers]
        negatives = np.stack(draws)
    else:
        negatives = sampler.of_pairs(window.epoch, window.items, window.places, model.negative)
    return PairBatches(window.offsets, window.sources, window.contexts, negatives, shared)


def route(
    comm: Communicator, pairs: PairBatches, owners: RowOwners, traffic: Traffic
) -> PairBatches:
    """Bring the pairs of all batches to the owners of their sources, in one message (collective).

    Pairs of a batch are in the order of the ranks they come from.
    """
    rows = _as_rows(pairs)
    ranks, _ = owners.find(pairs.sources)
    here = int(np.count_nonzero(ranks == comm.rank))
    traffic.add("pairs", _row_bytes(rows), len(rows), len(rows) - here)
    rows, _, received = send_batches(comm, rows, pairs.offsets, ranks)
    return _of_rows(rows, np.concatenate([[0], np.cumsum(received.sum(axis=1))]), pairs)


def share(comm: Communicator, pairs: PairBatches, ranks: range, traffic: Traffic) -> PairBatches:
    """Bring the pairs of all batches to all ranks, in one message (collective).

    Parameters
    ----------
    comm
        All ranks.
    pairs
        This rank's pairs.
    ranks
        Who wants them; the others get them, too, which is not counted.
    traffic
        Where they are counted.
    """
    rows = _as_rows(pairs)
    others = len(ranks) - (comm.rank in ranks)
    traffic.add("pairs", _row_bytes(rows), len(ranks) * len(rows), others * len(rows))
    return _of_rows(*gather_batches(comm, rows, pairs.offsets), pairs)


def _as_rows(pairs: PairBatches) -> NDArray[Any]:
    """Return one row for each pair, with its own negatives where it has some."""
    columns = [pairs.sources[:, None], pairs.contexts[:, None]]
    if not pairs.shared:
        columns.append(pairs.negatives)
    return np.concatenate(columns, axis=1)


def _of_rows(rows: NDArray[Any], offsets: NDArray[np.int64], before: PairBatches) -> PairBatches:
    negatives = before.negatives if before.shared else rows[:, 2:]
    return PairBatches(offsets, rows[:, 0], rows[:, 1], negatives, before.shared)


def _row_bytes(rows: NDArray[Any]) -> int:
    return int(rows.itemsize * rows.shape[1])
