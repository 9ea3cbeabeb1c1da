"""Pairs of the nodes that lie near each other in walks, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.embedding.sampling.pairs import Pairs
from ogg_hpc.runtime.random import stream
from ogg_hpc.runtime.random_compiled import absorb, to_integer

_WINDOWS = np.uint64(stream("windows"))


def window_pairs(
    walks: NDArray[Any], keys: NDArray[np.uint64], window: int, reduced: bool
) -> Pairs:
    """Pair each node of a walk, the source, with those at most a window away, the contexts.

    Parameters
    ----------
    walks
        (k, nodes) ids, -1 after the end of a walk.
    keys
        (k,) one random key for each walk.
    window
        Most steps between the nodes of a pair.
    reduced
        Draw the window of each source uniformly from 1 … `window`, as word2vec does.

    Returns
    -------
    Pairs
        Of each walk in the order of its sources, and of each source in that of its contexts.
    """
    counts = np.empty(len(walks), np.int64)
    _count(walks, keys, window, reduced, counts)
    total = int(counts.sum())
    sources, contexts = np.empty(total, walks.dtype), np.empty(total, walks.dtype)
    _fill(walks, keys, window, reduced, sources, contexts)
    return Pairs(sources, contexts, counts)


def expected_pairs(nodes: int, window: int, reduced: bool) -> float:
    """Return the mean number of pairs of a walk that visits so many nodes."""
    distances = np.arange(1, min(window, nodes - 1) + 1)
    share = (window + 1 - distances) / window if reduced else np.ones(len(distances))
    return float(2 * ((nodes - distances) * share).sum())


@njit(cache=True, nogil=True)
def _reach(key: Any, position: Any, window: Any, reduced: Any) -> Any:
    if not reduced:
        return np.int64(window)
    return 1 + to_integer(absorb(absorb(key, _WINDOWS), position), window)


@njit(cache=True, nogil=True)
def _length(nodes: Any) -> Any:
    for i in range(len(nodes)):
        if nodes[i] < 0:
            return i
    return len(nodes)


@njit(cache=True, nogil=True)
def _count(walks: Any, keys: Any, window: Any, reduced: Any, counts: Any) -> None:
    for i in range(len(walks)):
        length, count = _length(walks[i]), 0
        for centre in range(length):
            reach = _reach(keys[i], centre, window, reduced)
            count += min(reach, centre) + min(reach, length - 1 - centre)
        counts[i] = count


@njit(cache=True, nogil=True)
def _fill(walks: Any, keys: Any, window: Any, reduced: Any, sources: Any, contexts: Any) -> None:
    pair = 0
    for i in range(len(walks)):
        nodes, length = walks[i], _length(walks[i])
        for centre in range(length):
            reach = _reach(keys[i], centre, window, reduced)
            for other in range(max(0, centre - reach), min(length, centre + reach + 1)):
                if other != centre:
                    sources[pair] = nodes[centre]
                    contexts[pair] = nodes[other]
                    pair += 1
