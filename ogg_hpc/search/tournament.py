"""A tournament tree over scores: the best and its rivals in O(log n), ties to the lowest index.

The tree is an array of 2 * size leaf numbers: position 1 is the root, the children of position i
are 2i and 2i + 1, and leaf j is position size + j. Scores live in an array of `size` float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


def tree_size(n: int) -> int:
    """Return the number of leaves for n scores: a power of two."""
    return 1 << max(0, int(n - 1).bit_length())


def new_tree(n: int) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Return scores, all minus infinity, and an unbuilt tree for them."""
    size = tree_size(n)
    return np.full(size, -np.inf, np.float32), np.zeros(2 * size, np.int32)


@njit(cache=True)
def build(scores: Any, tree: Any) -> None:
    """Bring the whole tree up to date in O(n)."""
    size = len(scores)
    for leaf in range(size):
        tree[size + leaf] = leaf
    for i in range(size - 1, 0, -1):
        left, right = tree[2 * i], tree[2 * i + 1]
        tree[i] = right if scores[right] > scores[left] else left


@njit(cache=True)
def update(scores: Any, tree: Any, leaf: Any) -> None:
    """Bring the tree up to date after the score of one leaf has changed."""
    i = (len(scores) + leaf) >> 1
    while i > 0:
        left, right = tree[2 * i], tree[2 * i + 1]
        winner = right if scores[right] > scores[left] else left
        if winner == tree[i] and winner != leaf:
            return  # an unchanged winner: nothing above can change
        tree[i] = winner
        i >>= 1


@njit(cache=True)
def update_many(scores: Any, tree: Any, leaves: Any, count: Any) -> None:
    """Bring the tree up to date after the first `count` of `leaves` have changed.

    One by one, or as a whole where that is less work.
    """
    size, depth = len(scores), 0
    while (1 << depth) < size:
        depth += 1
    if count * depth > size:
        build(scores, tree)
    else:
        for k in range(count):
            update(scores, tree, leaves[k])


@njit(cache=True)
def take_best(scores: Any, tree: Any, count: Any, leaves: Any, values: Any) -> Any:
    """Find up to `count` best finite scores, best first; return how many there are.

    The tree is left without them: their scores become minus infinity.
    """
    for k in range(count):
        leaf = tree[1]
        if scores[leaf] == -np.inf:
            return k
        leaves[k], values[k] = leaf, scores[leaf]
        scores[leaf] = -np.inf
        update(scores, tree, leaf)
    return count
