"""Where walks start: rounds that visit each node once, each in a random order of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.runtime.random_compiled import absorb, stream_state


def starts(n: int, seed: int, epoch: int, items: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the (k,) nodes at which walks start; items 0 … n - 1 are all nodes once, and so on.

    The order is found for each item by itself, so that no rank holds a permutation of all nodes:
    a Feistel network permutes numbers of an even number of bits, and is applied again where it
    leaves the range (Black and Rogaway, CT-RSA 2002).
    """
    nodes = np.empty(len(items), np.int64)
    _permute(n, stream_state(seed, "embedding starts"), epoch, items, nodes)
    return nodes


@njit(cache=True, nogil=True)
def _permute(n: Any, seed: Any, epoch: Any, items: Any, nodes: Any) -> None:
    half = 1
    while (np.int64(1) << (2 * half)) < n:
        half += 1
    mask = (np.uint64(1) << np.uint64(half)) - np.uint64(1)
    of_epoch = absorb(seed, epoch)
    for i in range(len(items)):
        key = absorb(of_epoch, items[i] // n)
        node = np.uint64(items[i] % n)
        while True:
            left, right = node >> np.uint64(half), node & mask
            for turn in range(4):
                mixed = absorb(absorb(key, turn), right) & mask
                left, right = right, left ^ mixed
            node = (left << np.uint64(half)) | right
            if node < np.uint64(n):
                break
        nodes[i] = node
