"""A graph of which each rank can read every row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogg_hpc.embedding.walk_graph import WalkGraph
from ogg_hpc.embedding.walk_rows import WalkRows, biased_walk, walk, walk_to_ends


class SharedGraph(WalkGraph):
    """A whole graph in the memory of each node of the machine; no call is collective.

    Parameters
    ----------
    rows
        All rows; the ranks of a node may share the arrays.
    directed, degrees, strengths, in_strengths
        As for `WalkGraph`.
    """

    def __init__(
        self,
        rows: WalkRows,
        directed: bool,
        degrees: NDArray[np.int64],
        strengths: NDArray[np.float64],
        in_strengths: NDArray[np.float64],
    ) -> None:
        super().__init__(directed, len(rows.thresholds) > 0, degrees, strengths, in_strengths)
        self._rows = rows

    def walks(
        self,
        starts: NDArray[Any],
        keys: NDArray[np.uint64],
        steps: int,
        *,
        p: float = 1.0,
        q: float = 1.0,
    ) -> NDArray[Any]:
        """See `WalkGraph.walks`."""
        walks = np.empty((len(starts), steps + 1), self.id_type)
        walks[:, 0] = starts
        if p == q == 1:
            walk(self._rows, keys, walks)
        else:
            biased_walk(self._rows, keys, p, q, walks)
        return walks

    def ends(
        self, starts: NDArray[Any], keys: NDArray[np.uint64], steps: NDArray[np.int64]
    ) -> NDArray[Any]:
        """See `WalkGraph.ends`."""
        nodes = starts.astype(self.id_type)
        walk_to_ends(self._rows, keys, steps, nodes)
        return nodes
