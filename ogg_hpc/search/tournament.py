"""A tournament tree over keys: the best and its rivals in O(log n).

A key is an integer that orders rows by their score, then by the lowest row; 0 is no candidate. The
tree is an array of 2 * size keys: position 1 is the root, the children of position i are 2i and
2i + 1, side by side in memory, and row j is position size + j.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

_ROW_BITS = 31
LAST_ROW = 2**_ROW_BITS - 1


def _bits_of(_: Any, value: Any) -> Any:
    """Return the bits of a float32 or a float64 as an integer of that width."""
    result: Any = types.int32 if value == types.float32 else types.int64

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(result.bitwidth))

    return result(value), generate


float_bits: Any = intrinsic(_bits_of)


@njit(cache=True)
def key_of(score: Any, row: Any) -> Any:
    """Return the key of a row with a float32 score, 0 where that is not finite."""
    if not np.isfinite(score):
        return np.int64(0)  # as in `select`: no choice
    bits = np.int64(float_bits(np.float32(score)))
    if bits < 0:
        bits = -(bits & 0x7FFFFFFF)  # so that -0 ties with 0
    return ((bits + 2**31) << _ROW_BITS) | (LAST_ROW - row)


@njit(cache=True)
def row_of(key: Any) -> Any:
    """Return the row of a key that is not 0."""
    return LAST_ROW - (key & LAST_ROW)


def new_tree(n: int) -> NDArray[np.int64]:
    """Return a tree for n rows, none of them a candidate."""
    return np.zeros(2 << max(0, int(n - 1).bit_length()), np.int64)


@njit(cache=True)
def build(tree: Any) -> None:
    """Bring the whole tree up to date with its rows in O(n)."""
    for i in range(len(tree) // 2 - 1, 0, -1):
        tree[i] = max(tree[2 * i], tree[2 * i + 1])


@njit(cache=True)
def update(tree: Any, row: Any) -> None:
    """Bring the tree up to date after the key of one row has changed."""
    i = (len(tree) // 2 + row) >> 1
    while i > 0:
        winner = max(tree[2 * i], tree[2 * i + 1])
        if winner == tree[i]:
            return
        tree[i] = winner
        i >>= 1


@njit(cache=True)
def update_many(tree: Any, rows: Any, count: Any) -> None:
    """Bring the tree up to date after the keys of the first `count` of `rows` have changed.

    One by one, or as a whole where that is less work.
    """
    size, depth = len(tree) // 2, 0
    while (1 << depth) < size:
        depth += 1
    if count * depth > size:
        build(tree)
    else:
        for k in range(count):
            update(tree, rows[k])


@njit(cache=True)
def take_best(tree: Any, keys: Any) -> Any:
    """Fill `keys` with the best, best first; return how many there are.

    The tree is left without them.
    """
    size = len(tree) // 2
    for k in range(len(keys)):
        if tree[1] == 0:
            return k
        keys[k] = tree[1]
        row = row_of(keys[k])
        tree[size + row] = 0
        update(tree, row)
    return len(keys)
