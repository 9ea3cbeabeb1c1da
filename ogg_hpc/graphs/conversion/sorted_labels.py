"""Sorted distinct labels, integers or names, and how ranks exchange them."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.names import Names
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.random import hash64

Labels: TypeAlias = NDArray[np.int64] | Names


def search(labels: Labels, queries: Labels) -> NDArray[np.int64]:
    """Return how many labels come before each of (k,) sorted queries."""
    if isinstance(labels, Names):
        assert isinstance(queries, Names)
        return labels.search(queries)
    assert not isinstance(queries, Names)
    return np.searchsorted(labels, queries)


def union(a: Labels, b: Labels) -> Labels:
    """Return the sorted distinct labels of two parts that are so, too."""
    if isinstance(a, Names):
        assert isinstance(b, Names)
        return a.union(b)
    assert not isinstance(b, Names)
    return np.union1d(a, b)


def hashes(labels: Labels) -> NDArray[np.uint64]:
    """Return an (n,) hash of each label."""
    return labels.hashes() if isinstance(labels, Names) else hash64(0, labels)


def exchange(
    comm: Communicator, labels: Labels, counts: NDArray[np.int64]
) -> tuple[list[Labels], NDArray[np.int64]]:
    """Send labels to each rank and receive some from each (collective).

    Parameters
    ----------
    labels
        In the order of their receivers.
    counts
        (P,) number of labels for each rank.

    Returns
    -------
    parts, received
        The labels from each rank, in rank order, and how many they are.
    """
    received_labels: Labels
    if isinstance(labels, Names):
        lengths, received = comm.alltoallv(labels.lengths, counts)
        ends = labels.offsets[np.cumsum(counts)]
        letters, _ = comm.alltoallv(labels.bytes, np.diff(ends, prepend=0))
        received_labels = Names.from_lengths(letters, lengths)
    else:
        received_labels, received = comm.alltoallv(labels, counts)
    ends = np.cumsum(received).tolist()
    starts = [0, *ends[:-1]]
    return [received_labels[a:b] for a, b in zip(starts, ends, strict=True)], received
