"""The alias method: draws in proportion to weights, in constant time each.

Of k outcomes one is chosen uniformly, and then either itself or its alias is taken. The tables are
built as by Vose (IEEE Trans. Softw. Eng. 17, 1991); each builder normalises by itself, so that
weights may have any scale. Thresholds are float32: a probability is off by 2**-24 / k at most.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.errors import SettingsError
from ogg_hpc.runtime.random_compiled import to_uniform


class AliasTables(NamedTuple):
    """One table for each row of a matrix in CSR form, or one table alone.

    Attributes
    ----------
    thresholds : (nnz,) float32
        Probability that an entry, once chosen, is itself taken.
    aliases : (nnz,) int32 or int64
        Position within the row of what is taken otherwise.
    """

    thresholds: NDArray[np.float32]
    aliases: NDArray[Any]

    def draw(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the outcomes that random bits stand for, of one table alone.

        Parameters
        ----------
        hashes
            (k,) uint64 hashes, as of `runtime.random.hash64`.

        Returns
        -------
        (k,) int64
        """
        drawn: NDArray[np.int64] = _draw_all(self.thresholds, self.aliases, hashes)
        return drawn


def alias_table(weights: NDArray[Any]) -> AliasTables:
    """Build one table.

    Parameters
    ----------
    weights
        (n,) numbers of any scale, not negative, not all zero; an outcome of weight 0 is not drawn.

    Raises
    ------
    SettingsError
        A weight that is negative or not finite, or none that is positive.
    """
    tables = alias_rows(np.array([0, len(weights)], np.int64), weights)
    if not len(weights) or not np.max(weights) > 0:
        raise SettingsError("nothing can be drawn: no weight is positive")
    return tables


def alias_rows(row_offsets: NDArray[np.int64], weights: NDArray[Any]) -> AliasTables:
    """Build one table for each row; a row whose weights are all 0 must not be drawn from.

    Parameters
    ----------
    row_offsets
        (rows + 1,) int64, starting at 0.
    weights
        (nnz,) numbers of any scale, not negative.

    Raises
    ------
    SettingsError
        A weight that is negative or not finite.
    """
    if len(weights) and not (np.min(weights) >= 0 and np.max(weights) < np.inf):
        raise SettingsError("weights to draw by must be finite and not negative")
    longest = int(np.max(np.diff(row_offsets), initial=0))
    id_type = np.int32 if longest < 2**31 else np.int64
    tables = AliasTables(np.empty(len(weights), np.float32), np.empty(len(weights), id_type))
    build_alias_rows(row_offsets, weights, *tables)
    return tables


@njit(cache=True, nogil=True)
def build_alias_rows(row_offsets: Any, weights: Any, thresholds: Any, aliases: Any) -> None:
    """Fill the tables of rows; see `alias_rows`. Row offsets may start anywhere."""
    longest = 0
    for row in range(len(row_offsets) - 1):
        longest = max(longest, row_offsets[row + 1] - row_offsets[row])
    scaled = np.empty(longest, np.float64)
    # Outcomes below the mean lie at the front, the others at the back.
    stack = np.empty(longest, np.int64)
    first = row_offsets[0]
    for row in range(len(row_offsets) - 1):
        lo, hi = row_offsets[row] - first, row_offsets[row + 1] - first
        _build(weights[lo:hi], scaled, stack, thresholds[lo:hi], aliases[lo:hi])


@njit(cache=True, nogil=True)
def _build(weights: Any, scaled: Any, stack: Any, thresholds: Any, aliases: Any) -> None:
    k = len(weights)
    if k == 0:
        return
    largest = 0.0
    for i in range(k):
        largest = max(largest, np.float64(weights[i]))
    total = 0.0
    for i in range(k):
        # Divided first, for sums of huge weights overflow and tiny ones vanish.
        scaled[i] = weights[i] / largest if largest > 0 else 0.0
        total += scaled[i]
    small, large = 0, k
    for i in range(k):
        scaled[i] = scaled[i] / total * k if total > 0 else 1.0
        if scaled[i] < 1:
            stack[small] = i
            small += 1
        else:
            large -= 1
            stack[large] = i
    while small > 0 and large < k:
        small -= 1
        below, above = stack[small], stack[large]
        thresholds[below] = scaled[below]
        aliases[below] = above
        scaled[above] -= 1 - scaled[below]
        if scaled[above] < 1:
            large += 1
            stack[small] = above
            small += 1
    # What is left is 1 but for rounding.
    for i in range(small):
        thresholds[stack[i]] = 1
        aliases[stack[i]] = stack[i]
    for i in range(large, k):
        thresholds[stack[i]] = 1
        aliases[stack[i]] = stack[i]


@njit(cache=True, nogil=True)
def draw_alias(thresholds: Any, aliases: Any, lo: Any, count: Any, state: Any) -> Any:
    """Return the outcome, from 0, that a hash stands for in the table of `count` entries at lo."""
    scaled = to_uniform(state) * np.float64(count)
    chosen = np.int64(scaled)
    if scaled - chosen < thresholds[lo + chosen]:
        return chosen
    return np.int64(aliases[lo + chosen])


@njit(cache=True, nogil=True)
def _draw_all(thresholds: Any, aliases: Any, hashes: Any) -> Any:
    drawn = np.empty(len(hashes), np.int64)
    for i in range(len(hashes)):
        drawn[i] = draw_alias(thresholds, aliases, 0, len(thresholds), hashes[i])
    return drawn
