"""Degrees, and sums of neighbours' degrees, in many residual graphs at once.

With d_u the number of neighbours of u in the mask, s_v is the sum of d_u over the neighbours u of v
in the mask. Both are integers, so they are the same on every number of ranks.

Taking nodes R out changes little: s_w loses d_v for each neighbour v in R, and for each other
neighbour u the number of its neighbours in R. The latter are so small that they are summed in
bytes, at a fraction of what the sums cost from the start.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ogg_hpc.graphs.masked_sums import ROOM, MaskedGraphs


class ResidualDegrees:
    """Degrees and sums of B residual graphs (collective).

    Parameters
    ----------
    graphs
        What the residual graphs are masks on.
    masks, nodes
        (k,) nodes that are not in the residual graphs, and the mask that each is taken from.

    Attributes
    ----------
    graphs : MaskedGraphs
        The layout of the arrays.
    active : uint8
        Replicated: 1 for nodes of the residual graphs.
    degrees : uint8, uint16 or uint32
        Replicated: neighbours inside the residual graph; 0 for nodes outside.
    sums : int32 or int64
        Of this rank's rows: sums of the neighbours' degrees; 0 for nodes outside.
    """

    def __init__(
        self, graphs: MaskedGraphs, masks: NDArray[np.int64], nodes: NDArray[np.int64]
    ) -> None:
        self.graphs = graphs
        self.active = graphs.everything()
        self.active[graphs.at(masks, nodes)] = 0
        most = graphs.lists.most
        degrees = graphs.neighbour_sums(self.active, 1, np.min_scalar_type(ROOM * most))
        degrees *= graphs.rows(self.active)
        self.degrees = graphs.gather(degrees)
        sum_type = np.int32 if most**2 < 2**31 else np.int64
        self.sums = graphs.neighbour_sums(self.degrees, most, sum_type)
        self.sums *= degrees > 0

    def copy(self) -> ResidualDegrees:
        """Return the same states, to be changed apart from these."""
        other = copy.copy(self)
        other.active, other.degrees = self.active.copy(), self.degrees.copy()
        other.sums = self.sums.copy()
        return other

    def remove(self, masks: NDArray[np.int64], nodes: NDArray[np.int64]) -> None:
        """Take further nodes out, several of a mask at a time (collective)."""
        graphs = self.graphs
        neighbours, lengths = graphs.lists.neighbours(graphs.graph_of(masks), nodes)
        places = graphs.at(masks, nodes)
        most = int(np.bincount(masks).max(initial=0))
        lost = np.zeros(len(self.active), np.min_scalar_type(ROOM * most))
        self.active[places] = 0
        touched = masks.repeat(lengths), neighbours
        taken = self.degrees[places].astype(self.sums.dtype).repeat(lengths)
        mine, rows = graphs.own_at(*touched)
        _lower(self.active, self.degrees, graphs.at(*touched), lost, self.sums, rows, taken[mine])
        self.degrees[places] = 0
        self.sums -= graphs.neighbour_sums(lost, most, self.sums.dtype)
        self.sums *= graphs.rows(self.degrees) > 0


@njit(cache=True)
def _lower(
    active: Any, degrees: Any, places: Any, lost: Any, sums: Any, rows: Any, taken: Any
) -> None:
    """Lower the degrees of the removed nodes' neighbours, and the sums by the removed degrees."""
    for place in places:
        if active[place]:
            degrees[place] -= 1
            lost[place] += 1
    for k in range(len(rows)):
        sums[rows[k]] -= taken[k]
