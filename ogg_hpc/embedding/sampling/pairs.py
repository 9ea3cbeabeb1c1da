"""Pairs of nodes, item by item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Pairs:
    """What a sampler has drawn for some items.

    Pairs of an item lie together and keep their order; items are in the order they were asked for.

    Attributes
    ----------
    sources, contexts : (k,) int32 or int64
        The two nodes of each pair.
    counts : (items,) int64
        Pairs of each item.
    """

    sources: NDArray[Any]
    contexts: NDArray[Any]
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.sources)
