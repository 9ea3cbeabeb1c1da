"""Pairs sorted into blocks: by the part of their source, and the part of their context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.embedding.row_owners import RowOwners

# Nodes of a part, about, where the parts are not given: rows of two parts fit in a core's cache.
_NODES, _FEWEST, _MOST = 4096, 8, 64


def choose_parts(n: int) -> int:
    """Return into how many parts a model of n nodes is cut, on any number of ranks.

    About 4,096 nodes go in a part, but there are at least 8 parts and at most 64.
    """
    return min(_MOST, max(_FEWEST, n // _NODES))


@dataclass(frozen=True, eq=False)
class Blocks:
    """Pairs by block, as rows within the parts; pairs of a block keep their order.

    Attributes
    ----------
    first
        First part of sources.
    starts : (parts of sources, parts of contexts + 1) int64
        The pairs of block (i, j) are ``starts[i - first, j]`` to ``starts[i - first, j + 1]``.
    sources, contexts : (k,) int32
        Row of each node within its part.
    """

    first: int
    starts: NDArray[np.int64]
    sources: NDArray[np.int32]
    contexts: NDArray[np.int32]

    def pairs(self, i: int, j: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the rows of sources and of contexts of the pairs in block (i, j)."""
        block = slice(self.starts[i - self.first, j], self.starts[i - self.first, j + 1])
        return self.sources[block], self.contexts[block]


def sort_into_blocks(
    sources: NDArray[Any],
    contexts: NDArray[Any],
    source_parts: RowOwners,
    context_parts: RowOwners,
    own: range,
) -> Blocks:
    """Sort pairs into blocks.

    Parameters
    ----------
    sources, contexts : (k,)
        Ids of the pairs' nodes.
    source_parts, context_parts
        Which part holds a node's row, as a source and as a context.
    own
        The parts of all `sources`.
    """
    i, source_rows = source_parts.find(sources)
    j, context_rows = context_parts.find(contexts)
    parts = len(context_parts.ranks)
    ends = np.zeros(len(own) * parts + 1, np.int64)
    rows = np.empty(len(sources), np.int32), np.empty(len(sources), np.int32)
    _sort(i, j, source_rows, context_rows, own.start, parts, ends, *rows)
    starts = np.lib.stride_tricks.sliding_window_view(ends, parts + 1)[::parts]
    return Blocks(own.start, starts, *rows)


@njit(cache=True, nogil=True)
def _sort(
    i: Any, j: Any, source_rows: Any, context_rows: Any, first: int, parts: int,
    ends: Any, sources: Any, contexts: Any,
) -> None:  # fmt: skip
    """Sort by counting; block b ends up in ``ends[b]`` to ``ends[b + 1]``."""
    for pair in range(len(i)):
        ends[(i[pair] - first) * parts + j[pair] + 1] += 1
    for block in range(1, len(ends)):
        ends[block] += ends[block - 1]
    places = ends.copy()
    for pair in range(len(i)):
        block = (i[pair] - first) * parts + j[pair]
        sources[places[block]] = source_rows[pair]
        contexts[places[block]] = context_rows[pair]
        places[block] += 1
