"""Pairs of a node and a value from every rank: mostly one message of fixed length."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.runtime.communicator import Communicator

# Pairs that a rank's message of fixed length has room for.
_ROOM = 32


def share_pairs(
    comm: Communicator, ids: NDArray[np.int64], values: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs of all ranks, in rank order (collective).

    Parameters
    ----------
    comm
        The ranks.
    ids, values
        (k,) each, this rank's pairs.
    """
    if comm.size == 1:
        return ids, values
    return share_pairs_and_row(comm, ids, values, np.empty(0, np.int64))[:2]


def share_pairs_and_row(
    comm: Communicator,
    ids: NDArray[np.int64],
    values: NDArray[np.int64],
    row: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs of all ranks and a row of each, in rank order (collective).

    The row, the number and the first pairs go in one message; all pairs in two more where some
    rank has more than fit.

    Parameters
    ----------
    comm
        The ranks.
    ids, values
        (k,) each, this rank's pairs.
    row
        (m,) numbers more, as many on every rank.

    Returns
    -------
    ids, values
        The pairs.
    rows
        (P, m) the rows.
    """
    first, place = min(len(ids), _ROOM), 1 + len(row)
    message = np.zeros((1, place + 2 * _ROOM), np.int64)
    message[0, :place] = len(ids), *row
    message[0, place : place + first] = ids[:first]
    message[0, place + _ROOM : place + _ROOM + first] = values[:first]
    everyone = comm.allgatherv(message, np.ones(comm.size, np.int64))
    counts, rows = everyone[:, 0], everyone[:, 1:place]
    if counts.max() > _ROOM:
        return comm.allgatherv(ids, counts), comm.allgatherv(values, counts), rows
    there = np.arange(_ROOM) < counts[:, None]
    pairs = everyone[:, place:]
    return pairs[:, :_ROOM][there], pairs[:, _ROOM:][there], rows
