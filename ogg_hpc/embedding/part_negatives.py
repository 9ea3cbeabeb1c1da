"""Negatives out of one part of the nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.embedding.alias import alias_rows, draw_alias
from ogg_hpc.embedding.negatives import NegativeSampler
from ogg_hpc.embedding.row_owners import RowOwners
from ogg_hpc.runtime.random import hash64, stream
from ogg_hpc.runtime.random_compiled import absorb

_STREAM = stream("negatives of blocks")


class PartNegatives:
    """Draws rows of a part, with the probabilities that their nodes have among each other.

    Where none of them is ever drawn out of all nodes, all are as likely.

    Parameters
    ----------
    sampler
        Draws out of all nodes.
    parts
        Which part holds a node, in which row.
    seed
        Of the run.
    """

    def __init__(self, sampler: NegativeSampler, parts: RowOwners, seed: int) -> None:
        part, row = parts.find(np.arange(parts.n))
        weights = np.empty(parts.n)
        weights[parts.starts[part] + row] = sampler.probabilities()
        self._starts, self._seed = parts.starts, seed
        self._tables = alias_rows(parts.starts, weights)

    def draw(self, count: int, part: int, *key: int) -> NDArray[np.int32]:
        """Return (count,) rows of a part, which has some.

        Parameters
        ----------
        count
            How many.
        part
            Number of the part.
        *key
            What they are for.
        """
        drawn = np.empty(count, np.int32)
        state = np.uint64(hash64(self._seed, _STREAM, part, *key))
        _draw(*self._tables, self._starts[part], self._starts[part + 1], state, drawn)
        return drawn


@njit(cache=True, nogil=True)
def _draw(thresholds: Any, aliases: Any, lo: Any, hi: Any, state: Any, drawn: Any) -> None:
    for i in range(len(drawn)):
        drawn[i] = draw_alias(thresholds, aliases, lo, hi - lo, absorb(state, i))
