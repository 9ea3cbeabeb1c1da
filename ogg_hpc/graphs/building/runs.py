"""Sorted runs: the first step of an external sort. Each block of edges becomes one run.

A run keeps every 1024th of its keys apart. From those of all runs follow the bounds of key ranges
that hold about equal numbers of keys, and within a run they tell where a range lies.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.graphs.building.edges import EdgeBlocks, Edges
from ogg_hpc.graphs.building.keys import Keys, keys_of, sort_distinct
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.parts import Parts

_STEP = 1024


def run_name(block: int) -> str:
    """Return the name of the part that holds the run of a block."""
    return f"run-{block:06}"


def sort_blocks(
    comm: Communicator,
    n: int,
    blocks: EdgeBlocks,
    parts: Parts,
    weighted: bool,
    report: Callable[[float], None],
) -> None:
    """Make the runs of all blocks that have none yet (collective).

    Parameters
    ----------
    comm, n, blocks, parts, weighted
        As for `build_store`.
    report
        Told which share of them is done; may raise an OggError, then for all ranks.

    Raises
    ------
    InputError
        The disk is full.
    """
    missing = parts.missing(comm, run_name, blocks.count)
    rounds = range(0, len(missing), comm.size)
    for start, block in zip_longest(rounds, missing[comm.rank :: comm.size]):
        edges = blocks.read(block)
        share = min(start + comm.size, len(missing)) / len(missing)

        def write(block: int | None = block, edges: Edges = edges, share: float = share) -> None:
            if block is not None:
                _write_run(parts, block, edges, n, weighted)
            report(share)

        comm.on_all(write)


def _write_run(parts: Parts, block: int, edges: Edges, n: int, weighted: bool) -> None:
    sources, targets, weights = edges
    loops = int(np.count_nonzero(sources == targets))
    keys, weights = sort_distinct(
        keys_of(Edges(sources, targets, weights if weighted else None), n)
    )
    parts.write(
        run_name(block),
        keys=keys,
        samples=keys[::_STEP],
        counts=np.array([len(sources) - loops, loops, len(keys)]),
        **({} if weights is None else {"weights": weights}),
    )


class Run:
    """A sorted run, to be read in pieces.

    Parameters
    ----------
    parts
        Where it lies.
    block
        The block it was made of.
    weighted
        Whether it has weights.

    Attributes
    ----------
    samples : (s,) uint64
        Every 1024th key.
    given, loops, size : int
        Edges of the block that are no self loops, and those that are; keys of the run.
    """

    def __init__(self, parts: Parts, block: int, weighted: bool) -> None:
        name = run_name(block)
        content = parts.read(name, ("samples", "counts"))
        self.samples: NDArray[np.uint64] = content["samples"]
        self.given, self.loops, self.size = content["counts"].tolist()
        self._keys = parts.array(name, "keys")
        self._weights = parts.array(name, "weights") if weighted else None

    def between(self, low: np.uint64 | None, high: np.uint64 | None) -> Keys:
        """Return the keys from `low` on, below `high`; None is no bound."""
        start, stop = 0, self.size
        if low is not None:  # the sample before the first that is not below it
            start = max(0, int(np.searchsorted(self.samples, low)) - 1) * _STEP
        if high is not None:
            stop = min(int(np.searchsorted(self.samples, high)) * _STEP, self.size)
        keys = self._keys.read(start, max(start, stop))
        first = 0 if low is None else int(np.searchsorted(keys, low))
        last = len(keys) if high is None else int(np.searchsorted(keys, high))
        weights = None
        if self._weights is not None:
            weights = self._weights.read(start + first, start + last)
        return Keys(keys[first:last], weights)
