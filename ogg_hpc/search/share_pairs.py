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

    The number and the first pairs go in one message; all of them in two more where some rank has
    more than fit.

    Parameters
    ----------
    comm
        The ranks.
    ids, values
        (k,) each, this rank's pairs.
    """
    if comm.size == 1:
        return ids, values
    message = np.zeros((1, 1 + 2 * _ROOM), np.int64)
    first = min(len(ids), _ROOM)
    message[0, 0] = len(ids)
    message[0, 1 : 1 + first] = ids[:first]
    message[0, 1 + _ROOM : 1 + _ROOM + first] = values[:first]
    everyone = comm.allgatherv(message, np.ones(comm.size, np.int64))
    counts = everyone[:, 0]
    if counts.max() > _ROOM:
        return comm.allgatherv(ids, counts), comm.allgatherv(values, counts)
    there = np.arange(_ROOM) < counts[:, None]
    return everyone[:, 1 : 1 + _ROOM][there], everyone[:, 1 + _ROOM :][there]
