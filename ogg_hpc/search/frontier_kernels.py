"""The one compiled loop of the frontier engine.

All state is in flat arrays over *pairs*: row * copies + copy for a rank's own rows, and
position * copies + copy for the nodes of the batch.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from ogg_hpc.runtime.device import Device

_SOURCE = Path(__file__).with_name("frontier.cu")
# Threads of a GPU that share what one changed pair adds.
_LANES = 128


def push(
    device: Device,
    starts: Any,
    rows: Any,
    copies: int,
    pairs: Any,
    deltas: Any,
    listening: Any,
    sums: Any,
    touched: Any,
) -> None:
    """Add what changed at some nodes to the sums of the rows that touch them, in place.

    Sums on a GPU are added in no fixed order: they differ by rounding from run to run.

    Parameters
    ----------
    device
        Where the arrays are.
    starts, rows : (nodes + 1,) and (nnz,) int32 or int64
        Own rows that touch a node: ``rows[starts[v]:starts[v + 1]]`` for position v.
    copies
        Masks on each node.
    pairs : (m,) int64
        Which nodes changed, in which copy; each once.
    deltas : (m, width) float64
        By how much.
    listening : (own pairs,) bool
        Whose sums matter.
    sums : (own pairs, width) float64
        What is added to.
    touched : (own pairs,) bool
        Set to True where something was added.
    """
    kernels = device.kernels(_SOURCE)
    if kernels is None:
        _push(starts, rows, copies, pairs, deltas, listening, sums, touched)
        return
    changed, width = deltas.shape
    kernel = kernels.push_int if starts.dtype == np.int32 else kernels.push_i64
    kernel(
        _LANES * changed,
        changed,
        width,
        copies,
        pairs,
        deltas,
        starts,
        rows,
        listening,
        sums,
        touched,
    )


@njit(cache=True)
def _push(
    starts: Any,
    rows: Any,
    copies: Any,
    pairs: Any,
    deltas: Any,
    listening: Any,
    sums: Any,
    touched: Any,
) -> None:
    for i in range(len(pairs)):
        node, copy = divmod(pairs[i], copies)
        for k in range(starts[node], starts[node + 1]):
            pair = rows[k] * copies + copy
            if listening[pair]:
                touched[pair] = True
                for j in range(deltas.shape[1]):
                    sums[pair, j] += deltas[i, j]
