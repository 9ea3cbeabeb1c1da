"""Pairs of nodes, item by item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.embedding.walk_graph import WalkGraph
from ogg_hpc.errors import SettingsError


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


def checked(pairs: Pairs, items: int, graph: WalkGraph, method: str) -> Pairs:
    """Return pairs as they were drawn, with the graph's type of ids on all ranks.

    A user's own sampler may make mistakes, and compiled code does not notice them.

    Parameters
    ----------
    pairs
        What a sampler has returned.
    items
        For how many items.
    graph
        The graph.
    method
        What the sampler is called.

    Raises
    ------
    SettingsError
        These are no pairs of nodes of the graph, or not of so many items.
    """
    for name in ("sources", "contexts", "counts"):
        array = getattr(pairs, name, None)
        if not (
            isinstance(array, np.ndarray)
            and array.ndim == 1
            and array.dtype.kind == "i"
            and array.min(initial=0) >= 0
        ):
            raise SettingsError(
                f"{method}: sample has to return Pairs, whose {name} are one-dimensional arrays of "
                "whole numbers (int32 or int64), not negative"
            )
    if len(pairs.counts) != items:
        raise SettingsError(
            f"{method}: sample has returned counts of {len(pairs.counts)} items; "
            f"it was asked for {items}"
        )
    total = int(pairs.counts.sum())
    if not total == len(pairs.sources) == len(pairs.contexts):
        raise SettingsError(
            f"{method}: sample has returned {len(pairs.sources)} sources, {len(pairs.contexts)} "
            f"contexts and counts of {total} pairs; these are to be alike"
        )
    largest = max(pairs.sources.max(initial=0), pairs.contexts.max(initial=0))
    if largest >= graph.n:
        raise SettingsError(
            f"{method}: sample has returned node {largest}; nodes are numbered from 0 to "
            f"{graph.n - 1}"
        )
    return Pairs(
        pairs.sources.astype(graph.id_type, copy=False),
        pairs.contexts.astype(graph.id_type, copy=False),
        pairs.counts.astype(np.int64, copy=False),
    )
